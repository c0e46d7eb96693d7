"""Records -> JSON Schema, as bodies and answers have them."""

from typing import Any, Final, get_args, get_origin

import msgspec

from stretto.definition.schema.records import Schema, SchemaMaker
from stretto.model.artifact import Artifact, DefaultArtifact
from stretto.model.foreach import Ranges
from stretto.model.initiator import InitiatorFields
from stretto.model.page import Count, Page, PageInfo
from stretto.model.param import Parameter, ParamType
from stretto.model.rollup import StepInfo

PLACE: Final = "#/components/schemas/"
TOTAL_COUNT: Final = (
    "Instances, runs and versions without a filter: the span of their ids. Other lists: how many elements "
    "the whole list has; absent if that is not known."
)
_NUMBER_OR_ROW: Final[Schema] = {"type": ["integer", "array"], "items": {"type": "integer"}}
# What has a codec of its own, and the JSON that it makes.
OWN: Final[dict[Any, Schema]] = {
    Artifact: {"type": "object"},
    DefaultArtifact: {"type": "object"},
    Ranges: {"type": "array", "items": _NUMBER_OR_ROW},
    StepInfo: {"type": "array", "items": {"type": ["integer", "null"]}},
}


class ApiSchemas(SchemaMaker):
    """Those of definitions, and the rest of the model."""

    def of(self, tp: Any) -> Schema:
        if tp in OWN:
            return OWN[tp]
        if tp is Parameter:
            return self._named("Parameter", self._parameter)
        origin = get_origin(tp)
        if origin is Page:
            (element,) = get_args(tp)
            return self._named(f"PageOf{element.__name__}", lambda: self._page(element))
        return super().of(tp)

    def _named(self, name: str, make: Any) -> Schema:
        super()._named(name, make)
        return {"$ref": PLACE + name}

    def _record(self, tp: type[msgspec.Struct]) -> Schema:
        made = super()._record(tp)
        if issubclass(tp, InitiatorFields):
            made["properties"]["depth"] = {"type": "integer", "readOnly": True}
        return made

    def _page(self, element: Any) -> Schema:
        return {
            "type": "object",
            "properties": {
                "page_info": self.of(PageInfo),
                "total_count": {"type": "integer", "description": TOTAL_COUNT},
                "elements": {"type": "array", "items": self.of(element)},
                "count": self.of(Count),
            },
            "required": ["page_info", "elements"],
        }

    def _parameter(self) -> Schema:
        """A parameter with its result: of its type, and with free keys."""
        return {
            "type": "object",
            "description": " ".join(str(Parameter.__doc__).split()),
            "properties": {
                "type": self.of(ParamType),
                "evaluated_result": {},
                "evaluated_time": {"type": "integer"},
            },
            "required": ["type"],
        }
