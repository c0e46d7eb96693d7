"""Which entries of docs/explanation/differences.md cover the accepted differences from a Maestro server.

The comparison accepts differences by rules. A rule is known by the digest of its content, so a rule that is
new or has changed is not in the table.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

ACCEPTED = frozenset({"harmless", "maestro", "unclear"})
REFUSED = frozenset({"wrong"})
ROW = re.compile(r'^\| <a id="([a-z0-9-]+)"></a>(.*)\|$', re.MULTILINE)

Rule = Mapping[str, Any]

ENTRIES: dict[str, tuple[str, ...]] = {
    "edb06d7880ff": ("clock",),
    "be0d8f1d9e82": ("progress-at-answer",),
    "3f07887d6f97": (
        "same-key-twice",
        "nul",
        "loop-without-steps",
        "mixed-list",
        "permit-timeline",
        "unknown-query-parameter",
        "action-methods",
    ),
    "e3dea5c1237f": ("mixed-list",),
    "dad5fdc75f40": ("yaml-version",),
    "dd18770767f7": ("large-double",),
    "e357d8cf36f0": ("numbers-after-refusal",),
    "ae0b1d6d4ddb": ("parent-facts",),
    "15a3ba788e7c": ("empty-rollup",),
    "c9f6e7f52e2b": ("flatten-loop-params",),
    "b9885aac740b": ("numbers-after-refusal",),
    "005840077a47": (
        "template-any-step-type",
        "numbers-after-refusal",
    ),
    "aae5172900fd": ("whole-doubles",),
    "35f32927f335": ("group-info",),
    "b68c0d15b3a4": ("step-instance-id",),
    "2cf8428c34b3": ("tracing-context",),
    "c8d03f8eb7a1": ("written-defaults",),
    "6d7ad52c6506": ("all-errors",),
    "71dd3f6f7cde": ("framework-problems",),
    "6d5f28a96cdb": ("restart-config",),
    "5a7f1589ae39": ("root-correlation-id",),
    "c721ae056a48": ("clock",),
    "12945e769eb5": ("first-child",),
    "80b3fbe15e7a": ("asynchronous-child",),
    "31eadbf0de42": ("validators",),
    "d97a750c1418": ("whole-doubles",),
    "7a1c5b99990b": ("actions-on-unknown",),
    "a5678e9b4527": ("bypass-outside-run",),
    "ec8c141662e2": ("restart-unknown-step",),
    "633f263f3704": ("lists-of-unknown",),
    "f6741de4d579": ("attempt-not-a-number",),
    "268668bf7bfb": ("restart-complete",),
    "7ee868613901": ("properties-snapshot",),
    "2bc9e231c89e": (
        "loop-without-steps",
        "loop-not-over-arrays",
    ),
    "85ebcad09e66": ("template-required",),
    "6659fc928242": ("permit-without-limit",),
    "0ef5c551c74b": ("request-id-text",),
    "57c0aac7e3ed": ("request-id-again",),
    "35b8d6b2dc2a": ("signal-decimal",),
    "c65664840e95": ("numbers-after-refusal",),
    "849a5ae0d807": ("latest-signal",),
    "f7b5292d436b": (
        "limits",
        "numbers-after-refusal",
    ),
    "b16499389f4a": (
        "access-control",
        "titus",
        "template-step",
        "limits",
        "expressions-when-read",
    ),
    "011fbd49bc9b": ("root-page",),
    "07272fb89deb": ("properties-of-unknown",),
    "7f7d33897dbf": ("condition-reads-signals",),
    "225abbf51912": ("page-beyond-newest",),
    "8708ad5da494": ("default-validators",),
    "b733144a57f2": ("aggregated-info-in-lists",),
    "cbbc06304189": ("foreach-checkpoint",),
    "d58ae3021e51": ("restarted-iteration-run",),
    "00fa46bfc1c8": ("status-in-timeline",),
    "7edd4fb47db8": ("restarted-step-id",),
    "86fffa26b892": ("progress-at-answer",),
    "8f3f8af45400": ("while-loop-params",),
    "f5bc0f667aef": ("timeline-log",),
    "5d19b844dfb7": ("bad-timeout",),
    "4c43743a5e3b": ("property-tags-order",),
    "47f2c18be80b": ("text-answers",),
    "c45e14622b1a": ("progress-at-answer",),
    "96d7a1537ca6": ("progress-at-answer",),
}


def digest(rule: Rule) -> str:
    return hashlib.sha256(json.dumps(rule, sort_keys=True).encode()).hexdigest()[:12]


def rows_of(page: str) -> list[tuple[str, list[str]]]:
    """The entries of the page that have an anchor, with their cells."""
    return [(name, [cell.strip() for cell in cells.split(" | ")]) for name, cells in ROW.findall(page)]


def gaps(rules: Sequence[Rule], page: str, entries: Mapping[str, Iterable[str]]) -> list[str]:
    """What keeps the page from being the complete list of accepted differences."""
    found: list[str] = []
    rows = dict(rows_of(page))
    accepted = {digest(rule): rule for rule in rules if rule["class"] not in REFUSED}
    for key, rule in accepted.items():
        if rule["class"] not in ACCEPTED:
            found.append(f"{key}: unknown class {rule['class']!r} of the rule {rule['match']!r}")
        elif not entries.get(key):
            found.append(f"{key}: no entry covers the rule {rule['match']!r} ({rule['note']})")
    found += [f"{key}: there is no such rule" for key in entries if key not in accepted]
    named = {name for names in entries.values() for name in names}
    found += [f"#{name}: not on the page" for name in sorted(named - rows.keys())]
    found += [f"#{name}: covers no rule" for name in sorted(rows.keys() - named)]
    return found
