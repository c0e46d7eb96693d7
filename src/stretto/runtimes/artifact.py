"""What a command leaves behind beside its parameters."""

from typing import Final

from stretto.model.artifact import Artifacts, DefaultArtifact
from stretto.runtimes.process import Process

ARTIFACT: Final = "shell"  # its key: exit code, and the end of what it printed


def artifacts_of(process: Process, code: int | None = None) -> Artifacts:
    """How a command ended, and the end of what it printed."""
    found = {
        "exit_code": code,
        "stdout": process.out.text,
        "stderr": process.err.text,
        "stdout_bytes": process.out.size,
        "stderr_bytes": process.err.size,
    }
    return {ARTIFACT: DefaultArtifact(data={key: value for key, value in found.items() if value is not None})}
