"""Text, checkpoints and files of others: nothing is lost, and a broken file is refused by name."""

import dataclasses
import io
import json
import re
import stat
import sys
import zipfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bugkit import correct

Params = dict[str, Any]
RandomParams = Callable[[Any, int], Params]

SEED = 8
"""Any other does as well."""

STRIDE = 13
"""Every so many bytes a file is cut or damaged: no factor of the sizes that its format aligns."""

CFG = correct.GPTConfig(5, 4, 1, 2, 3)

CONFIGS = {
    "tied": CFG,
    "untied": dataclasses.replace(CFG, tie_word_embeddings=False),
    "eleven layers": dataclasses.replace(CFG, n_layers=11),
    "modern": dataclasses.replace(
        CFG, n_kv_heads=1, rotary=True, rope_theta=123.4, dropout=0.1, scale_residual_init=True
    ),
}

configs = pytest.mark.parametrize("cfg", CONFIGS.values(), ids=CONFIGS.keys())
endings = pytest.mark.parametrize("ending", ["npz", "safetensors"])

any_text = st.text(st.characters())
"""Any code points, halves of surrogate pairs too."""


# Text.


@given(any_text)
def test_a_text_comes_back_from_its_token_ids(text: str) -> None:
    vocabulary = correct.build_vocabulary(text)
    token_ids = correct.encode(text, vocabulary)
    assert token_ids.shape == (len(text),)
    assert token_ids.dtype == np.int64
    assert correct.decode(token_ids, vocabulary) == text
    assert correct.decode(token_ids.tolist(), vocabulary) == text


@given(any_text)
def test_a_vocabulary_has_each_character_once_in_order(text: str) -> None:
    vocabulary = correct.build_vocabulary(text)
    assert set(vocabulary) == set(text)
    assert all(one < other for one, other in pairwise(vocabulary))
    assert correct.encode(vocabulary, vocabulary).tolist() == list(range(len(vocabulary)))


@given(any_text, st.characters(), any_text)
def test_a_character_that_the_vocabulary_lacks_is_refused(
    before: str, character: str, after: str
) -> None:
    text = before + character + after
    vocabulary = correct.build_vocabulary(text.replace(character, ""))
    message = f"character {character!r} at place {text.index(character)} of the text"
    with pytest.raises(ValueError, match=re.escape(message)):
        correct.encode(text, vocabulary)


@pytest.mark.parametrize("token_id", [-1, 3, 100])
def test_a_token_id_that_the_vocabulary_lacks_is_refused(token_id: int) -> None:
    with pytest.raises(ValueError, match=f"token id {token_id} is not from 0 to 2"):
        correct.decode(np.array([0, token_id, 1]), "abc")


# Checkpoints that are none.


@configs
def test_a_truncated_checkpoint_is_refused(tmp_path: Path, cfg: Any) -> None:
    path = tmp_path / "model.npz"
    correct.save_checkpoint(path, correct.init_params(cfg), cfg)
    whole = path.read_bytes()
    for length in [*range(0, len(whole), STRIDE * len(whole) // 2000), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=re.escape(f"{path}: not a whole .npz file")):
            correct.load_checkpoint(path)


def test_a_damaged_checkpoint_never_gives_other_numbers(tmp_path: Path) -> None:
    path, params = tmp_path / "model.npz", correct.init_params(CFG)
    correct.save_checkpoint(path, params, CFG)
    whole = path.read_bytes()
    refused = 0
    for place in range(0, len(whole), STRIDE):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        try:
            loaded = correct.load_checkpoint(path)
        except ValueError as error:
            assert str(error).startswith(f"{path}: ")
            refused += 1
        else:
            np.testing.assert_equal(loaded, (params, CFG))
    assert refused > 100


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"Tyger Tyger, burning bright",
        b"PK\x03\x04",
        b"\x80\x04N.",
        b"\x93NUMPY\x01\x00",
        b"\x00" * 1000,
    ],
    ids=["empty", "text", "start of a zip", "pickle", "start of an array", "zeros"],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(f"{path}: not a whole .npz file")):
        correct.load_checkpoint(path)


def test_a_single_array_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.npy"
    np.save(path, np.zeros(3))
    with pytest.raises(ValueError, match=re.escape(f"{path}: not a")):
        correct.load_checkpoint(path)


