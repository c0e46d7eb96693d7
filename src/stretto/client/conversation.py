"""Every call of the client. A call is a generator of steps for a driver (`steps`), and returns a record."""

from stretto.client.approvals import ApprovalCalls
from stretto.client.following import ListeningCalls
from stretto.client.logs import LogCalls
from stretto.client.others import OtherCalls
from stretto.client.run_steps import StepCalls
from stretto.client.runs import RunCalls
from stretto.client.workflows import WorkflowCalls


class Conversation(WorkflowCalls, RunCalls, StepCalls, ApprovalCalls, LogCalls, ListeningCalls, OtherCalls):
    """With one server. It knows no connection, so the same one serves all drivers."""
