"""JUnit XML, for the dashboards of continuous integration.

A mutant or innocent is one test case, which fails if its promise is broken. A file is a test
suite of its own, with a test case for each detector.
"""

import re
import xml.etree.ElementTree as ET

from ..matrix import BROKEN, Matrix, Outcome, broken_promises
from ..subject import Kind

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold."""


def as_junit(matrix: Matrix) -> str:
    """One document with a suite for the catalogue and one for each other subject."""
    root = ET.Element("testsuites", name="bugkit")
    promised = [s for s in matrix.subjects if s.bug is not None]
    if promised:
        broken = broken_promises(matrix)
        suite = ET.SubElement(root, "testsuite", name="catalogue")
        for s in promised:
            seconds = sum(cell.seconds for _, cell in matrix.row(s))
            case = _case(suite, s.id, f"catalogue.{s.component}", seconds)
            for sentence in broken:
                if sentence.startswith(f"{s.id}: "):
                    _verdict(case, "failure", sentence.removeprefix(f"{s.id}: "))
    for s in matrix.subjects:
        if s.kind in (Kind.CORRECT, Kind.FILE):
            suite = ET.SubElement(root, "testsuite", name=_clean(s.id))
            for d, cell in matrix.row(s):
                case = _case(suite, d.id, _clean(s.id), cell.seconds)
                if cell.outcome is Outcome.FAILED:
                    _verdict(case, "failure", f"{d.label}: {cell.message}")
                elif cell.outcome in BROKEN:
                    _verdict(case, "error", f"{cell.outcome}: {cell.message}")
                elif cell.outcome is Outcome.NOT_OFFERED:
                    _verdict(case, "skipped", cell.message)
    for suite in root:
        suite.set("tests", str(len(suite)))
        for attribute, tag in (
            ("failures", "failure"),
            ("errors", "error"),
            ("skipped", "skipped"),
        ):
            suite.set(attribute, str(sum(case.find(tag) is not None for case in suite)))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ET.Element, name: str, group: str, seconds: float) -> ET.Element:
    return ET.SubElement(suite, "testcase", name=name, classname=group, time=f"{seconds:.4f}")


def _verdict(case: ET.Element, tag: str, message: str) -> None:
    ET.SubElement(case, tag, message=_clean(message))


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("?", text)
