"""Placeholder until the worked hunts are merged."""

from collections.abc import Mapping

from ..catalogue import Bug
from .model import Sheet


def worked_bugs(catalogue: Mapping[str, Bug]) -> list[Bug]:
    return []


def worked_sheet(sheet: Sheet, bug: Bug) -> Sheet:
    return sheet
