"""A class MiniGPT(vocab_size, d_model, n_heads, n_layers, block_size, seed) in NumPy.

Its parameters are attributes: tok_emb (V, C), pos_emb (block_size, C), lnf_g, lnf_b, W_lm (C, V),
and in blocks[i] W_qkv (C, 3C), W_o (C, C), W_1, b_1, W_2, b_2, ln1_g, ln1_b, ln2_g, ln2_b.
Attention has no biases, unless there are b_qkv and b_o; W_q, W_k, W_v may stand in place of W_qkv.
The head is its own. A method takes ids [B, T], or a row [T] at a time.

Read off its methods, each only if it can be had without a guess:

    forward     logits
    attention   the weights, if it returns them, whether `forward` calls it or it takes ids itself;
                else those that the class keeps (maps.py, kept.py)
    loss        cross_entropy: `loss` is run with a `forward` that gives the logits asked about
    train_step  loss_and_grads, by the difference that a step makes (see steps.py)
    generate    generate (see generation.py)
"""

from types import ModuleType
from typing import Any

import numpy as np

from ..problems import Problem
from .generation import generation
from .maps import maps_kept, maps_of_ids, maps_within_forward
from .shape import (
    PROBE,
    PROBE_IDS,
    Sizes,
    arguments,
    built,
    classes,
    configuration,
    empty_tree,
    fits,
    in_type_of,
    pick,
    put,
    shapes_of,
    the_logits,
)
from .steps import gradients_by_steps

NAME = "a MiniGPT class"

WANTED = ("vocab_size", "d_model", "n_heads", "n_layers", "block_size")

OUTSIDE = {"wte": "tok_emb", "wpe": "pos_emb", "ln_f.g": "lnf_g", "ln_f.b": "lnf_b", "w_lm": "W_lm"}
INSIDE = {
    "ln1.g": "ln1_g",
    "ln1.b": "ln1_b",
    "attn.w_qkv": "W_qkv",
    "attn.b_qkv": "b_qkv",
    "attn.w_o": "W_o",
    "attn.b_o": "b_o",
    "ln2.g": "ln2_g",
    "ln2.b": "ln2_b",
    "mlp.w1": "W_1",
    "mlp.b1": "b_1",
    "mlp.w2": "W_2",
    "mlp.b2": "b_2",
}
"""Path in the tree -> their name."""

OPTIONAL = ("ln_f.b", "ln1.b", "attn.b_qkv", "attn.b_o", "ln2.b", "mlp.b1", "mlp.b2")

SEPARATE = ("W_q", "W_k", "W_v")


def adapt(module: ModuleType) -> dict[str, Any] | None:
    """The names that such a class offers; None if the module has none."""
    for cls in classes(module):
        if set(WANTED) <= set(arguments(cls)):
            return Adapter(cls).names()
    return None


