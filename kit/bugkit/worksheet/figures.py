"""What a run of a program gave, drawn, in words and in numbers: Bug -> Figure.

The numbers are those of the evidence, so that nothing is run here. Of a bug the figure knows the
component alone, not whether it is one: an innocent gets the figure that a bug would.
"""

from enum import StrEnum

from ..catalogue import Bug
from ..measure.evidence import Evidence
from ..measure.settings import Setting, setting_of
from ..measure.store import is_current, mutant_of, recorded
from ..problems import Problem
from ..subject import CORRECT_SUBJECT, Subject, place_option
from .comparisons import VISIBLE, gaps_figure, maps_figure, shares_figure
from .curves import curves_figure
from .model import Figure


class Kind(StrEnum):
    """What is drawn."""

    MAPS = "maps"
    SHARES = "shares"
    GAPS = "gaps"
    CURVES = "curves"


MAPPED = ("positions", "attention", "mask", "softmax", "gqa")
"""Components whose work is seen in attention weights. Other bugs change them as well, but as they
change every number that comes after them."""

CACHED = ("positions", "cache")
"""Components that have to know how many tokens came before."""


def kind_of(component: str, evidence: Evidence) -> Kind:
    """What shows the symptom best. Whether the program is a bug is no argument, so that the kind of
    a figure tells nothing about it."""
    maps, gaps = evidence.attention, evidence.by_position
    if component in MAPPED and maps and maps.largest >= VISIBLE:
        return Kind.MAPS
    if component == "sampling" and evidence.sampled:
        return Kind.SHARES
    if component in CACHED and gaps and max(gaps.observed) >= VISIBLE:
        return Kind.GAPS
    return Kind.CURVES


def figure_of(bug: Bug, code: str) -> Figure:
    """The figure of a bug; `code` tells it from the others in a document, and is nothing that a
    student may not see. Without matplotlib it has no drawing. Raises Problem if the bug was never
    measured, or has changed since."""
    evidence, correct = _evidence(bug)
    kind = kind_of(bug.component, evidence)
    if kind is Kind.MAPS and evidence.attention:
        return maps_figure(evidence.attention, code)
    if kind is Kind.SHARES and evidence.sampled:
        return shares_figure(evidence.sampled, code)
    if kind is Kind.GAPS and evidence.by_position:
        return gaps_figure(evidence.by_position, code)
    return curves_figure(evidence, correct, code)


def _evidence(bug: Bug) -> tuple[Evidence, Evidence]:
    """Of the bug and of the correct GPT."""
    setting = setting_of(bug)
    mend = f"run: bugkit measure {bug.slug}{place_option(bug.folder)}"  # measures both
    return (
        _current(mutant_of(bug), setting, f"{bug.slug}: its evidence", mend),
        _current(CORRECT_SUBJECT, setting, f"{bug.slug}: the evidence of the correct GPT", mend),
    )


def _current(subject: Subject, setting: Setting, what: str, mend: str) -> Evidence:
    try:
        evidence = recorded(subject, setting)
    except Problem:
        raise Problem(f"{what} cannot be read; {mend}") from None
    if evidence is None:
        raise Problem(f"{what} is missing; {mend}")
    if not is_current(evidence, subject, setting):
        raise Problem(f"{what} is out of date; {mend}")
    return evidence
