"""PyTorch modules in one of the usual layouts: names of the state dict <-> the contract's tree.

Imported only for a subject that has imported PyTorch itself. A model is built in double precision
and without dropout; its gradients are autograd's. Every array of the tree must have its place in
the state dict and the other way round; only mask buffers may be left over.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch.nn import Module

from ..problems import Problem, said
from .generation import generation
from .layouts import Layout
from .shape import (
    PROBE,
    PROBE_IDS,
    Sizes,
    classes,
    configuration,
    cross_entropy_of,
    empty_tree,
    is_exact_gelu,
    pick,
    put,
    shapes_of,
    short,
    the_logits,
)

OUTSIDE = {"wte": "wte.weight", "wpe": "wpe.weight", "ln_f.g": "ln_f.weight", "ln_f.b": "ln_f.bias"}
INSIDE = {
    "ln1.g": "ln_1.weight",
    "ln1.b": "ln_1.bias",
    "attn.w_qkv": "attn.c_attn.weight",
    "attn.b_qkv": "attn.c_attn.bias",
    "attn.w_o": "attn.c_proj.weight",
    "attn.b_o": "attn.c_proj.bias",
    "ln2.g": "ln_2.weight",
    "ln2.b": "ln_2.bias",
    "mlp.w1": "mlp.c_fc.weight",
    "mlp.b1": "mlp.c_fc.bias",
    "mlp.w2": "mlp.c_proj.weight",
    "mlp.b2": "mlp.c_proj.bias",
}
"""Path in the tree -> their name, without "transformer." and "h.0."."""

HEAD = "lm_head.weight"
BUFFERS = (".attn.bias", ".attn.masked_bias")
"""Endings of entries that are masks, not parameters."""

ACTIVATIONS = ("gelu", "act", "activation")

MODELS_KEPT = 4


def adapt(layout: Layout, module: ModuleType) -> dict[str, Any] | None:
    """The names that a model of this layout offers; None if the module has none."""
    for name, make in layout.makers(
        module, [c for c in classes(module) if issubclass(c, torch.nn.Module)]
    ):
        try:
            model = make(PROBE)
        except Exception as error:
            if "GPT" in name:
                raise Problem(f"{name} cannot be built: {said(error)}") from error
            continue  # a part of a model, made of the same configuration
        if any(key.startswith("transformer.h.0.") for key in model.state_dict()):
            return Adapter(layout, make).names()
    return None


class Adapter:
    """One class of models, looked at once with a small one."""

    def __init__(self, layout: Layout, make: Any) -> None:
        torch.set_num_threads(1)
        self.layout = layout
        self.make = make
        self.tied = True
        self.models = lru_cache(maxsize=MODELS_KEPT)(self._model)
        model = self.model(PROBE)
        own = dict(model.named_parameters(remove_duplicate=False))
        self.tied = HEAD not in own or own[HEAD] is own.get("transformer.wte.weight")
        matrix = own.get("transformer.h.0.attn.c_attn.weight")
        # torch.nn.Linear keeps its weight so; a Conv1D as the contract does.
        self.output_by_input = matrix is None or matrix.shape[0] > matrix.shape[1]
        self.read(model, PROBE)  # tells at once what is missing or has another shape
        self.maps_from = self._source_of_maps()

    def names(self) -> dict[str, Any]:
        """What the model offers."""
        names: dict[str, Any] = {
            "GPTConfig": configuration(self.tied),
            "init_params": lambda cfg, seed=0: self.read(self._model(cfg, seed), cfg),
            "gpt_forward": self.forward_with_maps if self.maps_from else self.forward,
            "loss_and_grads": self.loss_and_grads,
        }
        if self.layout.own_loss and isinstance(getattr(self.model(PROBE), "lm_head", None), Module):
            names["cross_entropy"] = self.cross_entropy
        if self.activation(self.model(PROBE)) and not is_exact_gelu(self.gelu):
            names["gelu"] = self.gelu
        if callable(getattr(self.model(PROBE), "generate", None)):
            params = self.read(self.model(PROBE), PROBE)
            knows = self.layout.generate_knows(self.model(PROBE))
            names |= generation(knows, self.call_generate, params)
        return names

    def _model(self, cfg: Sizes, seed: int = 0) -> Any:
        torch.manual_seed(seed)
        return self.make(cfg).double().eval()

    def model(self, cfg: Sizes) -> Any:
        """A model of these sizes, whose parameters are nobody's in particular."""
        return self.models(cfg)

    def entries(self, model: Any) -> Iterator[tuple[str, torch.Tensor]]:
        """The state dict without masks."""
        for name, tensor in model.state_dict().items():
            if not name.endswith(BUFFERS):
                yield name, tensor

    def places(self, cfg: Sizes) -> dict[str, str]:
        """Their name of every array -> the path in the tree."""
        start = "transformer."
        places = {start + name: path for path, name in OUTSIDE.items()}
        for layer in range(cfg.n_layers):
            for path, name in INSIDE.items():
                places[f"{start}h.{layer}.{name}"] = f"blocks.{layer}.{path}"
        return {**places, HEAD: "wte" if self.tied else "w_lm"}

    def turned(self, path: str, array: Any) -> Any:
        """As the contract has it, or back again."""
        linear = path == "w_lm" or (self.output_by_input and ".w" in path)
        return array.T if linear else array

    def placed(self, named: dict[str, Any], cfg: Sizes, what: str) -> dict[str, Any]:
        """Arrays by their names -> the contract's tree."""
        places, shapes = self.places(cfg), shapes_of(cfg)
        found: dict[str, np.ndarray] = {}
        for name, array in named.items():
            if name not in places:
                raise Problem(
                    f"{what} has {name!r}, which the layout does not have; rename it, or put an "
                    "adapter.py beside the file: bugkit adapter nanogpt"
                )
            path = places[name]
            wanted = shapes[short(path)]
            turned = np.array(self.turned(path, array))
            if turned.shape != wanted:
                raise Problem(
                    f"{name} has shape {tuple(array.shape)}; expected is "
                    f"{tuple(self.turned(path, np.empty(wanted)).shape)}"
                )
            found.setdefault(path, turned)
        for name, path in places.items():
            if path not in found and not name.endswith(".bias"):
                raise Problem(f"{what} has no {name!r}")
        tree = empty_tree(cfg.n_layers)
        for path, array in found.items():
            put(tree, path, array)
        return tree

    def read(self, model: Any, cfg: Sizes) -> dict[str, Any]:
        """The parameters of a model as a tree."""
        arrays = {name: tensor.numpy() for name, tensor in self.entries(model)}
        return self.placed(arrays, cfg, "the state dict")

    def with_params(self, params: dict[str, Any], cfg: Sizes) -> Any:
        """A model with these parameters, in their precision."""
        return self.fill(self.model(cfg), params, cfg)

    def fill(self, model: Any, params: dict[str, Any], cfg: Sizes) -> Any:
        """The model, with these parameters."""
        model.to(torch.float32 if params["wte"].dtype == np.float32 else torch.float64)
        places = self.places(cfg)
        with torch.no_grad():
            for name, tensor in self.entries(model):
                array = self.turned(places[name], pick(params, places[name]))
                tensor.copy_(torch.from_numpy(np.ascontiguousarray(array)))
        return model

    def run(self, model: Any, token_ids: np.ndarray) -> Any:
        """Logits [B, T, V], as a tensor."""
        return self.layout.logits(model, torch.from_numpy(np.array(token_ids, dtype=np.int64)))

    def forward(self, params: dict[str, Any], cfg: Sizes, token_ids: np.ndarray) -> np.ndarray:
        """gpt_forward of a model that does not show its weights of attention."""
        with torch.no_grad():
            logits = self.run(self.with_params(params, cfg), token_ids).numpy()
        return the_logits(logits, cfg.vocab_size)

    def forward_with_maps(
        self, params: dict[str, Any], cfg: Sizes, token_ids: np.ndarray, return_attn: bool = False
    ) -> Any:
        """gpt_forward."""
        if not return_attn:
            return self.forward(params, cfg, token_ids)
        # A model of its own: what it takes to see the weights stays within.
        model = self.fill(self._model(cfg), params, cfg)
        with torch.no_grad():
            logits, maps = self.layout.maps(model, self.run, token_ids)
        return logits.numpy(), maps

    def _source_of_maps(self) -> bool:
        B, T = PROBE_IDS.shape
        try:
            with torch.no_grad():
                _, maps = self.layout.maps(self._model(PROBE), self.run, PROBE_IDS)
        except Exception:
            return False
        return [m.shape for m in maps] == [(B, PROBE.n_heads, T, T)] * PROBE.n_layers

    def loss_and_grads(
        self, params: dict[str, Any], cfg: Sizes, token_ids: np.ndarray, targets: np.ndarray
    ) -> tuple[float, dict[str, Any]]:
        """The model's own loss if it has one, and the gradients that autograd has of it."""
        model = self.with_params(params, cfg)
        model.zero_grad(set_to_none=True)
        ids, wanted = (torch.from_numpy(np.array(a, dtype=np.int64)) for a in (token_ids, targets))
        logits = self.run(model, token_ids)
        loss = self.layout.loss(model, ids, wanted)
        if loss is None:
            value, gradient = cross_entropy_of(logits.detach().numpy(), np.asarray(targets))
            logits.backward(torch.from_numpy(gradient).to(logits.dtype))
        else:
            value = float(loss.detach())
            loss.backward()
        grads = {
            name: np.zeros(tuple(tensor.shape)) if tensor.grad is None else tensor.grad.numpy()
            for name, tensor in model.named_parameters()
        }
        return value, self.placed(grads, cfg, "the gradient")

    def cross_entropy(self, logits: np.ndarray, targets: np.ndarray) -> float:
        """The model's own loss, with these logits in place of what its head gives."""
        V = logits.shape[-1]
        given = torch.from_numpy(np.array(logits)).reshape(-1, *logits.shape[-2:])
        wanted = torch.from_numpy(np.array(targets, dtype=np.int64)).reshape(given.shape[:-1])
        model = self._model(replace(PROBE, vocab_size=V, max_seq_len=given.shape[1], n_layers=1))
        model.lm_head.register_forward_hook(lambda *_: given)
        with torch.no_grad():
            return float(self.layout.loss(model, torch.zeros_like(wanted), wanted))

    def activation(self, model: Any) -> Any:
        """The module in the perceptron that is the nonlinearity, if it is a module."""
        parts = dict(model.get_submodule("transformer.h.0.mlp").named_children())
        return next((parts[name] for name in ACTIVATIONS if name in parts), None)

    def gelu(self, x: np.ndarray) -> np.ndarray:
        """The activation by itself. Its exact form is as right as that by tanh, and not judged."""
        with torch.no_grad():
            result: np.ndarray = self.activation(self.model(PROBE))(torch.from_numpy(x)).numpy()
        return result

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
        model = self.with_params(params, cfg)
        torch.manual_seed(seed)
        ids = torch.from_numpy(np.array(token_ids, dtype=np.int64))
        with torch.no_grad():
            return self.layout.generate(model, ids, n, options).numpy()
