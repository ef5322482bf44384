"""The layouts of PyTorch models: how one is built, and how it is called.

All three name their parts alike (transformer.h.0.attn.c_attn.weight); they differ in the
configuration and in what forward takes and returns.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import torch

from .shape import Sizes, arguments

Make = Callable[[Sizes], Any]
Run = Callable[[Any, np.ndarray], Any]


@dataclass(frozen=True, slots=True)
class Layout:
    """One of them."""

    name: str
    configuration: Callable[[ModuleType, type], Callable[..., Any] | None]
    """What makes a configuration for a class of models; None if it is of another layout."""
    own_loss: bool
    """Whether forward(ids, targets) gives logits and the mean loss of these targets."""

    def makers(self, module: ModuleType, candidates: Sequence[type]) -> list[tuple[str, Make]]:
        """The classes that may be whole models, with what builds one; likely ones first."""

        def unlikely(cls: type) -> tuple[bool, bool]:
            return "LMHead" not in cls.__name__, "GPT" not in cls.__name__

        return [
            (cls.__name__, _maker(cls, config))
            for cls in sorted(candidates, key=unlikely)
            if (config := self.configuration(module, cls)) is not None
        ]

    def logits(self, model: Any, ids: Any) -> Any:
        """Logits [B, T, V]."""
        # Given targets, nanoGPT scores every position; without, only the last one.
        result = model(ids, ids) if self.own_loss else model(ids)
        if isinstance(result, dict):  # as are those of the library
            return result["logits"]
        return result[0] if isinstance(result, tuple) else result

    def loss(self, model: Any, ids: Any, targets: Any) -> Any:
        """The model's own mean loss; None if it takes no targets of this sort."""
        return model(ids, targets)[1] if self.own_loss else None

    def maps(self, model: Any, run: Run, token_ids: np.ndarray) -> tuple[Any, list[np.ndarray]]:
        """Logits and the weights of attention of each layer, [B, H, T, T].

        Those that the model returns if it is asked for them; else those that go through the
        dropout of the weights, on the path without the fused kernel.
        """
        if _is_of_library(model):
            model.set_attn_implementation("eager")
            out = model(torch.from_numpy(np.array(token_ids)), output_attentions=True)
            return out.logits, [weights.numpy() for weights in out.attentions]
        maps: list[np.ndarray] = []
        for block in model.transformer.h:
            if getattr(block.attn, "flash", False):
                T = token_ids.shape[1]
                mask = torch.tril(torch.ones(T, T))[None, None]
                block.attn.flash = False
                block.attn.register_buffer("bias", mask, persistent=False)
            block.attn.attn_dropout.register_forward_hook(
                lambda _module, inputs, _output: maps.append(inputs[0].numpy())
            )
        return run(model, token_ids), maps

    def generate_knows(self, model: Any) -> tuple[str, ...]:
        """What generate can be asked for."""
        return HF_GENERATE if _is_of_library(model) else arguments(model.generate)

    def generate(self, model: Any, ids: Any, n: int, options: dict[str, Any]) -> Any:
        """Prompts and what follows."""
        if not _is_of_library(model):
            return model.generate(ids, n, **options)
        # What is not asked for is switched off: there are defaults.
        usual = {"do_sample": True, "top_k": 0, "top_p": 1.0, "pad_token_id": 0}
        model.generation_config.eos_token_id = None
        mask = torch.ones_like(ids)
        return model.generate(
            ids, attention_mask=mask, max_new_tokens=n, min_new_tokens=n, **{**usual, **options}
        )


HF_GENERATE = ("do_sample", "temperature", "top_k", "top_p", "use_cache")
"""Among all that generate of the library takes."""


def _is_of_library(model: Any) -> bool:
    """Whether generate is that of the library transformers, which hides its arguments."""
    return hasattr(model, "generation_config")


def _maker(cls: type, config: Callable[..., Any]) -> Make:
    def make(cfg: Sizes) -> Any:
        return cls(config(cfg))

    return make


def _takes_one(cls: type) -> bool:
    """Whether a model is made of one thing, its configuration."""
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):
        return False
    needed = [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    return len(needed) == 1


def _nanogpt(module: ModuleType, cls: type) -> Callable[..., Any] | None:
    """A configuration with block_size, n_embd, ..., dropout and bias."""
    for config in vars(module).values():
        known = set(arguments(config)) if isinstance(config, type) else set()
        if {"block_size", "vocab_size", "n_layer", "n_head", "n_embd"} <= known and _takes_one(cls):
            return lambda cfg, config=config, known=known: config(
                **{name: value for name, value in _values(cfg).items() if name in known}
            )
    return None


def _mingpt(module: ModuleType, cls: type) -> Callable[..., Any] | None:
    """What get_default_config gives, or anything with attributes where no configuration is."""
    if not _takes_one(cls):
        return None
    if not hasattr(cls, "get_default_config"):
        others = (_nanogpt(module, cls), _hugging_face(module, cls))
        if any(others) or "GPT" not in cls.__name__:
            return None

    def configuration(cfg: Sizes) -> Any:
        default = getattr(cls, "get_default_config", SimpleNamespace)
        config = default()
        for name, value in _values(cfg).items():
            setattr(config, name, value)
        return config

    return configuration


def _hugging_face(module: ModuleType, cls: type) -> Callable[..., Any] | None:
    """A configuration with n_positions, n_embd, ..., and the probabilities of dropout."""
    configs = [getattr(cls, "config_class", None), *vars(module).values()]
    for config in configs:
        known = arguments(config) if isinstance(config, type) else ()
        if "n_embd" in known and set(LENGTHS) & set(known) and _takes_one(cls):
            return lambda cfg, config=config, known=known: config(
                **{name: value for name, value in _values(cfg).items() if name in known}
            )
    return None


LENGTHS = ("n_positions", "n_ctx", "max_position_embeddings")


def _values(cfg: Sizes) -> dict[str, Any]:
    """Sizes under every name in use, and nothing dropped."""
    return {
        "model_type": None,
        "vocab_size": cfg.vocab_size,
        "n_embd": cfg.d_model,
        "n_layer": cfg.n_layers,
        "n_head": cfg.n_heads,
        "block_size": cfg.max_seq_len,
        **dict.fromkeys(LENGTHS, cfg.max_seq_len),
        "bias": True,
        "dropout": 0.0,
        "embd_pdrop": 0.0,
        "resid_pdrop": 0.0,
        "attn_pdrop": 0.0,
    }


LAYOUTS = (
    Layout("a PyTorch model laid out like minGPT", _mingpt, own_loss=True),
    Layout("a PyTorch model laid out like nanoGPT", _nanogpt, own_loss=True),
    Layout("a PyTorch model laid out like Hugging Face's GPT-2", _hugging_face, own_loss=False),
)
