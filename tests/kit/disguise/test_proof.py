"""The detectors see no difference between a mutant and its disguise, and the numbers agree."""

import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from bugkit.catalogue import Bug
from bugkit.disguise import Level, disguise
from bugkit.engine import run
from bugkit.matrix import Outcome
from bugkit.options import Options
from bugkit.subject import Kind, Subject

TOLERANCE = 1e-12
"""Of the largest number of an array: what rounding in another order may change."""

BUGS = (
    "cached_values_are_keys",
    "gelu_backward_of_another_gelu",
    "loading_breaks_the_tie",
    "mask_added",
    "post_norm",
    "qkv_unpacked_in_wrong_order",
    "scores_not_scaled",
    "top_p_drops_crossing_token",
)


def _written(folder: Path, files: Mapping[str, str]) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_no_detector_tells_a_disguise_from_what_it_hides(
    tmp_path: Path,
    correct: Mapping[str, str],
    broken: Callable[[str], dict[str, str]],
    catalogue: Mapping[str, Bug],
) -> None:
    promised: dict[str, set[str]] = {}
    subjects = []
    made = [("correct", level, seed) for level, seed in ((Level.LIGHT, 1), (Level.FULL, 2))]
    made += [(slug, Level.FULL, seed) for seed, slug in enumerate(BUGS)]
    for slug, level, seed in made:
        files = dict(correct) if slug == "correct" else broken(slug)
        name = f"{slug}_{level}_{seed}"
        folder = _written(tmp_path / name, disguise(files, level, b"proof %d" % seed).files)
        subjects.append(Subject(name, Kind.FILE, name, folder / "__init__.py"))
        promised[name] = set() if slug == "correct" else set(catalogue[slug].killed_by)
    matrix = run(subjects, Options(cache=False))
    for subject in subjects:
        assert set(matrix.killers(subject)) == promised[subject.id], subject.id
        odd = [(d.id, cell) for d, cell in matrix.row(subject) if cell.outcome not in USUAL]
        assert not odd or promised[subject.id], subject.id


USUAL = (Outcome.PASSED, Outcome.FAILED)


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], ModuleType]:
    """Imports a folder as a package of a name of its own."""

    def load(folder: Path) -> ModuleType:
        name = f"disguised_{folder.name}"
        spec = importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.mark.parametrize("seed", [b"1", b"2", b"3"])
@pytest.mark.parametrize(
    "sizes",
    [{}, {"rotary": True, "n_kv_heads": 2, "dropout": 0.2}, {"tie_word_embeddings": False}],
    ids=["plain", "modern", "untied"],
)
def test_no_number_is_off_by_more_than_rounding(
    tmp_path: Path,
    correct: Mapping[str, str],
    load: Callable[[Path], ModuleType],
    seed: bytes,
    sizes: dict[str, Any],
) -> None:
    public = _numbers(load(_written(tmp_path / f"public{seed.decode()}", correct)), sizes)
    files = disguise(correct, Level.FULL, seed).files
    hidden = _numbers(load(_written(tmp_path / f"hidden{seed.decode()}", files)), sizes)
    assert public.keys() == hidden.keys()
    for name, array in public.items():
        scale = float(np.max(np.abs(array))) if array.size else 1.0
        np.testing.assert_allclose(
            hidden[name], array, rtol=0, atol=TOLERANCE * scale, err_msg=name
        )
        assert hidden[name].dtype == array.dtype


def _numbers(gpt: ModuleType, sizes: dict[str, Any]) -> dict[str, np.ndarray]:
    """What the model says of a batch, and what a few steps of training make of it."""
    cfg = gpt.GPTConfig(vocab_size=13, d_model=16, n_layers=2, n_heads=4, max_seq_len=9, **sizes)
    params = gpt.init_params(cfg, seed=3)
    rng = np.random.default_rng(5)
    token_ids, targets = rng.integers(13, size=(2, 3, 7))
    logits, maps = gpt.gpt_forward(params, cfg, token_ids, return_attn=True)
    loss, grads = gpt.loss_and_grads(params, cfg, token_ids, targets, dropout_seed=1)
    data = rng.integers(13, size=90)
    trained, losses = gpt.train(params, cfg, data, steps=3, batch_size=2, seed=4)
    found = {"logits": logits, "loss": np.array(loss), "losses": np.array(losses)}
    found |= {f"map {i}": one for i, one in enumerate(maps)}
    for kind, tree in (("gradient", grads), ("trained", trained)):
        found |= {f"{kind} {path}": array for path, array in _leaves(tree)}
    found["text"] = gpt.generate(params, cfg, token_ids, 5, temperature=0.9, top_k=5, seed=2)
    return found


def _leaves(tree: Any, path: str = "") -> list[tuple[str, np.ndarray]]:
    if isinstance(tree, np.ndarray):
        return [(path, tree)]
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return [leaf for key, branch in items for leaf in _leaves(branch, f"{path}.{key}")]
