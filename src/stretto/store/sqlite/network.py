"""Whether a file is on this machine. On a network file system SQLite's locks do not hold."""

from pathlib import Path
from typing import Final

from stretto.model.errors import PreconditionFailed

MOUNTS: Final = Path("/proc/self/mountinfo")
NETWORK: Final = frozenset(
    {
        "9p2000.l",
        "acfs",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "fuse.ceph",
        "fuse.gcsfuse",
        "fuse.glusterfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "gfs2",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "smb2",
        "smb3",
        "smbfs",
    }
)


def refuse_network(folder: Path, mounts: Path = MOUNTS) -> None:
    """Refuse a folder on a network file system, where the system says what it is."""
    if not mounts.exists():
        return
    kind = file_system_of(folder, mounts.read_text(encoding="utf-8", errors="replace"))
    if kind in NETWORK:
        raise PreconditionFailed(
            f"the folder {folder} is on a network file system ({kind}), where SQLite loses data",
            hint="put the database on a disk of this machine, or use PostgreSQL or MariaDB",
        )


def file_system_of(folder: Path, mounts: str) -> str:
    """The kind of the file system that holds a folder, from the lines of `mountinfo`."""
    best, kind = -1, ""
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        point = Path(left.split(" ")[4].encode().decode("unicode_escape"))  # blanks are written as \\040
        if folder.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), right.split(" ")[0]
    return kind
