"""What goes into a file or a list of token ids must come out again."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT

pytestmark = pytest.mark.level(5)

THEIRS = {
    "ln1": {"g": "ln_1.weight", "b": "ln_1.bias"},
    "attn": {
        "w_qkv": "attn.c_attn.weight",
        "b_qkv": "attn.c_attn.bias",
        "w_o": "attn.c_proj.weight",
        "b_o": "attn.c_proj.bias",
    },
    "ln2": {"g": "ln_2.weight", "b": "ln_2.bias"},
    "mlp": {
        "w1": "mlp.c_fc.weight",
        "b1": "mlp.c_fc.bias",
        "w2": "mlp.c_proj.weight",
        "b2": "mlp.c_proj.bias",
    },
}
"""Names within a block, ours -> GPT-2's. Its matrices stand input by output, like ours."""

WORD = 8
"""A word that no prompt of this file holds."""


def test_unknown_characters_are_refused(gpt: "GPT") -> None:
    """A character that is not in the vocabulary raises an error.

    Any token id in its place would be that of another character, and the model would read another
    text than the user wrote.
    """
    vocabulary = gpt.build_vocabulary("to be or not")
    try:
        token_ids = gpt.encode("to be? not", vocabulary)
    except Exception:  # which one is not agreed on
        return
    text = np.asarray(token_ids).tolist()
    pytest.fail(f"'?' is not in the vocabulary, but the text was encoded as {text}")


def test_vocabulary_ignores_the_order_of_the_text(gpt: "GPT") -> None:
    """The same characters in another order give the same vocabulary.

    A character's place is its token id. If it hung on the text, a stored model would read another
    text of the same language as scrambled.
    """
    text = "the quick brown fox"
    one, other = gpt.build_vocabulary(text), gpt.build_vocabulary(text[::-1])
    assert one == other, f"{text!r} gives the vocabulary {one!r}, backwards it gives {other!r}"


def test_checkpoint_keeps_every_bit(gpt: "GPT") -> None:
    """Parameters come back from a file exactly as they were.

    Training that is taken up again goes on with the very numbers it had, in their precision.
    """
    cfg = cases.config(gpt, n_layers=1)
    params = gpt.init_params(cfg, seed=cases.SEED)
    with _file() as path:
        gpt.save_checkpoint(path, params, cfg)
        loaded = dict(cases.leaves(gpt.load_checkpoint(path)[0]))
    for name, array in cases.leaves(params):
        assert name in loaded, f"{name} did not come back from the file"
        got = loaded[name]
        assert got.dtype == array.dtype, f"{name} was {array.dtype} and came back as {got.dtype}"
        assert np.array_equal(got, array), (
            f"{name} came back changed, by up to {np.abs(got - array).max():.3g}"
        )


def test_checkpoint_keeps_the_configuration(gpt: "GPT") -> None:
    """Every choice of the configuration comes back from the file.

    Some choices leave no trace in the shapes of the parameters, and yet the same parameters mean
    another model without them.
    """
    wanted = {**cases.SIZES, **cases.MODERN, "n_layers": 1, "rope_theta": 500.0, "dropout": 0.25}
    cfg = cases.config(gpt, **{**cases.MODERN, "n_layers": 1}, rope_theta=500.0, dropout=0.25)
    with _file() as path:
        gpt.save_checkpoint(path, gpt.init_params(cfg), cfg)
        loaded = gpt.load_checkpoint(path)[1]
    for name in wanted:
        if hasattr(cfg, name):
            before, after = getattr(cfg, name), getattr(loaded, name, None)
            assert after == before, f"{name} was {before!r} and came back as {after!r}"


def test_tied_model_stays_tied_in_a_checkpoint(gpt: "GPT") -> None:
    """After saving and loading, a tied head still reads the embedding.

    Equal numbers are not enough: with a matrix of its own, the head would go its own way in the
    next step of training.
    """
    cfg = cases.config(gpt, n_layers=1)
    with _file() as path:
        gpt.save_checkpoint(path, gpt.init_params(cfg, seed=cases.SEED), cfg)
        params, cfg = gpt.load_checkpoint(path)
    _assert_tied(gpt, params, cfg)


def test_incomplete_checkpoint_is_refused(gpt: "GPT") -> None:
    """A file that lacks a matrix raises an error.

    Whatever would stand in its place was never trained, and nobody would notice.
    """
    cfg = cases.config(gpt, n_layers=1)
    with _file() as path:
        gpt.save_checkpoint(path, gpt.init_params(cfg, seed=cases.SEED), cfg)
        with np.load(path, allow_pickle=False) as file:
            entries: dict[str, Any] = {name: file[name] for name in file.files}
        matrices = [name for name in entries if _has_no_double(name, entries)]
        if len(matrices) < 2:
            pytest.skip("the file does not hold an entry for each matrix")
        del entries[matrices[-1]]
        np.savez(path, **entries)
        try:
            gpt.load_checkpoint(path)
        except Exception:  # which one is not agreed on
            return
    pytest.fail(f"the file lacks {matrices[-1]}, but it was loaded without an error")


