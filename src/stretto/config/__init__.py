"""Settings: defaults < file < environment < flags, read once and checked at once.

    settings     `Config`: the records of all settings, each owned by the package that obeys it
    catalogue    every setting: its name, its kind, its meaning
    load         all sources together

Promise: a name that nothing has, or a value that can not be, ends the start; every such problem is reported
together, each with its place and the way out.
"""

from stretto.config.folders import Surroundings, program_database, surroundings
from stretto.config.given import Flag
from stretto.config.load import Loaded, load
from stretto.config.problems import InvalidConfig, Origin, SettingProblem, Source
from stretto.config.settings import Config

__all__ = [
    "Config",
    "Flag",
    "InvalidConfig",
    "Loaded",
    "Origin",
    "SettingProblem",
    "Source",
    "Surroundings",
    "load",
    "program_database",
    "surroundings",
]
