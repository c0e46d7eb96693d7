"""What came of a campaign."""

from collections.abc import Mapping
from statistics import median

import msgspec


class Report(msgspec.Struct, kw_only=True):
    """The figures. `violations` is empty, or something is wrong."""

    store: str
    scenario: str
    leases: str
    seed: int
    seconds: float
    troubles: Mapping[str, int]  # what was done, and how often
    runs: int
    attempts: int
    commits: int  # rows of the change log
    launches: int
    relaunched: int  # attempts whose work began more than once
    late: int  # effects that the world outside refused
    lost: int
    doubled: int
    buried: int
    released: Mapping[str, int]
    store_failures: int  # transactions that failed, and were repeated
    resumed: list[float]  # seconds from a death until its work went on elsewhere
    disturbed: list[float]  # the same, where others died meanwhile
    violations: list[str]
    stale: int = 0  # work that began after a later launch of it had begun
    restarts: int = 0
    lags: list[float] = []  # seconds from due to started, of a schedule
    worst_lag: float = 0.0  # the same with the times when no node could reach a database that answers
    answers: Mapping[int, int] = {}  # of the HTTP API to restarts, by status; 0: none came
    left_out: list[str] = []  # what could not be had here
    fallen: list[str]  # last words of nodes that ended by themselves

    @property
    def is_well(self) -> bool:
        return not self.violations and not self.fallen


def spread(sorted_times: list[float]) -> str:
    """How long it took."""
    late = sorted_times[int(len(sorted_times) * 0.9)]
    return (
        f"p50 {median(sorted_times):.2f} s, p90 {late:.2f} s, max {sorted_times[-1]:.2f} s"
        f" ({len(sorted_times)} times)"
    )


def _line(what: str, value: str) -> str:
    return f"{what}: {value}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {what}" for what, number in counts.items()) or "nothing"


def text_of(report: Report) -> str:
    """For people."""
    lines = [
        _line(
            f"{report.store}, {report.scenario}, {report.leases} leases, seed {report.seed}",
            f"{_counts(report.troubles)} in {report.seconds:.0f} s",
        ),
        f"  runs {report.runs:,}, attempts {report.attempts:,}, commits {report.commits:,}",
        f"  lost {report.lost}, completed twice {report.doubled}, violations {len(report.violations)}",
        f"  launches {report.launches:,}, attempts launched again {report.relaunched:,}",
        f"  late effects refused {report.late}, transactions repeated {report.store_failures}",
        f"  nodes buried by others {report.buried}",
        _line("  set aside, and let go on", _counts(report.released)),
    ]
    if report.resumed:
        lines.append(_line("  from death to work going on", spread(report.resumed)))
    if report.disturbed:
        lines.append(_line("  the same, where more nodes died meanwhile", spread(report.disturbed)))
    if report.restarts:
        answers = {str(status) if status else "without": n for status, n in report.answers.items()}
        lines.append(f"  stale begins {report.stale}, restarts {report.restarts}, answers {_counts(answers)}")
    if report.lags:
        late = report.lags[int(len(report.lags) * 0.99)]
        lines.append(
            f"  schedule, due to started: p99 {late:.2f} s, max {report.lags[-1]:.2f} s while a node could"
            f" ({len(report.lags)} times); max {report.worst_lag:.2f} s in all"
        )
    lines += [f"  LEFT OUT {each}" for each in report.left_out]
    lines += [f"  VIOLATION {each}" for each in report.violations[:20]]
    lines += [f"  A NODE ENDED {each}" for each in report.fallen[:3]]
    return "\n".join(lines)
