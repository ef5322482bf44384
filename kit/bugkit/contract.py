"""The names a subject offers, by level, and how detectors reach them.

Only data crosses: arrays, numbers, texts, lists and dictionaries. So a detector cannot tell in
which process, or behind which adapter, a subject lives.
"""

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any, Protocol

import numpy as np
import pytest

from .plain import duplicated
from .problems import nearest

NAMES_BY_LEVEL = {
    1: ("GPTConfig", "init_params", "gpt_forward", "softmax", "layer_norm", "gelu"),
    2: (
        "cross_entropy",
        "loss_and_grads",
        "accumulate_grads",
        "clip_grads",
        "init_adamw",
        "adamw_step",
        "learning_rate",
        "get_batch",
        "train",
        "evaluate",
        "token_log_probs",
    ),
    3: ("sample_next", "generate", "init_cache", "forward_cached"),
    4: ("apply_rotary",),
    5: (
        "build_vocabulary",
        "encode",
        "decode",
        "split_data",
        "save_checkpoint",
        "load_checkpoint",
        "load_gpt2",
    ),
}
"""1 the forward pass, 2 training, 3 generation, 4 modern parts (which are asked for through
`GPTConfig` as well), 5 data and files."""

NAMES = tuple(name for names in NAMES_BY_LEVEL.values() for name in names)


class GPT(Protocol):
    """What the `gpt` fixture gives a detector."""

    GPTConfig: Callable[..., Any]
    """(vocab_size, d_model, n_layers, n_heads, max_seq_len, tie_word_embeddings=True, dropout=0.0,
    n_kv_heads=None, rotary=False, rope_theta=10000.0, scale_residual_init=False) -> frozen
    configuration."""
    init_params: Callable[..., dict[str, Any]]
    """(cfg, seed=0) -> tree of parameters."""
    gpt_forward: Callable[..., Any]
    """(params, cfg, token_ids [B, T], return_attn=False, dropout_seed=None) -> logits [B, T, V],
    and with return_attn also a list of weights [B, H, T, T], one a layer."""
    softmax: Callable[..., Any]
    """(x, axis=-1) -> weights of the same shape."""
    layer_norm: Callable[..., Any]
    """(x [..., C], g [C], b [C], eps=1e-5) -> [..., C]."""
    gelu: Callable[..., Any]
    """(x) -> activations of the same shape, tanh form."""

    cross_entropy: Callable[..., float]
    """(logits [B, T, V], targets [B, T]) -> mean over all positions, in nats."""
    loss_and_grads: Callable[..., tuple[float, dict[str, Any]]]
    """(params, cfg, token_ids [B, T], targets [B, T], dropout_seed=None) -> loss and a tree like
    params."""
    accumulate_grads: Callable[..., tuple[float, dict[str, Any]]]
    """(params, cfg, token_ids [B, T], targets [B, T], micro_batch_size, dropout_seed=None) -> loss
    and gradients of the whole batch, a few rows at a time."""
    clip_grads: Callable[..., tuple[dict[str, Any], float]]
    """(grads, max_norm) -> clipped gradients and their global norm before."""
    init_adamw: Callable[..., dict[str, Any]]
    """(params) -> state before the first step."""
    adamw_step: Callable[..., tuple[dict[str, Any], dict[str, Any]]]
    """(params, grads, state, lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1) -> new params and
    state."""
    learning_rate: Callable[..., float]
    """(step, max_lr, warmup_steps, total_steps, min_lr=0.0) -> rate of this step, counted from
    0."""
    get_batch: Callable[..., tuple[np.ndarray, np.ndarray]]
    """(data [N], batch_size, seq_len, seed) -> inputs and targets, both [batch_size, seq_len]."""
    train: Callable[..., tuple[dict[str, Any], list[float]]]
    """(params, cfg, data, steps, batch_size=8, seq_len=None, micro_batch_size=None, max_lr=1e-3,
    min_lr=None, warmup_steps=0, betas=(0.9, 0.95), weight_decay=0.1, max_norm=1.0, only=None,
    seed=0, on_step=None) -> trained params and the losses, each from before its step. `only` names
    the parts of the tree that are trained, such as ("w_lm", "blocks.0.attn")."""
    evaluate: Callable[..., float]
    """(params, cfg, data [N], batch_size=8, seq_len=None) -> mean loss over every token of data
    but the first, in windows that do not overlap."""
    token_log_probs: Callable[..., np.ndarray]
    """(params, cfg, token_ids [B, T]) -> log-probability of each token but the first, given those
    before it, [B, T - 1]."""

    sample_next: Callable[..., np.ndarray]
    """(logits [B, V], temperature=1.0, top_k=None, top_p=None, seed=0) -> token ids [B]."""
    generate: Callable[..., np.ndarray]
    """(params, cfg, token_ids [B, T], max_new_tokens, temperature=1.0, top_k=None, top_p=None,
    stop_token=None, seed=0, use_cache=True) -> prompts and what follows, [B, T + n]."""
    init_cache: Callable[..., Any]
    """(cfg, batch_size, dtype="float64") -> empty cache, a tree of arrays."""
    forward_cached: Callable[..., tuple[np.ndarray, Any]]
    """(params, cfg, token_ids [B, T], cache) -> logits [B, T, V] of these tokens, which follow the
    cached ones, and the cache with them."""

    apply_rotary: Callable[..., np.ndarray]
    """(x [..., T, D], start=0, theta=10000.0) -> x turned by the angles of positions start to
    start + T - 1; channel i is paired with channel i + D / 2."""

    build_vocabulary: Callable[..., str]
    """(text) -> its characters, each once, sorted."""
    encode: Callable[..., np.ndarray]
    """(text, vocabulary) -> token ids [N]."""
    decode: Callable[..., str]
    """(token_ids [N], vocabulary) -> text."""
    split_data: Callable[..., tuple[np.ndarray, np.ndarray]]
    """(data [N], validation=0.1) -> training part and validation part."""
    save_checkpoint: Callable[..., None]
    """(path of an .npz file, params, cfg)."""
    load_checkpoint: Callable[..., tuple[dict[str, Any], Any]]
    """(path of an .npz file) -> params, cfg."""
    load_gpt2: Callable[..., tuple[dict[str, Any], Any]]
    """(path of a .safetensors or .npz file laid out like GPT-2, n_heads=None) -> params, cfg."""


