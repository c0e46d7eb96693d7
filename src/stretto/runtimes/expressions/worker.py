"""The process that evaluates long expressions: questions come in, answers go out, one after the other.

It reads pickles from its standard input and writes pickles to its standard output, each after its length. It
ends when its input does: whoever started it has closed it, or is gone. A thread watches for that, because the
main one may be busy with an expression that nobody waits for any more.
"""

import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from struct import Struct
from typing import IO, Any, Final

from stretto.engine.elsewhere import Question
from stretto.engine.events import Evaluated
from stretto.ports.evaluator import answered
from stretto.sel import compile_expression

LENGTH: Final = Struct(">Q")
READY: Final = "ready"  # the first thing that it says
GRACE: Final = 2.0  # seconds in which it may end by itself


def packed(value: object) -> bytes:
    """A value as it travels."""
    body = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(body)) + body


def send(stream: IO[bytes], body: bytes) -> None:
    stream.write(body)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next value; EOFError if there is none, or not all of it."""
    (length,) = LENGTH.unpack(_exactly(stream, LENGTH.size))
    return pickle.loads(_exactly(stream, length))  # noqa: S301 - nobody but our own parent or child writes here


def _exactly(stream: IO[bytes], count: int) -> bytes:
    found = stream.read(count)
    if len(found) < count:
        raise EOFError
    return found


def serve(
    questions: IO[bytes], answers: IO[bytes], leave: Callable[[int], object] = os._exit, grace: float = GRACE
) -> None:
    """Answer until the questions end."""
    waiting: SimpleQueue[Question | None] = SimpleQueue()

    def listen() -> None:
        try:
            while True:
                waiting.put(receive(questions))
        except Exception:  # noqa: BLE001 - whatever it is, there is nothing more to hear
            waiting.put(None)
        time.sleep(grace)
        leave(1)  # the main thread is busy with what nobody waits for

    threading.Thread(target=listen, daemon=True).start()
    compile_expression("1;")  # the first one reads the grammar, and nobody's time should go into that
    send(answers, packed(READY))
    while (question := waiting.get()) is not None:
        send(answers, packed(_looked_at(answered(question))))


def _looked_at(found: Evaluated) -> Evaluated:
    """Some parameters are computed when somebody looks at them: that must happen here."""
    params = dict(found.params)
    return Evaluated(attempt=found.attempt, params=params, missing=found.missing, error=found.error)


def main() -> None:
    """Serve whoever started this process. What anybody prints goes to the errors, not among the answers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it, too, and says when to end
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, answers)
