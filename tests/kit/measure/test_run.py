"""Training in processes of their own: whatever a mutant does, it costs only its own evidence."""

from collections.abc import Callable

import pytest

from bugkit.measure.evidence import Evidence, Outcome
from bugkit.measure.run import Task, measure
from bugkit.measure.script import Stage
from bugkit.measure.settings import Setting
from bugkit.subject import Subject

SubjectWith = Callable[..., Subject]


def evidence_of(*subjects: Subject, timeout: float = 60.0) -> dict[str, Evidence]:
    tasks = [Task(subject, Setting.PLAIN, "digest") for subject in subjects]
    return {task.subject.id: found for task, found in measure(tasks, 2, timeout)}


def test_whatever_a_mutant_does_the_others_are_measured(subject_with: SubjectWith) -> None:
    found = evidence_of(
        subject_with("good", ""),
        subject_with("raises", "\ndef train(*a, **k):\n    raise ValueError('no way')\n"),
        subject_with("exits", "\ndef train(*a, **k):\n    import os\n    os._exit(3)\n"),
        subject_with("quits", "\ndef train(*a, **k):\n    raise SystemExit\n"),
        subject_with("silly", "\nraise ImportError('nothing here')\n"),
        subject_with(
            "nan",
            "\ndef train(params, cfg, data, on_step, **k):\n"
            "    on_step(0, float('nan'))\n    return params, []\n",
        ),
    )
    assert found["good"].outcome is Outcome.FINISHED
    assert found["good"].losses == (2.0,)
    assert found["good"].steps == 3
    assert found["good"].sample is not None and found["good"].sample.startswith("the ")
    assert found["good"].validation_loss is not None
    assert found["raises"].outcome is Outcome.RAISED
    assert (found["raises"].stage, found["raises"].message) == (Stage.TRAIN, "ValueError: no way")
    assert found["raises"].logits_difference == 0.0
    assert found["exits"].outcome is Outcome.CRASHED
    assert "exit code 3" in found["exits"].message
    assert found["quits"].outcome is Outcome.RAISED
    assert (found["silly"].outcome, found["silly"].stage) == (Outcome.RAISED, Stage.IMPORT)
    assert found["nan"].outcome is Outcome.NOT_FINITE
    assert (found["nan"].first_loss, found["nan"].losses) == (None, (None,))


def test_what_hangs_is_ended_and_said_to_hang(subject_with: SubjectWith) -> None:
    body = (
        "\ndef train(params, cfg, data, on_step, **k):\n    on_step(0, 1.5)\n"
        "    while True:\n        pass\n"
    )
    found = evidence_of(subject_with("hangs", body), timeout=3.0)["hangs"]
    assert (found.outcome, found.stage) == (Outcome.TIMEOUT, Stage.TRAIN)
    assert found.first_loss == 1.5
    assert "3 s" in found.message


@pytest.mark.parametrize(
    ("file", "below", "key"),
    [
        ("head.py", "\n_head = head\n\n\ndef head(*a):\n    return 2 * _head(*a)\n", "logits"),
        (
            "softmax.py",
            "\n_back = softmax_backward\n\n\ndef softmax_backward(*a, **k):\n"
            "    return 2 * _back(*a, **k)\n",
            "gradient",
        ),
    ],
)
def test_what_differs_from_the_correct_gpt_is_measured(
    subject_with: SubjectWith, file: str, below: str, key: str
) -> None:
    found = evidence_of(subject_with("differs", below, file))["differs"]
    value = getattr(found, f"{key}_difference")
    assert value is not None and value > 0.01
    if key == "gradient":
        assert found.logits_difference == found.attention_difference == 0.0


def test_a_second_measurement_says_the_same(subject_with: SubjectWith) -> None:
    subject = subject_with("again", "")
    assert evidence_of(subject) == evidence_of(subject)
