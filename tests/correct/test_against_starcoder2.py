"""Rotary positions and grouped queries against the Starcoder2 of the `transformers` library: like
GPT-2 it has layer norms, biases everywhere and the tanh form of GELU.

Needs the extra `oracle`; downloads nothing.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from bugkit import correct

WHY = "the comparison with Starcoder2 needs PyTorch and transformers: pip install 'bugkit[oracle]'"
torch = pytest.importorskip("torch", reason=WHY)
transformers = pytest.importorskip("transformers", reason=WHY)

Params = dict[str, Any]
RandomParams = Callable[[Any, int], Params]

RELATIVE = 1e-9
"""Rounding in float64 gives some 1e-14 here; any error of thought gives far more than 1e-9."""

ABSOLUTE = 1e-11
"""The same for numbers that are small because larger ones cancel."""

SINGLE = 1e-6
"""For the logits that the library's `generate` hands out: they are rounded to float32."""

WRONG = 1e-6
"""A relative error of one parameter array that the comparison must notice."""

SEED = 13
"""Any other does as well."""

assert_close = partial(
    np.testing.assert_allclose, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=False, strict=True
)

MODERN = partial(correct.GPTConfig, rotary=True)

# Configuration, B, T.
CASES = {
    "grouped": (MODERN(11, 24, 2, 6, 13, n_kv_heads=2), 2, 7),
    "one key head": (MODERN(17, 40, 3, 5, 9, n_kv_heads=1, tie_word_embeddings=False), 3, 9),
    "not grouped": (MODERN(7, 12, 2, 3, 11, rope_theta=100.0), 2, 5),
}

cases = pytest.mark.parametrize(("cfg", "B", "T"), CASES.values(), ids=CASES.keys())


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """PyTorch on one thread: the models are tiny."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def angles_in_double_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library computes the angles in float32 whatever the model's type, by `dtype=torch.float`
    and `.float()`; with these it can be compared to more than seven digits."""
    monkeypatch.setattr(torch, "float", torch.float64)
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)


@cases
def test_no_weight_can_be_slightly_wrong_unnoticed(
    random_params: RandomParams, cfg: Any, B: int, T: int
) -> None:
    token_ids, params = tokens(cfg, B, T), random_params(cfg, SEED)
    logits = correct.gpt_forward(params, cfg, token_ids)
    model = starcoder2(cfg)
    set_weights(model, params)
    unnoticed = []
    for name, weight in model.named_parameters():
        right = weight.detach().clone()
        weight.data *= 1 + WRONG
        wrong_logits = run(model, token_ids)
        weight.data.copy_(right)
        if np.allclose(logits, wrong_logits, rtol=RELATIVE, atol=ABSOLUTE):
            unnoticed.append(name)
    # A bias of the keys adds the same to all scores of a query that are as far away, and so is
    # noticed only because rotation makes "as far away" matter.
    assert unnoticed == []


@cases
def test_logits_are_those_of_starcoder2(
    random_params: RandomParams, cfg: Any, B: int, T: int
) -> None:
    token_ids, params = tokens(cfg, B, T), random_params(cfg, SEED)
    model = starcoder2(cfg)
    set_weights(model, params)
    assert_close(correct.gpt_forward(params, cfg, token_ids), run(model, token_ids))


@cases
@pytest.mark.parametrize("cached", [True, False], ids=["cached", "uncached"])
def test_the_greedy_continuation_is_that_of_starcoder2(
    random_params: RandomParams, cfg: Any, B: int, T: int, cached: bool
) -> None:
    del T
    prompts, params = tokens(cfg, B, 3), random_params(cfg, SEED)
    params["ln_f"]["b"][:] = 0.0  # or it favours one word everywhere
    model = starcoder2(cfg)
    set_weights(model, params)
    new = cfg.max_seq_len - 3
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
    np.testing.assert_allclose(logits[2:], theirs, rtol=SINGLE, atol=SINGLE)


def starcoder2(cfg: Any) -> Any:
    """A Starcoder2 of these sizes, in float64, without dropout or sliding window."""
    config = transformers.Starcoder2Config(
        vocab_size=cfg.vocab_size,
        hidden_size=cfg.d_model,
        intermediate_size=4 * cfg.d_model,
        num_hidden_layers=cfg.n_layers,
        num_attention_heads=cfg.n_heads,
        num_key_value_heads=cfg.n_kv_heads or cfg.n_heads,
        max_position_embeddings=cfg.max_seq_len,
        hidden_act="gelu_pytorch_tanh",
        norm_epsilon=1e-5,
        use_bias=True,
        tie_word_embeddings=cfg.tie_word_embeddings,
        sliding_window=None,
        attention_dropout=0.0,
        residual_dropout=0.0,
        embedding_dropout=0.0,
        attn_implementation="sdpa",  # the other one takes its softmax in float32
        bos_token_id=None,  # its own lie outside this vocabulary
        eos_token_id=None,
        **theta(cfg.rope_theta),
    )
    return transformers.Starcoder2ForCausalLM(config).double().eval()


def theta(value: float) -> dict[str, Any]:
    """The base of the wavelengths, under the name that this version of the library knows."""
    if hasattr(transformers.Starcoder2Config(), "rope_parameters"):
        return {"rope_parameters": {"rope_type": "default", "rope_theta": value}}
    return {"rope_theta": value}


def set_weights(model: Any, params: Params) -> None:
    """Give every weight of `model` its value; each exists exactly once under its name."""
    values = {
        "model.embed_tokens.weight": params["wte"],
        "model.norm.weight": params["ln_f"]["g"],
        "model.norm.bias": params["ln_f"]["b"],
    }
    for layer, block in enumerate(params["blocks"]):
        attn, mlp = block["attn"], block["mlp"]
        C = len(attn["w_o"])
        kv = (attn["w_qkv"].shape[1] - C) // 2
        places = {"q": slice(0, C), "k": slice(C, C + kv), "v": slice(C + kv, None)}
        values |= {
            f"model.layers.{layer}.{name}": value
            for name, value in {
                "input_layernorm.weight": block["ln1"]["g"],
                "input_layernorm.bias": block["ln1"]["b"],
                **{f"self_attn.{n}_proj.weight": attn["w_qkv"][:, p].T for n, p in places.items()},
                **{f"self_attn.{n}_proj.bias": attn["b_qkv"][p] for n, p in places.items()},
                "self_attn.o_proj.weight": attn["w_o"].T,
                "self_attn.o_proj.bias": attn["b_o"],
                "post_attention_layernorm.weight": block["ln2"]["g"],
                "post_attention_layernorm.bias": block["ln2"]["b"],
                "mlp.c_fc.weight": mlp["w1"].T,
                "mlp.c_fc.bias": mlp["b1"],
                "mlp.c_proj.weight": mlp["w2"].T,
                "mlp.c_proj.bias": mlp["b2"],
            }.items()
        }
    if "w_lm" in params:
        values["lm_head.weight"] = params["w_lm"].T
    weights = dict(model.named_parameters())
    assert weights.keys() == values.keys()
    for name, value in values.items():
        assert tuple(weights[name].shape) == value.shape, name
        weights[name].data.copy_(torch.tensor(value))


def run(model: Any, token_ids: np.ndarray) -> np.ndarray:
    """Logits [B, T, V]."""
    with torch.no_grad():
        logits: np.ndarray = model(torch.tensor(token_ids), use_cache=False).logits.numpy()
    return logits


def tokens(cfg: Any, B: int, T: int) -> np.ndarray:
    """Token ids, [B, T]."""
    return np.random.default_rng(SEED).integers(0, cfg.vocab_size, (B, T))
