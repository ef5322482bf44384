"""The correct GPT against the GPT-2 of the `transformers` library, with the same weights: logits,
greedy continuations, and files that the library has written.

Needs the extra `oracle`; downloads nothing. Most of its time goes into importing PyTorch.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bugkit import correct

WHY = "the comparison with GPT-2 needs PyTorch and transformers: pip install 'bugkit[oracle]'"
torch = pytest.importorskip("torch", reason=WHY)
transformers = pytest.importorskip("transformers", reason=WHY)
safetensors_numpy = pytest.importorskip("safetensors.numpy", reason=WHY)

Params = dict[str, Any]
RandomParams = Callable[[Any, int], Params]

RELATIVE = 1e-10
"""Rounding in float64 gives some 1e-14 here; any error of thought gives far more than 1e-10."""

ABSOLUTE = 1e-12
"""The same for numbers that are small because larger ones cancel."""

SINGLE = 1e-6
"""For the logits that the library's `generate` hands out: they are rounded to float32."""

WRONG = 1e-6
"""A relative error of one parameter array that the comparison must notice."""

SEED = 11
"""Any other does as well."""

assert_close = partial(
    np.testing.assert_allclose, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=False, strict=True
)

# Configuration, B, T. Sizes share no factor where they can, so that no axis passes for another.
CASES = {
    "tied": (correct.GPTConfig(11, 15, 2, 3, 13), 2, 7),
    "untied": (correct.GPTConfig(17, 14, 3, 2, 5, tie_word_embeddings=False), 3, 5),
}