def test_gpt2_file_gives_the_same_model(gpt: "GPT") -> None:
    """Weights under GPT-2's names give the logits that they give under ours.

    Both store matrices input by output, so nothing has to be transposed, square or not.
    """
    cfg, params = cases.model(gpt)
    _assert_loads_alike(gpt, params, cfg)


def test_gpt2_layers_keep_their_numbers(gpt: "GPT") -> None:
    """In a file of eleven layers, layer 10 comes after layer 9, not after layer 1.

    As texts, "10" stands before "2". All layers have the same shapes, so nothing complains.
    """
    cfg, params = cases.model(gpt, d_model=6, n_layers=11)
    _assert_loads_alike(gpt, params, cfg)


def test_gpt2_head_of_its_own_is_kept(gpt: "GPT") -> None:
    """A file with a head that differs from the embedding gives an untied model.

    GPT-2 stores the head output by input, and only if it is not the embedding itself.
    """
    cfg, params = cases.model(gpt, n_layers=1, tie_word_embeddings=False)
    _assert_loads_alike(gpt, params, cfg)


def test_gpt2_second_name_stays_tied(gpt: "GPT") -> None:
    """A file that holds the embedding under two names gives a tied model.

    Libraries often write lm_head.weight although it is the embedding once more.
    """
    load = gpt.load_gpt2
    _, params = cases.model(gpt, n_layers=1)
    with _file() as path:
        np.savez(path, **{**_gpt2(params), "lm_head.weight": params["wte"]})
        loaded, cfg = _loaded(load, path)
    _assert_tied(gpt, loaded, cfg)


@contextmanager
def _file() -> Iterator[str]:
    """The path of a file that does not exist yet, in a folder that goes away afterwards."""
    # Under a name that is the same in every run: it may be part of a message.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        yield "model.npz"


def _has_no_double(name: str, entries: dict[str, Any]) -> bool:
    """Whether this is a matrix that no other entry could replace, as a tied head's could be."""
    matrix = entries[name]
    return matrix.ndim == 2 and not any(
        np.array_equal(matrix, twin) or np.array_equal(matrix, twin.T)
        for other, twin in entries.items()
        if other != name
    )


def _gpt2(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters under GPT-2's names."""
    arrays = {
        "transformer.wte.weight": params["wte"],
        "transformer.wpe.weight": params["wpe"],
        "transformer.ln_f.weight": params["ln_f"]["g"],
        "transformer.ln_f.bias": params["ln_f"]["b"],
    }
    for layer, block in enumerate(params["blocks"]):
        for part, names in THEIRS.items():
            for ours, theirs in names.items():
                arrays[f"transformer.h.{layer}.{theirs}"] = block[part][ours]
    if "w_lm" in params:
        arrays["lm_head.weight"] = params["w_lm"].T
    return arrays


def _loaded(load: Callable[..., Any], path: str) -> tuple[dict[str, Any], Any]:
    """Parameters and configuration; a file that holds a model must not be refused."""
    __tracebackhide__ = True
    try:
        params, cfg = load(path, n_heads=cases.SIZES["n_heads"])
    except ValueError as error:
        message = str(error).replace(path, Path(path).name)
        pytest.fail(f"a whole model under GPT-2's names was refused: {message}")
    return params, cfg


def _assert_loads_alike(gpt: "GPT", params: dict[str, Any], cfg: Any) -> None:
    """The model from a GPT-2 file gives the logits of these parameters."""
    __tracebackhide__ = True
    load = gpt.load_gpt2
    expected = cases.logits_of(gpt, params, cfg, cases.tokens())
    with _file() as path:
        np.savez(path, **_gpt2(params))
        loaded, loaded_cfg = _loaded(load, path)
    got = cases.logits_of(gpt, loaded, loaded_cfg, cases.tokens())
    cases.assert_same(got, expected, "logits with the loaded weights", cases.LOGITS)


def _assert_tied(gpt: "GPT", params: dict[str, Any], cfg: Any) -> None:
    """Doubling a word's vector doubles its logit."""
    __tracebackhide__ = True
    token_ids = np.array([[3, 1, 4, 5, 9, 2, 6]])
    expected = 2.0 * cases.logits_of(gpt, params, cfg, token_ids)[..., WORD]
    params = {**params, "wte": np.array(params["wte"])}
    params["wte"][WORD] *= 2.0
    got = cases.logits_of(gpt, params, cfg, token_ids)[..., WORD]
    what = f"logit of word {WORD} after its vector was doubled in the loaded model"
    cases.assert_same(got, expected, what, cases.LOGITS[:2])
