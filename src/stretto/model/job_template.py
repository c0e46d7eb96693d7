"""Job templates: named sets of parameters that a step takes by its `sub_type`."""

from typing import Any, ClassVar, Final

import msgspec

from stretto.model.param import Params
from stretto.model.step import StepTypeName
from stretto.model.tag import Tag
from stretto.model.user import User
from stretto.model.wire.codec import Shape
from stretto.model.workflow import GitInfo

DEFAULT_VERSION: Final = "default"  # where neither the step nor the workflow names one
VERSION_PARAM: Final = "job_template_version"  # of the workflow: the version for all its steps


class TemplateSchema(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters that a kind of step brings along."""

    params: Params


class JobTemplateDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """What a template gives to a step; `inherit_from` names others (type -> version) that come first."""

    job_type: str
    step_type: StepTypeName
    version: str
    description: str | None = None
    tags: tuple[Tag, ...] | None = None
    inherit_from: dict[str, str] | None = None
    params: Params | None = None


class JobTemplateRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A template as it is pushed; unknown keys become metadata."""

    wire: ClassVar[Shape] = Shape(rest="extra")

    owner: User
    status: str
    support: str
    test_workflows: tuple[str, ...] | None = None
    git_info: GitInfo | None = None
    definition: JobTemplateDefinition
    extra: dict[str, Any] = {}


class JobTemplateMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """Who pushed a template, and what came with the push."""

    wire: ClassVar[Shape] = Shape(rest="extra")

    owner: User
    version_author: User | None = None
    status: str
    support: str
    test_workflows: tuple[str, ...] | None = None
    git_info: GitInfo | None = None
    create_time: int | None = None
    extra: dict[str, Any] = {}


class JobTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """A stored template."""

    metadata: JobTemplateMetadata
    definition: JobTemplateDefinition
