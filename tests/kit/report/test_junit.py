"""JUnit XML: a dashboard must neither miss a failure nor choke on what a file said."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from bugkit.matrix import BROKEN, Matrix, Outcome, broken_promises
from bugkit.report.junit import as_junit
from bugkit.subject import Kind

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold (section 2.2)."""


def suites(matrix: Matrix) -> dict[str, TestSuite]:
    """Name -> suite, as another program reads them."""
    document = JUnitXml.fromstring(as_junit(matrix).encode())
    return {str(suite.name): suite for suite in document}


def verdicts(suite: TestSuite) -> dict[str, tuple[str, str]]:
    """Name of the case -> what became of it, and the message."""
    found = {}
    for case in suite:
        assert isinstance(case, TestCase)
        assert len(case.result) <= 1
        result = case.result[0] if case.result else None
        found[case.name] = (type(result).__name__, result.message) if result else ("passed", "")
    return found


# What must not happen


def test_no_message_makes_the_document_invalid(told: tuple[str, Matrix]) -> None:
    text, matrix = told
    _, message = verdicts(suites(matrix)["gpt.py"])["test_scale"]
    assert message == f"error: {FORBIDDEN.sub('?', text)}"


def test_no_name_of_a_file_makes_the_document_invalid(named: tuple[str, Matrix]) -> None:
    name, matrix = named
    assert list(suites(matrix)) == ["correct", FORBIDDEN.sub("?", name)]


def test_no_control_character_gets_through(odd_words: Matrix) -> None:
    text = as_junit(odd_words)
    assert not FORBIDDEN.search(text)
    ET.fromstring(text.encode())


def test_no_broken_promise_passes(matrix: Matrix) -> None:
    broken = {
        name: message
        for name, (verdict, message) in verdicts(suites(matrix)["catalogue"]).items()
        if verdict != "passed"
    }
    assert [f"{name}: {message}" for name, message in broken.items()] == broken_promises(matrix)


def test_a_bug_that_breaks_two_promises_is_one_failure(two_faults: Matrix) -> None:
    catalogue = suites(two_faults)["catalogue"]
    assert (catalogue.tests, catalogue.failures) == (1, 1)
    (case,) = catalogue
    message = " ".join(result.message for result in case.result)
    assert "test_no_future does not fail" in message
    assert "there is no such detector" in message


@pytest.fixture
def two_faults(matrix: Matrix) -> Matrix:
    """A mutant that no promised test kills, one of which does not exist either."""
    subject = next(s for s in matrix.subjects if s.id == "only_recorded")
    assert subject.bug is not None
    bug = replace(subject.bug, killed_by=("test_no_future", "test_of_nothing"))
    return replace(matrix, subjects=(replace(subject, bug=bug),))


# What is there


def test_the_catalogue_is_one_suite_and_every_other_subject_another(matrix: Matrix) -> None:
    assert list(suites(matrix)) == [
        "catalogue",
        "correct",
        "solutions/my gpt.py",
        "unloadable.py",
        "fine.py",
        "odd.py",
    ]


def test_what_could_not_be_judged_is_an_error_and_what_is_not_offered_is_skipped(
    matrix: Matrix,
) -> None:
    kinds = {
        name: [verdict for verdict, _ in verdicts(suite).values()]
        for name, suite in suites(matrix).items()
        if name != "catalogue"
    }
    assert kinds == {
        "correct": ["passed"] * 6,
        "solutions/my gpt.py": ["Failure"] * 4 + ["Error", "Skipped"],
        "unloadable.py": ["Error"] * 6,
        "fine.py": ["passed"] * 4 + ["Skipped", "passed"],
        "odd.py": ["passed"] * 5 + ["Failure"],
    }


def test_a_failure_names_the_property_and_what_was_said(matrix: Matrix) -> None:
    cases = verdicts(suites(matrix)["solutions/my gpt.py"])
    assert cases["test_rows_sum_to_one"] == (
        "Failure",
        "The weights of a query sum to one: <script>alert(1)</script>",
    )
    assert cases["test_recorded"] == ("Skipped", "logits are not offered")


def test_the_counts_are_those_of_the_cases(any_matrix: Matrix) -> None:
    found = suites(any_matrix)
    for suite in found.values():
        results = [case.result[0] for case in suite if case.result]
        assert suite.tests == len(list(suite))
        assert suite.failures == sum(isinstance(r, Failure) for r in results)
        assert suite.errors == sum(isinstance(r, Error) for r in results)
        assert suite.skipped == sum(isinstance(r, Skipped) for r in results)
    promised = any_matrix.of_kind(Kind.MUTANT, Kind.INNOCENT)
    others = any_matrix.of_kind(Kind.CORRECT, Kind.FILE)
    assert len(found) == len(others) + bool(promised)
    assert sum(len(list(suite)) for suite in found.values()) == (
        len(promised) + len(others) * len(any_matrix.detectors)
    )


def test_the_counts_agree_with_the_cells(any_matrix: Matrix) -> None:
    found = suites(any_matrix)
    for s in any_matrix.of_kind(Kind.CORRECT, Kind.FILE):
        outcomes = [cell.outcome for _, cell in any_matrix.row(s)]
        assert found[s.id].failures == outcomes.count(Outcome.FAILED)
        assert found[s.id].errors == sum(outcome in BROKEN for outcome in outcomes)
        assert found[s.id].skipped == outcomes.count(Outcome.NOT_OFFERED)


def test_the_time_of_a_case_is_that_of_its_cells(matrix: Matrix) -> None:
    found = suites(matrix)
    assert [case.time for case in found["correct"]] == [0.0125] * 6
    assert {case.time for case in found["catalogue"]} == {0.075}


def test_the_real_catalogue_keeps_its_promises(catalogue_matrix: Matrix) -> None:
    catalogue = suites(catalogue_matrix)["catalogue"]
    assert (catalogue.failures, catalogue.errors, catalogue.skipped) == (0, 0, 0)


def test_rendering_twice_gives_the_same_text(matrix: Matrix) -> None:
    assert as_junit(matrix) == as_junit(matrix)