def test_a_zip_of_texts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    correct.save_checkpoint(path, correct.init_params(CFG), CFG)
    arrays = read(path)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("poem.txt", "Tyger Tyger, burning bright")
    with pytest.raises(ValueError, match=re.escape(f"{path}: not a checkpoint")):
        correct.load_checkpoint(path)
    del arrays["wte"]
    write(path, arrays)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("wte", "not an array")
    with pytest.raises(ValueError, match=re.escape(f"{path}: ")):
        correct.load_checkpoint(path)


def test_arrays_of_somebody_else_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    write(path, {"x": np.zeros(3), "y": np.zeros(2)})
    message = f"{path}: not a checkpoint: it has no entry 'config'"
    with pytest.raises(ValueError, match=re.escape(message)):
        correct.load_checkpoint(path)


@pytest.mark.parametrize("entry", ["config", "wte", "blocks.0.mlp.b1", "stranger"])
def test_a_pickle_inside_is_never_opened(
    tmp_path: Path, entry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(Bomb, "opened", opened)
    path = saved(tmp_path)
    arrays = read(path)
    arrays[entry] = np.array([Bomb()], dtype=object)
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=re.escape(f"{path}: ")):
        correct.load_checkpoint(path)
    assert opened == []
    np.load(path, allow_pickle=True)[entry]
    assert opened == ["bang"], "the pickle does nothing, so that leaving it alone shows nothing"


class Bomb:
    """Tells when a pickle of it is opened."""

    opened: ClassVar[list[str]] = []

    def __reduce__(self) -> Any:
        return explode, ("bang",)


def explode(sound: str) -> None:
    """What a pickle of a bomb calls."""
    Bomb.opened.append(sound)


@pytest.mark.parametrize("name", ["wte", "blocks.0.attn.b_o", "ln_f.g"])
def test_a_missing_array_is_named(tmp_path: Path, name: str) -> None:
    path = saved(tmp_path)
    arrays = read(path)
    del arrays[name]
    write(path, arrays)
    with pytest.raises(ValueError, match=re.escape(f"{path}: lacks {name}")):
        correct.load_checkpoint(path)


@pytest.mark.parametrize("name", ["w_lm", "blocks.1.ln1.g", "blocks.0.attn.w_q", "", "wte.x"])
def test_an_array_too_many_is_named(tmp_path: Path, name: str) -> None:
    path = saved(tmp_path)
    write(path, {**read(path), name: np.zeros((4, 5))})
    with pytest.raises(ValueError, match=re.escape(f"{path}: holds {name}, which")):
        correct.load_checkpoint(path)


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("wte", (5, 4), (4, 5)),
        ("wte", (5, 4), (20,)),
        ("wpe", (3, 4), (1, 3, 4)),
        ("ln_f.g", (4,), (1, 4)),
        ("blocks.0.attn.b_o", (4,), ()),
        ("blocks.0.mlp.b1", (16,), (1,)),
    ],
    ids=str,
)
def test_an_array_of_another_shape_is_named(
    tmp_path: Path, name: str, right: tuple[int, ...], wrong: tuple[int, ...]
) -> None:
    path = saved(tmp_path)
    write(path, {**read(path), name: np.zeros(wrong)})
    message = f"{path}: {name} should have shape {right}, has {wrong}"
    with pytest.raises(ValueError, match=re.escape(message)):
        correct.load_checkpoint(path)


@pytest.mark.parametrize("dtype", ["int64", "<U3", "bool", "complex128", "datetime64[s]"])
def test_an_array_that_holds_no_real_numbers_is_named(tmp_path: Path, dtype: str) -> None:
    path = saved(tmp_path)
    arrays = read(path)
    arrays["ln_f.g"] = np.zeros(arrays["ln_f.g"].shape, dtype=dtype)
    write(path, arrays)
    with pytest.raises(ValueError, match=re.escape(f"{path}: ln_f.g should hold")):
        correct.load_checkpoint(path)


def test_of_several_faults_the_first_in_the_tree_is_named(tmp_path: Path) -> None:
    """The same file, the same message: a set of names has another order in every process."""
    path = saved(tmp_path)
    write(path, {name: read(path)[name] for name in ("config", "ln_f.b")})
    with pytest.raises(ValueError, match=re.escape(f"{path}: lacks wte")):
        correct.load_checkpoint(path)


@pytest.mark.parametrize(
    "config",
    [
        "",
        "no JSON",
        "[1, 2]",
        "null",
        '{"d_model": 5}',
        '{"d_model": "32"}',
        '{"colour": "red"}',
        '{"n_heads": 0}',
        '{"dropout": null}',
        '{"vocab_size": 1e3}',
        b"\xff",
        7,
    ],
    ids=str,
)
def test_a_configuration_that_makes_no_sense_is_refused(tmp_path: Path, config: object) -> None:
    path = saved(tmp_path)
    write(path, {**read(path), "config": np.array(config)})
    with pytest.raises(ValueError, match=re.escape(f"{path}: ")):
        correct.load_checkpoint(path)