class Offer:
    """A subject's module, seen through the contract. Asking for a name that it lacks skips the
    test: a detector that cannot be run is not failed."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name not in NAMES:
            raise AttributeError(f"the contract has no name {name}")
        value = getattr(self._module, name, None)
        if value is None:
            near = nearest(name, (n for n in vars(self._module) if not n.startswith("_")))
            pytest.skip(f"{name} is not offered{near.replace(';', ',')}")

        def call_subject(*args: Any, **kwargs: Any) -> Any:
            return duplicated(value(*duplicated(args), **duplicated(kwargs)))

        def ask(*args: Any, **kwargs: Any) -> Any:
            try:
                return call_subject(*args, **kwargs)
            except NotOffered as missing:
                reason = f"{missing} is not offered"
            except TypeError as error:
                if (argument := _unknown_argument(error)) is None:
                    raise
                reason = f"{argument} is not offered"
            pytest.skip(reason)

        return ask


class NotOffered(Exception):
    """Raised by an adapter that is asked for what the implementation behind it does not have."""


_UNKNOWN = re.compile(r"got an unexpected keyword argument '(\w+)'")


def _unknown_argument(error: TypeError) -> str | None:
    """The argument that the subject's own function does not know, if that is what was wrong."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_name != "call_subject":
        trace = trace.tb_next
    known = trace is None or trace.tb_next is not None  # it was called, and something in it raised
    found = _UNKNOWN.search(str(error))
    return None if known or found is None else found[1]


def raised_by_subject(error: BaseException) -> bool:
    """Whether an exception came out of a subject's code, and not of the test that called it."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_name == "call_subject":
            return trace.tb_next is not None
        trace = trace.tb_next
    return False
