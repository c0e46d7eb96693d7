"""What a name on the command line stands for: definitions from a file, or from Python."""

import re
from pathlib import Path
from typing import Final

import msgspec

from stretto.cli.files import format_of, read_file
from stretto.definition import Checked, check
from stretto.definition.parse import Options
from stretto.model.problem import Problem

PYTHON: Final = re.compile(r"(?P<file>.+\.py)(?::(?P<flow>\w+))?|(?P<module>\w+(?:\.\w+)*):(?P<name>\w+)")


def is_python(name: str) -> bool:
    """Whether it is `flows.py`, `flows.py:etl` or `package.module:etl`; a file that is there is a file."""
    found = PYTHON.fullmatch(name)
    return found is not None and (found["module"] is None or not Path(name).exists())


def checked(name: str, options: Options) -> Checked:
    """The definitions, and everything that is wrong with them."""
    if is_python(name):
        from stretto.cli.python_files import checked_flows  # noqa: PLC0415 - other files need none of it

        return checked_flows(name, options)
    data = read_file(name, options.limits)
    if isinstance(data, Problem):
        return Checked((), (data,))
    return check(data, msgspec.structs.replace(options, form=format_of(name)))