class Adapter:
    """One class, looked at once with a small model."""

    def __init__(self, cls: type) -> None:
        self.cls = cls
        model = built(lambda: self.model(PROBE), f"{cls.__name__}{PROBE}")
        self.read(model, PROBE)  # tells at once what is missing or has another shape
        self.by_rows = not self._takes_batches()
        self.keeps: str | None = None
        self.maps_from = self._source_of_maps()

    def names(self) -> dict[str, Any]:
        """What the class offers."""
        names = {
            "GPTConfig": configuration(tied=False),
            "init_params": lambda cfg, seed=0: self.read(self.model(cfg, seed), cfg),
            "gpt_forward": self.forward_with_maps if self.maps_from else self.forward,
        }
        if self._loss_calls_forward():
            names["cross_entropy"] = self.cross_entropy
        names |= gradients_by_steps(self)
        params = self.read(self.model(PROBE), PROBE)
        if callable(method := getattr(self.cls, "generate", None)):
            names |= generation(arguments(method), self.call_generate, params)
        return names

    def call_generate(
        self,
        params: dict[str, Any],
        cfg: Sizes,
        token_ids: np.ndarray,
        n: int,
        options: dict[str, Any],
        seed: int,
    ) -> Any:
        """generate(prompt, n) of a model with these parameters and this seed."""
        np.random.seed(seed)
        model = self.with_params(params, cfg, seed)
        if "seed" in arguments(model.generate):
            options = {**options, "seed": seed}
        prompt = token_ids if token_ids.ndim == 2 else token_ids.tolist()
        try:
            return model.generate(prompt, n, **options)
        except (AttributeError, TypeError):
            return model.generate(token_ids, n, **options)

    def model(self, cfg: Sizes, seed: int = 0) -> Any:
        """A new one of these sizes."""
        given = {
            "vocab_size": cfg.vocab_size,
            "d_model": cfg.d_model,
            "n_heads": cfg.n_heads,
            "n_layers": cfg.n_layers,
            "block_size": cfg.max_seq_len,
        }
        if "seed" in arguments(self.cls):
            given["seed"] = seed
        else:
            np.random.seed(seed)
        return self.cls(**given)

    def read(self, model: Any, cfg: Sizes) -> dict[str, Any]:
        """Its parameters as a tree."""
        shapes = shapes_of(cfg)
        tree = empty_tree(len(model.blocks))
        for path, name in OUTSIDE.items():
            if (array := get(model, name, path)) is not None:
                put(tree, path, fits(array, shapes[path], name))
        for layer, block in enumerate(model.blocks):
            for path, name in INSIDE.items():
                array = projection(block) if name == "W_qkv" else get(block, name, path)
                if array is not None:
                    fitting = fits(array, shapes[path], f"blocks[{layer}][{name!r}]")
                    put(tree, f"blocks.{layer}.{path}", fitting)
        return tree

    def with_params(self, params: dict[str, Any], cfg: Sizes, seed: int = 0) -> Any:
        """A model with these parameters, in the precision that it has itself."""
        model = self.model(cfg, seed)
        for path, name in OUTSIDE.items():
            if has(model, name):
                get(model, name, path)[...] = pick(params, path)
        for block, parts in zip(model.blocks, params["blocks"], strict=True):
            for path, name in INSIDE.items():
                if has(block, name):
                    get(block, name, path)[...] = pick(parts, path)
                elif name == "W_qkv":
                    columns = np.split(pick(parts, path), 3, axis=1)
                    for part, new in zip(SEPARATE, columns, strict=True):
                        get(block, part, path)[...] = new
        return model

    def run(self, model: Any, token_ids: np.ndarray) -> np.ndarray:
        """Logits [B, T, V]."""
        V = model.W_lm.shape[-1]
        if self.by_rows:
            return np.stack([the_logits(model.forward(row), V) for row in token_ids])
        return the_logits(model.forward(token_ids), V)

    def forward(self, params: dict[str, Any], cfg: Sizes, token_ids: np.ndarray) -> np.ndarray:
        """gpt_forward of a class that does not show its weights of attention."""
        logits = self.run(self.with_params(params, cfg), np.asarray(token_ids))
        return in_type_of(params, logits)

    def forward_with_maps(
        self, params: dict[str, Any], cfg: Sizes, token_ids: np.ndarray, return_attn: bool = False
    ) -> Any:
        """gpt_forward."""
        if not return_attn:
            return self.forward(params, cfg, token_ids)
        model = self.with_params(params, cfg)
        token_ids = np.asarray(token_ids)
        assert self.maps_from is not None
        maps = self.maps_from(self, model, token_ids, cfg)
        if maps is None:
            raise Problem("attention returned no weights (B, H, T, T) this time")
        return in_type_of(params, self.run(model, token_ids)), maps

    def cross_entropy(self, logits: np.ndarray, targets: np.ndarray) -> float:
        """`loss` of a model whose forward gives these logits, whatever the ids."""
        value, called = self._loss(np.asarray(logits), np.asarray(targets))
        if not called:
            raise Problem("loss did not call forward this time")
        return value

    def _loss(self, logits: np.ndarray, targets: np.ndarray) -> tuple[float, bool]:
        V = logits.shape[-1]
        flat = logits.ndim != 3 or self.by_rows
        if flat:
            logits, targets = logits.reshape(-1, V), targets.reshape(-1)
            if not self.by_rows:
                logits, targets = logits[None], targets[None]
        C = PROBE.d_model
        model = self.model(Sizes(V, C, 1, PROBE.n_heads, targets.shape[-1]))
        calls = []

        def forward(*_args: Any, **_more: Any) -> np.ndarray:
            calls.append(1)
            return logits

        model.forward = forward
        value = model.loss(np.zeros_like(targets), targets)
        value = value[0] if isinstance(value, tuple) else value
        return float(value), bool(calls)

    def _loss_calls_forward(self) -> bool:
        rng = np.random.default_rng(0)
        try:
            _, called = self._loss(rng.normal(size=(2, 5, 7)), rng.integers(0, 7, (2, 5)))
        except Exception:
            return False
        return called

    def _takes_batches(self) -> bool:
        model = self.model(PROBE)
        try:
            logits = the_logits(model.forward(PROBE_IDS), PROBE.vocab_size)
        except Exception as error:
            reason = error
        else:
            if logits.shape == (*PROBE_IDS.shape, PROBE.vocab_size):
                return True
            reason = Problem(f"forward of ids {PROBE_IDS.shape} gives shape {logits.shape}")
        try:
            row = the_logits(model.forward(PROBE_IDS[0]), PROBE.vocab_size)
        except Exception:
            raise reason from None
        if row.shape != (PROBE_IDS.shape[1], PROBE.vocab_size):
            raise reason
        return False

    def _source_of_maps(self) -> Any:
        for source in (maps_within_forward, maps_of_ids, maps_kept):
            try:
                if source(self, self.model(PROBE), PROBE_IDS, PROBE) is not None:
                    return source
            except Exception:
                continue
        return None


def has(owner: Any, name: str) -> bool:
    """Whether a block, or the model, has this array."""
    return name in owner if isinstance(owner, dict) else hasattr(owner, name)


def get(owner: Any, name: str, path: str) -> Any:
    """The array; None for a bias that there need not be."""
    if has(owner, name):
        return owner[name] if isinstance(owner, dict) else getattr(owner, name)
    if path in OPTIONAL:
        return None
    raise Problem(f"read as {NAME}, but it has no {name}")


def projection(block: Any) -> np.ndarray:
    """W_qkv, or the three matrices side by side."""
    if has(block, "W_qkv") or not all(has(block, name) for name in SEPARATE):
        return np.asarray(get(block, "W_qkv", "attn.w_qkv"))
    return np.concatenate([get(block, name, "") for name in SEPARATE], axis=1)
