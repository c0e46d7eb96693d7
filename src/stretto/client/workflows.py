"""Calls about workflows: publish, read, start."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4

from stretto.actions.reading.lines import WorkflowLine
from stretto.client.names import LATEST, quoted
from stretto.client.retries import Again
from stretto.client.steps import Talk
from stretto.client.talking import API, QUEUED, Ask, Talking, Value
from stretto.model.errors import InvalidRequest
from stretto.model.initiator import ManualInitiator
from stretto.model.page import Page
from stretto.model.properties import PropertiesSnapshot, PropertiesUpdate
from stretto.model.request import StartRequest
from stretto.model.response import (
    StartResponse,
    WorkflowActionResponse,
    WorkflowCreateResponse,
    WorkflowOverviewResponse,
)
from stretto.model.tag import Tag
from stretto.model.timeline import TimelineEvent
from stretto.model.workflow import Definition, WorkflowVersion
from stretto.params.plain import params_of, step_params_of

SOME: Final = 50  # of a list
YAML: Final = "application/yaml"


class WorkflowCalls(Talking):
    """See `conversation`."""

    def push(
        self,
        definition: Definition | Mapping[str, Any],
        *,
        if_latest: int | None = None,
        allow_unknown_functions: bool | None = None,
    ) -> Talk[WorkflowVersion]:
        """Publish a new version of a workflow: a record, or what JSON makes of a definition. With
        `if_latest` only on top of that version (0: as the first one); else it is a `Conflict`. Functions that
        no running process knows are refused, unless they are allowed.
        """
        made = yield from self._act(
            WorkflowCreateResponse,
            "/workflows",
            definition,
            if_latest=if_latest,
            allow_unknown_functions=allow_unknown_functions,
        )
        return made.workflow_definition

    def push_yaml(self, text: str | bytes, *, if_latest: int | None = None) -> Talk[WorkflowVersion]:
        """The same for the text of a definition in YAML."""
        body = text.encode() if isinstance(text, str) else text
        query: dict[str, Value] = {"if_latest": if_latest}
        request = self._request("POST", f"{API}/workflows/yaml", query, body, YAML)
        ask = Ask[WorkflowCreateResponse](request=request, reads=WorkflowCreateResponse, again=Again.UNSENT)
        made = yield from self._ask(ask)
        return made.workflow_definition

    def workflows(
        self,
        *,
        prefix: str = "",
        owner: str | None = None,
        tag: str | None = None,
        first: int = SOME,
        cursor: str | None = None,
    ) -> Talk[Page[WorkflowLine]]:
        """Workflows by id. `cursor`: the `end_cursor` of the page before."""
        return self._get(
            Page[WorkflowLine],
            "/workflows",
            prefix=prefix,
            owner=owner,
            tag=tag,
            first=first,
            cursor=cursor,
        )

    def overview(self, workflow_id: str) -> Talk[WorkflowOverviewResponse]:
        """A workflow at a glance."""
        return self._get(WorkflowOverviewResponse, f"/workflows/{quoted(workflow_id)}/overview")

    def version(self, workflow_id: str, version: str | int = LATEST) -> Talk[WorkflowVersion]:
        """One version: a number, `active`, `latest` or `default`."""
        return self._get(WorkflowVersion, _version_path(workflow_id, version))

    def versions(
        self, workflow_id: str, *, first: int = SOME, cursor: str | None = None
    ) -> Talk[Page[WorkflowVersion]]:
        """All versions, newest first."""
        path = f"/workflows/{quoted(workflow_id)}/versions/pagination"
        return self._get(Page[WorkflowVersion], path, first=first, cursor=cursor)

    def properties(self, workflow_id: str) -> Talk[PropertiesSnapshot]:
        """The properties of a workflow as they stand."""
        return self._get(PropertiesSnapshot, f"/workflows/{quoted(workflow_id)}/properties-snapshot/latest")

    def set_properties(self, workflow_id: str, update: PropertiesUpdate) -> Talk[PropertiesSnapshot]:
        """Set some properties, or set them back."""
        path = f"/workflows/{quoted(workflow_id)}/properties"
        return self._act(PropertiesSnapshot, path, update, again=Again.SAFE)

    def activate(self, workflow_id: str, version: str | int = LATEST) -> Talk[WorkflowActionResponse]:
        """Make a version the active one."""
        path = f"{_version_path(workflow_id, version)}/actions/activate"
        return self._act(WorkflowActionResponse, path, again=Again.SAFE)

    def deactivate(self, workflow_id: str) -> Talk[WorkflowActionResponse]:
        """Let no version be the active one."""
        return self._act(WorkflowActionResponse, f"/workflows/{quoted(workflow_id)}/actions/deactivate")

    def delete_workflow(self, workflow_id: str, *, reason: str = "") -> Talk[None]:
        """Delete a workflow with everything of it."""
        query: dict[str, Value] = {"reason": reason or None, "request_id": str(uuid4())}
        request = self._request("DELETE", f"{API}/workflows/{quoted(workflow_id)}", query)
        yield from self._ask(Ask[object](request=request, reads=TimelineEvent))

    def start(
        self,
        workflow_id: str,
        version: str | int = LATEST,
        *,
        params: Mapping[str, Any] | None = None,
        step_params: Mapping[str, Mapping[str, Any]] | None = None,
        tags: tuple[str, ...] = (),
        request_id: str | None = None,
    ) -> Talk[StartResponse]:
        """Start an instance, as far as the run strategy lets it. The same `request_id` never starts two; who
        gives none gets one of its own, so that the request can be sent again when its answer is lost. One
        that was used with other parameters is a `Conflict`.
        `step_params`: parameters of single steps, by step id.
        """
        if request_id == "":  # a variable that nobody has set: it must not start one run more each time
            raise InvalidRequest("the request id is empty", hint="leave it out to get one of its own")
        request = StartRequest(
            initiator=ManualInitiator(),
            request_id=request_id or str(uuid4()),
            runtime_tags=tuple(Tag(name=each) for each in tags) or None,
            run_params=params_of(params),
            step_run_params=step_params_of(step_params),
        )
        path = f"{_version_path(workflow_id, version)}/actions/start"
        return self._act(
            StartResponse, path, request, again=Again.SAFE, include=QUEUED, check_request_id=True
        )


def _version_path(workflow_id: str, version: str | int) -> str:
    return f"/workflows/{quoted(workflow_id)}/versions/{quoted(str(version))}"