@pytest.mark.parametrize("name", ["vocab_size", "d_model", "max_seq_len", "n_layers"])
def test_a_configuration_of_an_absurd_size_is_refused_without_making_room_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = saved(tmp_path)
    forbid_drawing(monkeypatch)  # a model of 2 ** 45 layers would fill the memory
    config = {**dataclasses.asdict(CFG), name: 2**45}
    write(path, {**read(path), "config": np.array(json.dumps(config))})
    with pytest.raises(ValueError, match=re.escape(f"{path}: ")):
        correct.load_checkpoint(path)


def test_loading_draws_no_random_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second model, drawn for its shapes alone, doubles the memory and takes the longest."""
    path = saved(tmp_path)
    weights = write(tmp_path / "gpt2.npz", gpt2_arrays())
    forbid_drawing(monkeypatch)
    correct.load_checkpoint(path)
    correct.load_gpt2(weights, n_heads=2)


def test_a_file_that_does_not_exist_is_not_found(tmp_path: Path) -> None:
    for load in (correct.load_checkpoint, correct.load_gpt2):
        for ending in ("npz", "safetensors"):
            with pytest.raises(FileNotFoundError):
                load(tmp_path / f"nothing.{ending}")


# Checkpoints that could not be written.


@pytest.mark.parametrize("name", ["tie_word_embeddings", "rotary"])
def test_parameters_that_do_not_fit_are_not_written_over_a_good_file(
    tmp_path: Path, name: str
) -> None:
    path = saved(tmp_path)
    before = path.read_bytes()
    other = dataclasses.replace(CFG, **{name: not getattr(CFG, name)})
    with pytest.raises(ValueError, match=re.escape(f"{path}: ")):
        correct.save_checkpoint(path, correct.init_params(CFG), other)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_is_interrupted_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path)
    before = path.read_bytes()
    for interruption in (OSError("no space left"), KeyboardInterrupt(), MemoryError()):

        def interrupted(
            file: Any, interruption: BaseException = interruption, **_: np.ndarray
        ) -> None:
            file.write(before[:100])
            raise interruption

        monkeypatch.setattr(np, "savez", interrupted)
        with pytest.raises(type(interruption)):
            correct.save_checkpoint(path, correct.init_params(CFG, seed=1), CFG)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]


def test_a_target_that_cannot_be_replaced_stays_and_nothing_is_left_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path)
    before = path.read_bytes()

    def refused(*_: object) -> None:
        raise PermissionError("the file is open elsewhere")

    monkeypatch.setattr(Path, "replace", refused)
    monkeypatch.setattr("os.replace", refused)
    with pytest.raises(PermissionError):
        correct.save_checkpoint(path, correct.init_params(CFG, seed=1), CFG)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_no_target(tmp_path: Path) -> None:
    folder = tmp_path / "model.npz"
    folder.mkdir()
    with pytest.raises(OSError):
        correct.save_checkpoint(folder, correct.init_params(CFG), CFG)
    assert list(tmp_path.iterdir()) == [folder]
    assert list(folder.iterdir()) == []


def test_a_folder_that_does_not_exist_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        correct.save_checkpoint(tmp_path / "missing" / "m.npz", correct.init_params(CFG), CFG)
    assert list(tmp_path.iterdir()) == []


# Checkpoints that come back.


@configs
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_a_checkpoint_comes_back_bit_for_bit(
    random_params: RandomParams, tmp_path: Path, cfg: Any, dtype: str
) -> None:
    params = correct.tree.map_tree(
        lambda array: np.array(array, dtype=dtype), random_params(cfg, SEED)
    )
    params["ln_f"]["g"][:3] = [np.nan, -0.0, np.inf]
    for path in (tmp_path / "model.npz", str(tmp_path / "no ending")):
        correct.save_checkpoint(path, params, cfg)
        loaded, loaded_cfg = correct.load_checkpoint(path)
        assert loaded_cfg == cfg
        assert type(loaded_cfg) is type(cfg)
        assert dict(bits(loaded)) == dict(bits(params))
    assert {file.name for file in tmp_path.iterdir()} == {"model.npz", "no ending"}


def test_a_loaded_tree_goes_on_like_the_one_that_was_saved(
    random_params: RandomParams, tmp_path: Path
) -> None:
    cfg, path = CONFIGS["modern"], tmp_path / "model.npz"
    params, data = random_params(cfg, SEED), np.arange(30) % 5
    correct.save_checkpoint(path, params, cfg)
    loaded, loaded_cfg = correct.load_checkpoint(path)
    expected = correct.train(params, cfg, data, 3)
    np.testing.assert_equal(correct.train(loaded, loaded_cfg, data, 3), expected)


def test_what_was_tied_stays_tied(random_params: RandomParams, tmp_path: Path) -> None:
    path, token_ids = tmp_path / "model.npz", np.array([[1, 2, 1]])
    correct.save_checkpoint(path, random_params(CFG, SEED), CFG)
    params, cfg = correct.load_checkpoint(path)
    assert cfg.tie_word_embeddings
    assert "w_lm" not in params
    before = correct.gpt_forward(params, cfg, token_ids)
    params["wte"][4] *= 2.0  # a word that the text does not hold, so only the head can tell
    after = correct.gpt_forward(params, cfg, token_ids)
    np.testing.assert_allclose(after[..., 4], 2.0 * before[..., 4])
    np.testing.assert_array_equal(after[..., :4], before[..., :4])


def test_a_later_checkpoint_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    path = saved(tmp_path)
    params = correct.init_params(CONFIGS["untied"], seed=1)
    correct.save_checkpoint(path, params, CONFIGS["untied"])
    np.testing.assert_equal(correct.load_checkpoint(path), (params, CONFIGS["untied"]))


def test_a_checkpoint_is_as_readable_as_any_other_file(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"")
    path = saved(tmp_path)
    modes = [stat.S_IMODE(file.stat().st_mode) for file in (path, tmp_path / "other")]
    assert modes[0] == modes[1]


def test_a_checkpoint_can_be_saved_with_sizes_and_choices_of_numpy(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    cfg = dataclasses.replace(
        CFG,
        vocab_size=np.int64(5),
        dropout=np.float32(0.5),
        rotary=np.bool_(False),
        rope_theta=np.float64(50.0),
    )
    correct.save_checkpoint(path, correct.init_params(cfg), cfg)
    assert correct.load_checkpoint(path)[1] == cfg


# GPT-2's files.


@endings
def test_a_truncated_file_of_weights_is_refused(tmp_path: Path, ending: str) -> None:
    path = weights(tmp_path, gpt2_arrays(), ending)
    whole = path.read_bytes()
    for length in [*range(0, len(whole), STRIDE * len(whole) // 500), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=re.escape(f"{path}: not a whole .{ending} file")):
            correct.load_gpt2(path, n_heads=2)


@pytest.mark.parametrize("ending", ["npz", "safetensors", "bin"])
def test_a_text_is_no_file_of_weights(tmp_path: Path, ending: str) -> None:
    if ending != "npz":
        pytest.importorskip("safetensors")
    path = tmp_path / f"weights.{ending}"
    path.write_text("Tyger Tyger, burning bright", encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(f"{path}: not a")):
        correct.load_gpt2(path, n_heads=2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"wte.weight": None}, "not a GPT-2: it has no wte.weight"),
        ({"wpe.weight": None}, "not a GPT-2: it has no wte.weight or no wpe.weight"),
        ({"h.1.ln_1.bias": None}, "lacks blocks.1.ln1.b"),
        ({"ln_f.weight": None}, "lacks ln_f.g"),
        ({"h.0.attn.q_proj.weight": np.zeros((4, 4))}, "holds blocks.0.attn.q_proj.weight"),
        ({"score.weight": np.zeros((2, 4))}, "holds score.weight"),
        ({"h.0.mlp.c_fc.weight": np.zeros((16, 4))}, "blocks.0.mlp.w1 should have shape (4, 16)"),
        ({"lm_head.weight": np.ones((4, 5))}, "w_lm should have shape (4, 5)"),
        ({"wte.weight": np.zeros(5)}, "wte should have two axes"),
        ({"wpe.weight": np.zeros(())}, "wpe should have two axes"),
    ],
    ids=lambda change: next(iter(change)) if isinstance(change, dict) else "",
)
@endings
def test_weights_that_are_no_gpt2_are_refused(
    tmp_path: Path, change: dict[str, np.ndarray | None], message: str, ending: str
) -> None:
    changed = {**gpt2_arrays(), **change}
    path = weights(
        tmp_path, {n: array for n, array in changed.items() if array is not None}, ending
    )
    with pytest.raises(ValueError, match=re.escape(f"{path}: {message}")):
        correct.load_gpt2(path, n_heads=2)


def test_a_file_without_layers_is_refused(tmp_path: Path) -> None:
    arrays = {name: array for name, array in gpt2_arrays().items() if not name.startswith("h.")}
    path = weights(tmp_path, arrays, "npz")
    with pytest.raises(ValueError, match=re.escape(f"{path}: ")):
        correct.load_gpt2(path, n_heads=2)


@pytest.mark.parametrize("n_heads", [3, 0, 8])
def test_heads_that_do_not_divide_the_width_are_refused(tmp_path: Path, n_heads: int) -> None:
    path = weights(tmp_path, gpt2_arrays(), "npz")
    with pytest.raises(ValueError, match=re.escape(f"{path}: ")):
        correct.load_gpt2(path, n_heads=n_heads)


@pytest.mark.parametrize("width", [4, 100, 144])
def test_a_width_that_64_does_not_divide_asks_for_the_number_of_heads(
    tmp_path: Path, width: int
) -> None:
    path = weights(tmp_path, gpt2_arrays(width), "npz")
    with pytest.raises(ValueError, match=re.escape(f"{path}: ") + ".*n_heads"):
        correct.load_gpt2(path)
    assert correct.load_gpt2(path, n_heads=2)[1].n_heads == 2


def test_without_safetensors_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"")
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(ImportError, match=re.escape(f"{path}: ") + ".*pip install safetensors"):
        correct.load_gpt2(path)
    # The other kind of file needs nothing.
    correct.load_gpt2(weights(tmp_path, gpt2_arrays(), "npz"), n_heads=2)


def test_a_pickle_among_the_weights_is_never_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(Bomb, "opened", opened)
    arrays = {**gpt2_arrays(), "wte.weight": np.array([Bomb()], dtype=object)}
    path = weights(tmp_path, arrays, "npz")
    with pytest.raises(ValueError, match=re.escape(f"{path}: ")):
        correct.load_gpt2(path, n_heads=2)
    assert opened == []


def forbid_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every random generator that is made from now on fail the test."""

    def refuse(*_: object) -> None:
        raise AssertionError("a generator is made while a file is read")

    monkeypatch.setattr(np.random, "default_rng", refuse)


