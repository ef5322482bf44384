"""A class GPT(vocab_size, d_model, num_layers, num_heads, d_ff, max_seq_len, dropout) in NumPy,
made of layers, each with its own backward.

forward(ids) gives logits, backward(grad_logits) fills the gradients, get_parameters() and
get_gradients() give pairs of a name and an array (or a dictionary of them). Names such as
block0.attn.W_q.weight are placed by names.py; the arrays are the model's own, so they are filled
where they are. Linear weights stand output by input, the contract's input by output. Queries, keys
and values are apart, or in one matrix below each other. Biases may be missing; one of the head is
kept at zero, since the contract's GPT has none. The head is tied if there is none, or if it is the
same array as the token embedding.

The loss is the caller's: loss_and_grads hands backward the gradient of the mean cross entropy.
Weights of attention are read where the layers keep them (kept.py). In forward nothing is dropped:
dropout is 0, and the model is in evaluation mode where it has modes. save and load are not read,
since their description does not say what file they make.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from ..problems import Problem
from .generation import generation
from .kept import kept, name_of_kept
from .names import HEAD_BIAS, place_of
from .shape import (
    PARTS,
    PROBE,
    PROBE_IDS,
    Sizes,
    arguments,
    built,
    classes,
    configuration,
    cross_entropy_of,
    empty_tree,
    fits,
    in_type_of,
    pick,
    put,
    shapes_of,
    short,
    the_logits,
    tree_in_type_of,
)

NAME = "a GPT class of layers"

WANTED = ("vocab_size", "d_model", "num_layers", "num_heads", "max_seq_len")
METHODS = ("forward", "get_parameters")
MODES = ("training", "train", "is_training")
"""What an argument of forward that switches dropout on may be called."""

Read = Callable[[np.ndarray], np.ndarray]


def adapt(module: ModuleType) -> dict[str, Any] | None:
    """The names that such a class offers; None if the module has none."""
    for cls in classes(module):
        has_methods = all(callable(getattr(cls, name, None)) for name in METHODS)
        if has_methods and set(WANTED) <= set(arguments(cls)):
            return Adapter(cls).names()
    return None


class Adapter:
    """One class, looked at once with a small model."""

    def __init__(self, cls: type) -> None:
        self.cls = cls
        self.tied = False
        model = built(lambda: self.model(PROBE), f"{cls.__name__}{PROBE}")
        arrays = self.arrays(model)
        head, table = arrays.get("w_lm"), arrays.get("wte")
        self.tied = head is None or (table is not None and np.shares_memory(head, table))
        self.tree(arrays, PROBE)  # tells at once what is missing or has another shape
        self.run(model, PROBE_IDS)
        self.keeps = name_of_kept(model, map_shape(PROBE_IDS, PROBE), PROBE.n_layers)

    def names(self) -> dict[str, Any]:
        """What the class offers."""
        names: dict[str, Any] = {
            "GPTConfig": configuration(self.tied),
            "init_params": self.init_params,
            "gpt_forward": self.forward_with_maps if self.keeps else self.forward,
        }
        if callable(getattr(self.cls, "backward", None)) and hasattr(self.cls, "get_gradients"):
            names["loss_and_grads"] = self.loss_and_grads
        if callable(method := getattr(self.cls, "generate", None)):
            names |= generation(arguments(method), self.call_generate, self.init_params(PROBE))
        return names

    def model(self, cfg: Sizes, seed: int = 0) -> Any:
        """A new one of these sizes, without dropout."""
        given = {
            "vocab_size": cfg.vocab_size,
            "d_model": cfg.d_model,
            "num_layers": cfg.n_layers,
            "num_heads": cfg.n_heads,
            "d_ff": 4 * cfg.d_model,
            "max_seq_len": cfg.max_seq_len,
            "dropout": 0.0,
            "seed": seed,
        }
        known = arguments(self.cls)
        np.random.seed(seed)
        return evaluating(self.cls(**{name: given[name] for name in given if name in known}))

    def arrays(self, model: Any, what: str = "get_parameters") -> dict[str, np.ndarray]:
        """Place of an array (blocks.0.attn.w_q ...) -> the model's own array."""
        pairs = getattr(model, what)()
        found: dict[str, np.ndarray] = {}
        named: dict[str, str] = {}
        for name, array in pairs.items() if isinstance(pairs, dict) else pairs:
            place = place_of(name)
            if place is None:
                raise Problem(
                    f"{what}() gives {name!r}, which names no known part of a GPT; expected are "
                    "names such as token_embedding.weight, block0.attn.W_q.weight or "
                    "lm_head.weight"
                )
            if place in found:
                raise Problem(f"{what}() gives {named[place]!r} and {name!r} for the same part")
            found[place], named[place] = array, name
        return found

    def tree(self, arrays: dict[str, np.ndarray], cfg: Sizes) -> dict[str, Any]:
        """Arrays by their places -> the contract's tree, in arrays of its own."""
        shapes = shapes_of(cfg)

        def read(path: str, needed: bool) -> np.ndarray | None:
            if path not in arrays:
                if needed:
                    raise Problem(f"there is no array for {path} among the parameters")
                return None
            return np.array(self.turned(path, arrays[path], shapes[short(path)]))

        places: dict[str, np.ndarray | None] = {
            path: read(path, needed=True)
            for path in (("wte", "wpe") if self.tied else ("wte", "wpe", "w_lm"))
        }
        for name in ("g", "b"):
            places[f"ln_f.{name}"] = read(f"ln_f.{name}", needed=name == "g")
        for layer in range(cfg.n_layers):
            start = f"blocks.{layer}"
            for part, names in PARTS.items():
                for name in names:
                    path = f"{start}.{part}.{name}"
                    if path in arrays or not name.endswith("qkv"):
                        array = read(path, needed=not name.startswith("b"))
                    else:
                        thirds = [
                            read(f"{start}.attn.{name[0]}_{q}", needed=name == "w_qkv")
                            for q in "qkv"
                        ]
                        some = [np.zeros(cfg.d_model) if t is None else t for t in thirds]
                        absent = all(third is None for third in thirds)
                        array = None if absent else np.concatenate(some, axis=-1)
                    places[path] = array
        tree = empty_tree(cfg.n_layers)
        for path, array in places.items():
            if array is not None:
                put(tree, path, array)
        return tree

    def turned(self, path: str, array: Any, wanted: tuple[int, ...]) -> np.ndarray:
        """A matrix input by output, other arrays as they are; a view, to be read or written."""
        if len(wanted) == 2 and path not in ("wte", "wpe"):
            return fits(array, wanted[::-1], f"the array for {path}").T
        return fits(np.squeeze(array) if np.ndim(array) > 2 else array, wanted, f"that for {path}")

    def with_params(self, params: dict[str, Any], cfg: Sizes, seed: int = 0) -> Any:
        """A model with these parameters."""
        model = self.model(cfg, seed)
        arrays = self.arrays(model)
        shapes = shapes_of(cfg)
        for path, array in arrays.items():
            if path == "w_lm" and self.tied:
                continue
            if path == HEAD_BIAS:
                array[...] = 0.0
                continue
            self.turned(path, array, shapes[short(path)])[...] = wanted_of(params, path)
        return model

    def init_params(self, cfg: Sizes, seed: int = 0) -> dict[str, Any]:
        """The parameters that the model starts from."""
        return self.tree(self.arrays(self.model(cfg, seed)), cfg)

    def run(self, model: Any, token_ids: np.ndarray) -> np.ndarray:
        """Logits [B, T, V] as the model gives them."""
        switch = [name for name in MODES if name in arguments(model.forward)]
        result = model.forward(np.asarray(token_ids), **dict.fromkeys(switch, False))
        return the_logits(result, model_words(self, model))

    def forward(self, params: dict[str, Any], cfg: Sizes, token_ids: np.ndarray) -> np.ndarray:
        """gpt_forward of a class that does not keep its weights of attention."""
        return in_type_of(params, self.run(self.with_params(params, cfg), token_ids))

    def forward_with_maps(
        self, params: dict[str, Any], cfg: Sizes, token_ids: np.ndarray, return_attn: bool = False
    ) -> Any:
        """gpt_forward."""
        model = self.with_params(params, cfg)
        logits = in_type_of(params, self.run(model, token_ids))
        assert self.keeps is not None
        maps = kept(model, map_shape(np.asarray(token_ids), cfg), self.keeps)
        return (logits, maps) if return_attn else logits

    def loss_and_grads(
        self, params: dict[str, Any], cfg: Sizes, token_ids: np.ndarray, targets: np.ndarray
    ) -> tuple[float, dict[str, Any]]:
        """forward, the cross entropy, backward, get_gradients."""
        model = self.with_params(params, cfg)
        for name in ("zero_grad", "zero_gradients", "zero_grads"):
            if callable(reset := getattr(model, name, None)):
                reset()
        logits = self.run(model, token_ids)
        loss, gradient = cross_entropy_of(logits, np.asarray(targets))
        model.backward(gradient.astype(logits.dtype))
        grads = self.arrays(model, "get_gradients")
        missing = [path for path in self.arrays(model) if path not in grads]
        if missing:
            raise Problem(f"get_gradients() has nothing for {missing[0]}")
        if self.tied and "w_lm" in grads and not np.shares_memory(grads["w_lm"], grads["wte"]):
            grads["wte"] = grads["wte"] + grads["w_lm"]
        gradients: dict[str, Any] = tree_in_type_of(params, self.tree(grads, cfg))
        return loss, gradients

    def call_generate(
        self,
        params: dict[str, Any],
        cfg: Sizes,
        token_ids: np.ndarray,
        n: int,
        options: dict[str, Any],
        seed: int,
    ) -> Any:
        """generate of a model with these parameters."""
        model = self.with_params(params, cfg, seed)
        np.random.seed(seed)
        known = arguments(model.generate)
        if "seed" in known:
            options = {**options, "seed": seed}
        if "rng" in known:
            options = {**options, "rng": np.random.default_rng(seed)}
        return model.generate(token_ids, n, **options)


def evaluating(model: Any) -> Any:
    """The model, in evaluation mode if it knows of modes."""
    if callable(switch := getattr(model, "eval", None)):
        switch()
    elif isinstance(getattr(model, "training", None), bool):
        model.training = False
    return model


def map_shape(token_ids: np.ndarray, cfg: Sizes) -> tuple[int, ...]:
    """(B, H, T, T)."""
    B, T = token_ids.shape
    return B, cfg.n_heads, T, T


def model_words(adapter: Adapter, model: Any) -> int:
    """V of a model."""
    return len(adapter.arrays(model)["wte"])


def wanted_of(params: dict[str, Any], path: str) -> np.ndarray:
    """What the contract's tree has for a place, q, k and v apart if need be."""
    stem, _, which = path.rpartition("_")
    if path.startswith("blocks.") and which in ("q", "k", "v"):
        return np.split(pick(params, f"{stem}_qkv"), 3, axis=-1)["qkv".index(which)]
    return pick(params, path)
