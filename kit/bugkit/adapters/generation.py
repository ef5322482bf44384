"""The contract's generate, in terms of somebody's method `generate(prompt, n, ...)`.

What the method can be asked for is read from the names of its arguments; the rest (top-p, a stop
token) is not offered. It is tried once, to learn whether it takes a batch, returns the prompt as
well, goes on beyond the longest sequence, and chooses the likeliest token or draws one.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..contract import NotOffered
from .shape import PROBE, PROBE_IDS, Sizes

Call = Callable[[dict[str, Any], Sizes, np.ndarray, int, dict[str, Any], int], Any]
"""(params, cfg, ids [B, T] or [T], n, options, seed) -> what the method returned, as an array."""

NEW = 3
"""How many tokens the trials ask for; not as many as the prompt has."""

STOPS = ("stop_token", "eos_token", "eos_id", "stop_id")


def generation(known: tuple[str, ...], call: Call, params: dict[str, Any]) -> dict[str, Any]:
    """generate, if the method can be called as expected: `known` are the names of its arguments,
    `params` the parameters of the probe."""
    for ids in (PROBE_IDS, PROBE_IDS[0]):
        try:
            tried = Generation(call, known, batches=ids.ndim == 2)
            tried.learn(params)
        except Exception:
            continue
        return {"generate": tried.generate}
    return {}


class Generation:
    """One method, and what was learnt of it."""

    def __init__(self, call: Call, known: tuple[str, ...], batches: bool) -> None:
        self.call = call
        self.known = known
        self.batches = batches
        self.greedy = False
        self.beyond = True

    def learn(self, params: dict[str, Any]) -> None:
        """Try it. Raises whatever it raises."""
        ways = {tuple(self._run(params, PROBE, PROBE_IDS, NEW, {}, s).ravel()) for s in range(4)}
        self.greedy = len(ways) == 1
        try:
            self._run(params, PROBE, PROBE_IDS, PROBE.max_seq_len, {}, 0)
        except Exception:
            self.beyond = False

    def generate(
        self,
        params: dict[str, Any],
        cfg: Sizes,
        token_ids: np.ndarray,
        max_new_tokens: int,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        stop_token: int | None = None,
        seed: int = 0,
        use_cache: bool = True,
    ) -> np.ndarray:
        """The contract's generate. Without a cache of its own it is the same with and without."""
        token_ids = np.asarray(token_ids)
        if not self.beyond and token_ids.shape[1] + max_new_tokens > cfg.max_seq_len:
            raise NotOffered("generation beyond max_seq_len")
        options = self._choice(temperature)
        for name, value in (("top_k", top_k), ("top_p", top_p)):
            if value is not None and name not in options:
                options[self._name(name, (name,))] = value
        if stop_token is not None:
            options[self._name("stop_token", STOPS)] = stop_token
        if "use_cache" in self.known:
            options["use_cache"] = use_cache
        return self._run(params, cfg, token_ids, max_new_tokens, options, seed)

    def _name(self, what: str, names: tuple[str, ...]) -> str:
        for name in names:
            if name in self.known:
                return name
        raise NotOffered(what)

    def _choice(self, temperature: float) -> dict[str, Any]:
        """Options that make it draw at this temperature, or take the likeliest at 0."""
        if temperature == 0.0:
            for name, value in (("greedy", True), ("do_sample", False), ("sample", False)):
                if name in self.known:
                    return {name: value}
            if self.greedy and "temperature" not in self.known:
                return {}
            return {self._name("temperature=0", ("top_k",)): 1}
        options: dict[str, Any] = {
            name: value
            for name, value in (("greedy", False), ("do_sample", True), ("sample", True))
            if name in self.known
        }
        if "temperature" in self.known:
            options["temperature"] = temperature
        elif temperature != 1.0 or (self.greedy and not options):
            raise NotOffered(f"temperature={temperature:g}")
        return options

    def _run(
        self,
        params: dict[str, Any],
        cfg: Sizes,
        token_ids: np.ndarray,
        n: int,
        options: dict[str, Any],
        seed: int,
    ) -> np.ndarray:
        if self.batches:
            return self._whole(self.call(params, cfg, token_ids, n, options, seed), token_ids, n)
        rows = [
            self._whole(self.call(params, cfg, row, n, options, seed + i), row, n)
            for i, row in enumerate(token_ids)
        ]
        return np.stack(rows)

    def _whole(self, result: Any, token_ids: np.ndarray, n: int) -> np.ndarray:
        """Prompt and continuation, also where only the latter was returned."""
        ids = np.asarray(result)
        if ids.ndim == token_ids.ndim + 1 and len(ids) == 1:
            ids = ids[0]
        T = token_ids.shape[-1]
        if ids.shape[:-1] != token_ids.shape[:-1] or ids.shape[-1] not in (n, T + n):
            raise ValueError(f"generate returned shape {ids.shape} for a prompt {token_ids.shape}")
        if ids.shape[-1] == n and n != T + n and not np.array_equal(ids[..., :T], token_ids):
            ids = np.concatenate([token_ids, ids], axis=-1)
        return ids.astype(np.int64)
