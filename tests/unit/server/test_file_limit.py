"""Few files: a server offers less, and says so."""

import msgspec
import pytest

from stretto.config import Config
from stretto.model.errors import PreconditionFailed
from stretto.server.file_limit import fitted, raise_limit


def test_with_enough_files_nothing_changes() -> None:
    config = Config()
    assert fitted(config, None) == (config, None)
    assert fitted(config, 1_000_000) == (config, None)


def test_with_few_files_there_are_fewer_slots() -> None:
    config, told = fitted(Config(), 512)
    assert 8 <= config.server.connections < Config().server.connections
    assert 8 <= config.runtimes.commands <= Config().runtimes.commands
    assert "this process may have 512 files open" in str(told)
    assert f"server.connections is {config.server.connections} instead of 1000" in str(told)


def test_what_was_asked_for_is_never_raised() -> None:
    asked = msgspec.structs.replace(Config().server, connections=2)
    small = msgspec.structs.replace(Config(), server=asked)
    config, _ = fitted(small, 230)
    assert config.server.connections == 2


def test_with_too_few_it_does_not_start() -> None:
    with pytest.raises(PreconditionFailed, match="may have 100 files open") as caught:
        fitted(Config(), 100)
    assert "ulimit -n" in str(caught.value.hint)


def test_the_limit_is_raised_as_far_as_it_goes() -> None:
    most = raise_limit()
    assert most is None or most > 0
