"""The driver for ordinary programs."""

import time
from collections.abc import Callable, Iterator
from functools import wraps
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar

import httpx

from stretto.client.conversation import Conversation
from stretto.client.http import ENDED, broken, head, options, sending, whole
from stretto.client.names import server_url
from stretto.client.retries import Retries
from stretto.client.steps import Answer, Hear, Listen, Pause, Reply, Send, Step, Talk, Telling

P = ParamSpec("P")
T = TypeVar("T")


def _call(method: Callable[Concatenate[Conversation, P], Talk[T]]) -> Callable[Concatenate["Client", P], T]:
    """A call of the conversation as a method of the client, with the same arguments."""

    @wraps(method)
    def call(self: "Client", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.result_of(method(self.conversation, *args, **kwargs))

    return call


def _tell(
    method: Callable[Concatenate[Conversation, P], Telling[T]],
) -> Callable[Concatenate["Client", P], Iterator[T]]:
    """The same for a call that has something to tell on the way."""

    @wraps(method)
    def call(self: "Client", /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        return self.told_by(method(self.conversation, *args, **kwargs))

    return call


class Line:
    """Carries steps out; it has at most one stream that is listened to."""

    def __init__(self, http: httpx.Client, server: str) -> None:
        self._http = http
        self._server = server
        self._stream: httpx.Response | None = None
        self._parts: Iterator[bytes] = iter(())

    def do(self, step: Step) -> Reply:
        try:
            match step:
                case Send(request):
                    return whole(self._http.request(**sending(self._server, request)))
                case Listen(request):
                    self.close()
                    built = self._http.build_request(**sending(self._server, request))
                    return self._opened(self._http.send(built, stream=True))
                case Hear():
                    part = next(self._parts, None)
                    return ENDED if part is None else Answer(body=part)
                case _:
                    time.sleep(step.seconds)
                    return Answer()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return broken(error)

    def _opened(self, response: httpx.Response) -> Answer:
        self._stream = response
        if not response.is_success:
            response.read()
            return whole(response)
        self._parts = response.iter_bytes()
        return head(response)

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None


class Client:
    """Talks to a server: `with Client("http://127.0.0.1:8080", user="ann") as client: ...`. Threads may share
    one. `within`: seconds that the server may be silent.
    """

    def __init__(
        self,
        server: str = "http://127.0.0.1:8080",
        *,
        user: str | None = None,
        within: float = 30.0,
        retries: Retries | None = None,
    ) -> None:
        self.conversation = Conversation(server_url(server), within=within, retries=retries)
        self._http = httpx.Client(**options(self.conversation.server, user))

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------------------------------------------ driving
    def result_of(self, talk: Talk[T]) -> T:
        """Carry a conversation out, for calls of your own."""
        line = Line(self._http, self.conversation.server)
        try:
            step = next(talk)
            while True:
                step = talk.send(line.do(step))
        except StopIteration as done:
            result: T = done.value
            return result
        finally:
            line.close()

    def told_by(self, telling: Telling[T]) -> Iterator[T]:
        """What is told on the way. Who has heard enough just leaves."""
        line = Line(self._http, self.conversation.server)
        try:
            item = next(telling)
            while True:
                if isinstance(item, Send | Listen | Hear | Pause):
                    item = telling.send(line.do(item))
                else:
                    yield item
                    item = telling.send(Answer())
        except StopIteration:
            return
        finally:
            line.close()

    # -------------------------------------------------------------------------------------------------- calls
    push = _call(Conversation.push)
    push_yaml = _call(Conversation.push_yaml)
    workflows = _call(Conversation.workflows)
    overview = _call(Conversation.overview)
    version = _call(Conversation.version)
    versions = _call(Conversation.versions)
    properties = _call(Conversation.properties)
    set_properties = _call(Conversation.set_properties)
    activate = _call(Conversation.activate)
    deactivate = _call(Conversation.deactivate)
    delete_workflow = _call(Conversation.delete_workflow)
    start = _call(Conversation.start)
    run = _call(Conversation.run)
    runs = _call(Conversation.runs)
    stop = _call(Conversation.stop)
    kill = _call(Conversation.kill)
    unblock = _call(Conversation.unblock)
    quarantine = _call(Conversation.quarantine)
    release = _call(Conversation.release)
    pause = _call(Conversation.pause)
    resume = _call(Conversation.resume)
    restart = _call(Conversation.restart)
    why = _call(Conversation.why)
    why_workflow = _call(Conversation.why_workflow)
    step = _call(Conversation.step)
    steps = _call(Conversation.steps)
    attempts = _call(Conversation.attempts)
    logs = _call(Conversation.logs)
    resolve = _call(Conversation.resolve)
    why_step = _call(Conversation.why_step)
    skip = _call(Conversation.skip)
    stop_step = _call(Conversation.stop_step)
    kill_step = _call(Conversation.kill_step)
    restart_step = _call(Conversation.restart_step)
    approvals = _call(Conversation.approvals)
    answer = _call(Conversation.answer)
    job_templates = _call(Conversation.job_templates)
    announce = _call(Conversation.announce)
    signal = _call(Conversation.signal)
    health = _call(Conversation.health)
    cursor = _call(Conversation.cursor)
    wait = _call(Conversation.wait)
    follow = _tell(Conversation.follow)
    follow_run = _tell(Conversation.follow_run)
    follow_logs = _tell(Conversation.follow_logs)