cases = pytest.mark.parametrize(("cfg", "B", "T"), CASES.values(), ids=CASES.keys())


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """PyTorch on one thread: the models are tiny."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@cases
def test_no_weight_can_be_slightly_wrong_unnoticed(
    random_params: RandomParams, cfg: Any, B: int, T: int
) -> None:
    token_ids = tokens(cfg, B, T)
    params = random_params(cfg, SEED)
    logits = correct.gpt_forward(params, cfg, token_ids)
    model = gpt2(cfg)
    set_weights(model, params)
    unnoticed = []
    for name, weight in model.named_parameters():
        right = weight.detach().clone()
        weight.data *= 1 + WRONG
        wrong_logits, _ = run(model, token_ids)
        weight.data.copy_(right)
        if np.allclose(logits, wrong_logits, rtol=RELATIVE, atol=ABSOLUTE):
            unnoticed.append(name)
    assert unnoticed == []


@cases
def test_logits_and_maps_are_those_of_gpt2(
    random_params: RandomParams, cfg: Any, B: int, T: int
) -> None:
    token_ids = tokens(cfg, B, T)
    params = random_params(cfg, SEED)
    model = gpt2(cfg)
    set_weights(model, params)
    expected_logits, expected_maps = run(model, token_ids)
    logits, maps = correct.gpt_forward(params, cfg, token_ids, return_attn=True)
    assert_close(logits, expected_logits)
    assert_close(np.array(maps), np.array(expected_maps))


@cases
@pytest.mark.parametrize("cached", [True, False], ids=["cached", "uncached"])
def test_the_greedy_continuation_is_that_of_gpt2(
    random_params: RandomParams, cfg: Any, B: int, T: int, cached: bool
) -> None:
    del T
    prompts, params = tokens(cfg, B, 2), random_params(cfg, SEED)
    params["ln_f"]["b"][:] = 0.0  # or it favours one word everywhere
    model = gpt2(cfg)
    set_weights(model, params)
    new = cfg.max_seq_len - 2
    expected = model.generate(
        torch.tensor(prompts),
        max_new_tokens=new,
        do_sample=False,
        use_cache=cached,
        output_logits=True,
        return_dict_in_generate=True,
    )
    got = correct.generate(params, cfg, prompts, new, temperature=0.0, use_cache=cached)
    np.testing.assert_array_equal(got, expected.sequences.numpy())
    # A continuation may repeat one word, and so show little; its logits do not.
    cache, logits = correct.init_cache(cfg, B), []
    for place in range(cfg.max_seq_len - 1):
        step, cache = correct.forward_cached(params, cfg, got[:, place : place + 1], cache)
        logits.append(step[:, 0])
    theirs = [step.numpy() for step in expected.logits]
    np.testing.assert_allclose(logits[1:], theirs, rtol=SINGLE, atol=SINGLE)


# Files that hold a GPT-2.


@cases
@pytest.mark.parametrize("prefix", [True, False], ids=["with prefix", "without"])
@pytest.mark.parametrize("ending", ["safetensors", "npz"])
def test_weights_that_transformers_saved_give_the_same_logits(
    random_params: RandomParams,
    tmp_path: Path,
    cfg: Any,
    B: int,
    T: int,
    prefix: bool,
    ending: str,
) -> None:
    params, token_ids = random_params(cfg, SEED), tokens(cfg, B, T)
    model = gpt2(cfg)
    set_weights(model, params)
    model.save_pretrained(tmp_path)
    path = tmp_path / "model.safetensors"
    saved = safetensors_numpy.load_file(path)
    assert ("lm_head.weight" in saved) is not cfg.tie_word_embeddings
    if not prefix:
        saved = {name.removeprefix("transformer."): array for name, array in saved.items()}
    if not prefix or ending == "npz":
        path = save(tmp_path, saved, ending)
    expected, _ = run(model, token_ids)
    loaded, loaded_cfg = correct.load_gpt2(path, n_heads=cfg.n_heads)
    assert loaded_cfg == cfg
    assert ("w_lm" in loaded) is not cfg.tie_word_embeddings
    assert_close(correct.gpt_forward(loaded, loaded_cfg, token_ids), expected)


def test_the_trunk_alone_is_a_file_without_a_prefix(
    random_params: RandomParams, tmp_path: Path
) -> None:
    cfg, B, T = CASES["tied"]
    model = gpt2(cfg)
    set_weights(model, random_params(cfg, SEED))
    model.transformer.save_pretrained(tmp_path)
    path = tmp_path / "model.safetensors"
    assert "wte.weight" in safetensors_numpy.load_file(path)
    loaded, loaded_cfg = correct.load_gpt2(path, n_heads=cfg.n_heads)
    token_ids = tokens(cfg, B, T)
    expected, _ = run(model, token_ids)
    assert_close(correct.gpt_forward(loaded, loaded_cfg, token_ids), expected)


@pytest.mark.parametrize("ending", ["safetensors", "npz"])
def test_masks_and_a_second_name_of_the_embedding_are_no_parameters(
    random_params: RandomParams, tmp_path: Path, ending: str
) -> None:
    cfg, _, _ = CASES["tied"]
    params = random_params(cfg, SEED)
    model = gpt2(cfg)
    set_weights(model, params)
    state = {name: tensor.numpy().copy() for name, tensor in model.state_dict().items()}
    assert "lm_head.weight" in state
    for layer in range(cfg.n_layers):
        n = cfg.max_seq_len
        state[f"transformer.h.{layer}.attn.bias"] = np.tril(np.ones((1, 1, n, n), dtype=bool))
        state[f"transformer.h.{layer}.attn.masked_bias"] = np.array(-1e4)
    loaded, loaded_cfg = correct.load_gpt2(save(tmp_path, state, ending), n_heads=cfg.n_heads)
    assert loaded_cfg == cfg
    np.testing.assert_equal(loaded, params)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_the_precision_of_the_file_is_kept(
    random_params: RandomParams, tmp_path: Path, dtype: str
) -> None:
    cfg, _, _ = CASES["untied"]
    model = gpt2(cfg)
    set_weights(model, random_params(cfg, SEED))
    model.to(getattr(torch, dtype)).save_pretrained(tmp_path)
    loaded, _ = correct.load_gpt2(tmp_path / "model.safetensors", n_heads=cfg.n_heads)
    assert {array.dtype for array in (loaded["wte"], loaded["w_lm"])} == {np.dtype(dtype)}


def test_a_precision_that_numpy_does_not_have_is_refused_by_name(tmp_path: Path) -> None:
    cfg, _, _ = CASES["tied"]
    gpt2(cfg).to(torch.bfloat16).save_pretrained(tmp_path)
    path = tmp_path / "model.safetensors"
    with pytest.raises(ValueError, match=f"{path}: "):
        correct.load_gpt2(path, n_heads=cfg.n_heads)


def test_heads_are_64_wide_unless_their_number_is_given(
    random_params: RandomParams, tmp_path: Path
) -> None:
    cfg = correct.GPTConfig(5, 128, 1, 2, 4)
    model = gpt2(cfg)
    set_weights(model, random_params(cfg, SEED))
    model.save_pretrained(tmp_path)
    _, loaded_cfg = correct.load_gpt2(tmp_path / "model.safetensors")
    assert loaded_cfg == cfg


def save(folder: Path, arrays: dict[str, Any], ending: str) -> Path:
    """A file of these arrays, as a person would write it."""
    path = folder / f"weights.{ending}"
    if ending == "npz":
        np.savez(path, **arrays)
    else:
        safetensors_numpy.save_file(arrays, path)
    return path


def gpt2(cfg: Any) -> Any:
    """A GPT-2 of these sizes, in float64, without dropout."""
    config = transformers.GPT2Config(
        vocab_size=cfg.vocab_size,
        n_positions=cfg.max_seq_len,
        n_embd=cfg.d_model,
        n_layer=cfg.n_layers,
        n_head=cfg.n_heads,
        tie_word_embeddings=cfg.tie_word_embeddings,
        attn_implementation="eager",  # the one that returns attention weights
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=None,  # GPT-2's own lie outside this vocabulary
        eos_token_id=None,
    )
    return transformers.GPT2LMHeadModel(config).double().eval()


def set_weights(model: Any, params: Params) -> None:
    """Give every weight of `model` its value; each exists exactly once under its name."""
    values = {
        "transformer.wte.weight": params["wte"],
        "transformer.wpe.weight": params["wpe"],
        "transformer.ln_f.weight": params["ln_f"]["g"],
        "transformer.ln_f.bias": params["ln_f"]["b"],
    }
    for layer, block in enumerate(params["blocks"]):
        values |= {
            f"transformer.h.{layer}.{name}": value
            for name, value in {
                "ln_1.weight": block["ln1"]["g"],
                "ln_1.bias": block["ln1"]["b"],
                "attn.c_attn.weight": block["attn"]["w_qkv"],
                "attn.c_attn.bias": block["attn"]["b_qkv"],
                "attn.c_proj.weight": block["attn"]["w_o"],
                "attn.c_proj.bias": block["attn"]["b_o"],
                "ln_2.weight": block["ln2"]["g"],
                "ln_2.bias": block["ln2"]["b"],
                "mlp.c_fc.weight": block["mlp"]["w1"],
                "mlp.c_fc.bias": block["mlp"]["b1"],
                "mlp.c_proj.weight": block["mlp"]["w2"],
                "mlp.c_proj.bias": block["mlp"]["b2"],
            }.items()
        }
    if "w_lm" in params:
        values["lm_head.weight"] = params["w_lm"].T  # Linear keeps (out, in), all others (in, out)
    weights = dict(model.named_parameters())
    assert weights.keys() == values.keys()
    for name, value in values.items():
        assert tuple(weights[name].shape) == value.shape, name
        weights[name].data.copy_(torch.tensor(value))


def run(model: Any, token_ids: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Logits [B, T, V], and attention weights [B, H, T, T] of each layer."""
    with torch.no_grad():
        output = model(torch.tensor(token_ids), output_attentions=True, use_cache=False)
    return output.logits.numpy(), [weights.numpy() for weights in output.attentions]


def tokens(cfg: Any, B: int, T: int) -> np.ndarray:
    """Token ids, [B, T]."""
    return np.random.default_rng(SEED).integers(0, cfg.vocab_size, (B, T))
