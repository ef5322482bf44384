"""The adapters that the kit ships: a right GPT behind one is all green, a wrong one is found."""

import shutil
from pathlib import Path

import pytest

from bugkit.engine import run
from bugkit.matrix import Matrix, Outcome, Status
from bugkit.options import Options
from bugkit.places import TEMPLATES
from bugkit.subject import Subject, find_subject

MODELS = Path(__file__).parent / "adapters"


def check(folder: Path, shape: str, old: str = "", new: str = "") -> tuple[Matrix, Subject]:
    source = (MODELS / shape / "model.py").read_text(encoding="utf-8")
    assert old in source
    (folder / "model.py").write_text(source.replace(old, new) if old else source, encoding="utf-8")
    shutil.copy(TEMPLATES / "adapters" / f"{shape}.py", folder / "adapter.py")
    subject = find_subject(str(folder), {})
    return run([subject], Options(timeout=60.0, memory=16_384)), subject


CLASS_BUGS = {
    "future seen": ("dtype=bool)] = -np.inf", "dtype=bool)] = 0", "test_no_weight_on_the_future"),
    "not scaled": (" / width**0.5", "", "test_scores_have_unit_variance"),
    "no skip": (
        "x = x + self.attention(",
        "x = self.attention(",
        "test_stream_passes_by_attention",
    ),
    "no positions": (
        " + self.position_embedding[: ids.shape[1]]",
        "",
        "test_order_of_tokens_matters",
    ),
    "eps outside": ("+ eps) + b", ") + b", "test_layer_norm_adds_eps_to_the_variance"),
}


@pytest.mark.parametrize("name", CLASS_BUGS)
def test_a_bug_in_a_class_is_found(name: str, tmp_path: Path) -> None:
    old, new, killer = CLASS_BUGS[name]
    matrix, subject = check(tmp_path, "class", old, new)
    assert killer in matrix.killers(subject)


def test_a_right_class_is_all_green(tmp_path: Path) -> None:
    matrix, subject = check(tmp_path, "class")
    assert {cell.outcome for _, cell in matrix.row(subject)} == {Outcome.PASSED}


NANOGPT_BUGS = {
    "future seen": ("is_causal=True", "is_causal=False", "test_next_token_is_hidden"),
    "heads cut wrong": (
        "p.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)",
        "p.reshape(B, self.n_head, T, C // self.n_head)",
        "test_heads_read_their_own_channels",
    ),
    "post norm": (
        "x = x + self.attn(self.ln_1(x))",
        "x = self.ln_1(x + self.attn(x))",
        "test_silent_blocks_change_nothing",
    ),
    "no final norm": ("x = self.transformer.ln_f(x)", "pass", "test_logits_ignore_the_scale"),
    "exact GELU": ('approximate="tanh"', "", "test_gelu_is_the_tanh_form"),
}


@pytest.mark.parametrize("name", NANOGPT_BUGS)
def test_a_bug_in_a_pytorch_model_is_found(name: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed (extra: oracle)")
    old, new, killer = NANOGPT_BUGS[name]
    matrix, subject = check(tmp_path, "nanogpt", old, new)
    assert any(found.startswith(killer) for found in matrix.killers(subject))


def test_a_right_pytorch_model_is_all_green(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed (extra: oracle)")
    matrix, subject = check(tmp_path, "nanogpt")
    assert matrix.status(subject) is Status.GREEN
    offered = [cell for _, cell in matrix.row(subject) if cell.outcome is Outcome.PASSED]
    assert len(offered) >= 30
