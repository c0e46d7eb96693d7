"""What an engine and its workers say to each other. Values travel as JSON, inside of messages of msgpack."""

from math import inf
from typing import Any, Final

import msgspec

from stretto.runtimes.orders import framed

MOST_CALL: Final = 64 * 1024 * 1024  # bytes of all arguments
MOST_RESULT: Final = 16 * 1024 * 1024  # bytes of what a function returns: the highest `params.size`
MOST_TEXT: Final = 16_000  # characters of a text that a function tells
MOST_ANSWER: Final = MOST_RESULT + 16 * 1024 * 1024  # bytes of a message: a result, and what goes with it


class Message(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Base of all."""


# ------------------------------------------------------------------------------------------------ to a worker
class Target(Message, frozen=True):
    """Which function: of a module, or of the program's main file, or lines of Python."""

    module: str = ""
    qualname: str = ""
    main: str | None = None  # the path of the main file, if the function stands there
    script: str | None = None

    def __str__(self) -> str:
        return "the script" if self.script is not None else f"{self.main or self.module}:{self.qualname}"


class Scene(Message, frozen=True):
    """What the context of a step is made of."""

    run: tuple[str, int, int]
    step_id: str
    attempt: int
    generation: int
    take: int
    params: bytes = b"{}"  # JSON
    upstream: bytes = b"{}"


class Call(Message, frozen=True):
    """Call a function."""

    target: Target
    args: bytes = b"{}"  # JSON: values by name
    scene: Scene | None = None  # None: the function has no context
    level: int = 0  # below which records of its logger are not wanted
    path: list[str] | None = None  # `sys.path`, if it has changed
    factories: dict[str, str] | None = None  # services by name: `module:callable`
    requirements: list[str] = []  # packages that must be there
    argv: list[str] | None = None  # `sys.argv`, told with the path
    checked: list[str] = []  # parameters that must be arguments of the function
    begin_before: float = inf  # on `ports.clock.machine_steady`; later the worker asks for a new permission


class Permission(Message, frozen=True):
    """The function may be called now."""

    begin_before: float


# ---------------------------------------------------------------------------------------------- from a worker
class Found(Message, frozen=True):
    """The function is there, and is called now. Told where it had to be imported."""


class Expired(Message, frozen=True):
    """The function is not called yet, and the permission to call it has expired."""


class Beat(Message, frozen=True):
    """It is alive."""


class Progress(Message, frozen=True):
    """How far it is."""

    fraction: float
    text: str


class Line(Message, frozen=True):
    """For the timeline."""

    text: str
    level: str


class Logged(Message, frozen=True):
    """A record of the step's logger."""

    level: int
    text: str


class Returned(Message, frozen=True):
    """The function has returned."""

    value: str  # JSON
    added: list[bytes] = []  # steps, as JSON
    redirect: str | None = None
    fired: list[bytes] = []  # signals, as JSON
    left: int = 0  # processes that it has left behind


class Raised(Message, frozen=True):
    """The function has failed, or could not be called."""

    kind: str  # one of KINDS
    message: str
    error: str = ""  # the type of the exception
    traceback: str = ""
    left: int = 0
    module: str = ""  # of that type
    details: dict[str, Any] = {}  # what else is stored of the exception: see `failures`


USER: Final = "user"
PLATFORM: Final = "platform"
FATAL: Final = "fatal"
KINDS: Final = (USER, PLATFORM, FATAL)

Told = Beat | Progress | Line | Logged
Answer = Returned | Raised
FromWorker = Found | Expired | Told | Answer

_ENCODER: Final = msgspec.msgpack.Encoder()
_CALLS: Final = msgspec.msgpack.Decoder(Call)
_PERMISSIONS: Final = msgspec.msgpack.Decoder(Permission)
_FROM_WORKER: Final[msgspec.msgpack.Decoder[Any]] = msgspec.msgpack.Decoder(FromWorker)


def packed(message: Message) -> bytes:
    """A message with its length before it."""
    return framed(_ENCODER.encode(message))


def call_of(body: bytes) -> Call:
    return _CALLS.decode(body)


def permission_of(body: bytes) -> Permission:
    return _PERMISSIONS.decode(body)


def said_by(body: bytes) -> FromWorker:
    """Raises msgspec.DecodeError."""
    said: FromWorker = _FROM_WORKER.decode(body)
    return said
