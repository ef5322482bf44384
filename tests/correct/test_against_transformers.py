"""The correct GPT against the GPT-2 of the `transformers` library, with the same weights.

Needs the extra `oracle`; downloads nothing. Most of its time goes into importing PyTorch.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from bugkit import correct

WHY = "the comparison with GPT-2 needs PyTorch and transformers: pip install 'bugkit[oracle]'"
torch = pytest.importorskip("torch", reason=WHY)
transformers = pytest.importorskip("transformers", reason=WHY)

Params = dict[str, Any]
RandomParams = Callable[[Any, int], Params]

RELATIVE = 1e-10
"""Rounding in float64 gives some 1e-14 here; any error of thought gives far more than 1e-10."""

ABSOLUTE = 1e-12
"""The same for numbers that are small because larger ones cancel."""

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