def gpt2_arrays(C: int = 4) -> dict[str, np.ndarray]:
    """A GPT-2 of two layers, under the names of its files."""
    shapes: dict[str, tuple[int, ...]] = {
        "wte.weight": (5, C),
        "wpe.weight": (3, C),
        "ln_f.weight": (C,),
        "ln_f.bias": (C,),
    }
    for layer in range(2):
        for part, width_in, width_out in (
            ("attn.c_attn", C, 3 * C),
            ("attn.c_proj", C, C),
            ("mlp.c_fc", C, 4 * C),
            ("mlp.c_proj", 4 * C, C),
        ):
            shapes[f"h.{layer}.{part}.weight"] = (width_in, width_out)
            shapes[f"h.{layer}.{part}.bias"] = (width_out,)
        for part in ("ln_1", "ln_2"):
            shapes[f"h.{layer}.{part}.weight"] = shapes[f"h.{layer}.{part}.bias"] = (C,)
    rng = np.random.default_rng(SEED)
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


def weights(folder: Path, arrays: dict[str, np.ndarray], ending: str) -> Path:
    """A file of these arrays."""
    path = folder / f"weights.{ending}"
    if ending == "npz":
        return write(path, arrays)
    reason = "files of this kind need safetensors: pip install 'bugkit[oracle]'"
    pytest.importorskip("safetensors.numpy", reason=reason).save_file(arrays, path)
    return path


def saved(folder: Path) -> Path:
    """A checkpoint of the usual configuration."""
    path = folder / "model.npz"
    correct.save_checkpoint(path, correct.init_params(CFG), CFG)
    return path


def read(path: Path) -> dict[str, Any]:
    """The arrays of an .npz file."""
    with np.load(path) as file:
        return dict(file)


def write(path: Path, arrays: dict[str, Any]) -> Path:
    """An .npz file of these arrays; unlike np.savez it takes any name."""
    with zipfile.ZipFile(path, "w") as file:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.save(content, array)
            file.writestr(f"{name}.npy", content.getvalue())
    return path


def bits(tree: Any, path: str = "") -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Type, shape and bytes of every array, with its path."""
    if not isinstance(tree, dict | list):
        yield path, (tree.dtype, tree.shape, tree.tobytes())
        return
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield from bits(value, f"{path}.{key}")
