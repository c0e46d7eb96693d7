"""What a Kubernetes step runs. Sizes are text, as Kubernetes writes them."""

import msgspec


class ExecAction(msgspec.Struct, frozen=True, kw_only=True):
    """A command inside the container."""

    command: tuple[str, ...] = ()


class PreStop(msgspec.Struct, frozen=True, kw_only=True):
    """What is run in the container before it is stopped; the key `exec` is Kubernetes' own."""

    exec: ExecAction


class KubernetesCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A container with its command: one text for a shell (`entrypoint`), or `command` and `args`."""

    app_name: str | None = None
    cpu: str | None = None
    disk: str | None = None
    gpu: str | None = None
    memory: str | None = None
    image: str | None = None
    entrypoint: str | None = None
    command: tuple[str, ...] | None = None
    args: tuple[str, ...] | None = None
    env: dict[str, str] | None = None
    job_deduplication_key: str | None = None
    owner_email: str | None = None
    pre_stop: PreStop | None = None
