"""Training against PyTorch: gradients by autograd, AdamW, clipping, schedule and cross-entropy.

The model is written once more with PyTorch's own operations; what it is given of the correct GPT
is the tree of parameters and the dropout masks. Needs the extra `oracle`.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from bugkit import correct

WHY = "the comparison with autograd needs PyTorch: pip install 'bugkit[oracle]'"
torch = pytest.importorskip("torch", reason=WHY)
F: Any = torch.nn.functional

Params = dict[str, Any]
RandomParams = Callable[[Any, int], Params]

RELATIVE = 1e-9
"""Of a gradient's largest entry. Rounding in float64 gives some 1e-15 here."""

NOTHING = 1e-13
"""What may be left, in float64, of a gradient that is zero in theory, next to gradients near 1."""

STEPS = 50
"""Enough for both moments to have forgotten how they started (0.95 ** 50 is 0.08)."""

LARGE = 1e6
"""Gradients are made that much longer before they are clipped, because PyTorch adds 1e-6 to the
norm that it divides by; next to a norm of 1e6 that is rounding."""

SEED = 5
"""Any other does as well."""

SIZES = {"vocab_size": 11, "d_model": 24, "n_layers": 2, "n_heads": 6, "max_seq_len": 9}
"""Sizes that differ; heads are 4 wide."""

UNTIED = {"tie_word_embeddings": False}
DROPOUT = {"dropout": 0.3}
ROTARY = {"rotary": True, "rope_theta": 50.0}
GROUPED = {"n_kv_heads": 2}

CHOICES: dict[str, dict[str, Any]] = {
    "tied": {},
    "untied": UNTIED,
    "dropout": DROPOUT,
    "rotary": ROTARY,
    "grouped": GROUPED,
    "one key head": {"n_kv_heads": 1},
    "all at once": UNTIED | DROPOUT | ROTARY | GROUPED,
}

choices = pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES.keys())


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """PyTorch on one thread: the models are tiny."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


# Gradients.


@choices
def test_every_gradient_is_that_of_autograd(
    random_params: RandomParams, choice: dict[str, Any]
) -> None:
    cfg = correct.GPTConfig(**SIZES, **choice)
    params, (token_ids, targets) = random_params(cfg, SEED), batch(cfg)
    seed = SEED if cfg.dropout else None
    loss, grads = correct.loss_and_grads(params, cfg, token_ids, targets, seed)
    expected_loss, expected = autograd(params, cfg, token_ids, targets, seed)
    assert loss == pytest.approx(expected_loss, rel=RELATIVE)
    assert_same_gradients(grads, expected)


def test_a_seed_without_dropout_changes_nothing_and_dropout_without_a_seed_neither(
    random_params: RandomParams,
) -> None:
    cfg = correct.GPTConfig(**SIZES)
    dropping = correct.GPTConfig(**SIZES, dropout=0.3)
    params, (token_ids, targets) = random_params(cfg, SEED), batch(cfg)
    plain = correct.loss_and_grads(params, cfg, token_ids, targets)
    np.testing.assert_equal(correct.loss_and_grads(params, cfg, token_ids, targets, SEED), plain)
    np.testing.assert_equal(correct.loss_and_grads(params, dropping, token_ids, targets), plain)


@pytest.mark.parametrize("token", [0, 10], ids=["first word", "last word"])
@choices
def test_a_token_that_fills_the_batch_gets_the_gradient_of_every_place(
    random_params: RandomParams, choice: dict[str, Any], token: int
) -> None:
    cfg = correct.GPTConfig(**SIZES, **choice)
    params, (token_ids, targets) = random_params(cfg, SEED), batch(cfg)
    token_ids = np.full_like(token_ids, token)
    seed = SEED if cfg.dropout else None
    _, grads = correct.loss_and_grads(params, cfg, token_ids, targets, seed)
    _, expected = autograd(params, cfg, token_ids, targets, seed)
    assert_same_gradients(grads, expected)


@pytest.mark.parametrize("length", [1, SIZES["max_seq_len"]], ids=["one token", "longest"])
@choices
def test_gradients_are_those_of_autograd_at_any_length(
    random_params: RandomParams, choice: dict[str, Any], length: int
) -> None:
    cfg = correct.GPTConfig(**SIZES, **choice)
    params, (token_ids, targets) = random_params(cfg, SEED), batch(cfg, 3, length)
    seed = SEED if cfg.dropout else None
    _, grads = correct.loss_and_grads(params, cfg, token_ids, targets, seed)
    _, expected = autograd(params, cfg, token_ids, targets, seed)
    # With one token there is nothing to choose from: queries and keys have no gradient at all.
    assert_same_gradients(grads, expected, vanishing=length == 1)


def test_the_bias_of_the_keys_has_no_gradient_unless_positions_turn_them(
    random_params: RandomParams,
) -> None:
    for choice, vanishes in ((UNTIED, True), (GROUPED, True), (ROTARY, False)):
        cfg = correct.GPTConfig(**SIZES, **choice)
        _, grads = correct.loss_and_grads(random_params(cfg, SEED), cfg, *batch(cfg))
        C, D = cfg.d_model, cfg.d_model // cfg.n_heads
        for block in grads["blocks"]:
            keys = block["attn"]["b_qkv"][C : C + (cfg.n_kv_heads or cfg.n_heads) * D]
            assert bool(np.abs(keys).max() < NOTHING) == vanishes, choice


@pytest.mark.parametrize("micro_batch_size", [1, 2, 3, 6, 7], ids=lambda rows: f"{rows} of 6")
@pytest.mark.parametrize("choice", [{}, UNTIED | ROTARY | GROUPED], ids=["usual", "modern"])
def test_accumulated_gradients_are_those_of_the_whole_batch(
    random_params: RandomParams, choice: dict[str, Any], micro_batch_size: int
) -> None:
    cfg = correct.GPTConfig(**SIZES, **choice)
    params, (token_ids, targets) = random_params(cfg, SEED), batch(cfg, 6)
    loss, grads = correct.accumulate_grads(params, cfg, token_ids, targets, micro_batch_size)
    expected_loss, expected = autograd(params, cfg, token_ids, targets)
    assert loss == pytest.approx(expected_loss, rel=RELATIVE)
    assert_same_gradients(grads, expected)


@pytest.mark.parametrize("micro_batch_size", [2, 4, 5], ids=lambda rows: f"{rows} of 5")
def test_micro_batches_of_unequal_size_count_by_their_rows(
    random_params: RandomParams, micro_batch_size: int
) -> None:
    cfg = correct.GPTConfig(**SIZES)
    params, (token_ids, targets) = random_params(cfg, SEED), batch(cfg, 5)
    loss, grads = correct.accumulate_grads(params, cfg, token_ids, targets, micro_batch_size)
    expected_loss, expected = autograd(params, cfg, token_ids, targets)
    assert loss == pytest.approx(expected_loss, rel=RELATIVE)
    assert_same_gradients(grads, expected)


def test_micro_batches_with_dropout_have_masks_of_their_own(random_params: RandomParams) -> None:
    cfg = correct.GPTConfig(**SIZES, **DROPOUT)
    params, (token_ids, targets) = random_params(cfg, SEED), batch(cfg, 5)
    loss, grads = correct.accumulate_grads(params, cfg, token_ids, targets, 2, SEED)
    parts = [
        (rows, autograd(params, cfg, token_ids[rows], targets[rows], SEED + rows.start))
        for rows in (slice(0, 2), slice(2, 4), slice(4, 5))
    ]
    assert loss == pytest.approx(
        sum(len(token_ids[rows]) / 5 * part for rows, (part, _) in parts), rel=RELATIVE
    )
    expected = {
        path: np.sum([len(token_ids[rows]) / 5 * part[path] for rows, (_, part) in parts], axis=0)
        for path, _ in leaves(params)
    }
    assert_same_gradients(grads, expected)


# Cross-entropy.


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e3, 1e6, 1e150], ids=lambda scale: f"scale {scale:g}")
@pytest.mark.parametrize("shift", [0.0, -1e4, 1e4], ids=lambda shift: f"shift {shift:g}")
def test_cross_entropy_and_its_gradient_are_those_of_pytorch(scale: float, shift: float) -> None:
    rng = np.random.default_rng(SEED)
    logits = scale * rng.normal(size=(2, 5, 7)) + shift
    targets = rng.integers(0, 7, (2, 5))
    theirs = torch.tensor(logits, requires_grad=True)
    expected = F.cross_entropy(theirs.reshape(-1, 7), torch.tensor(targets).reshape(-1))
    expected.backward()
    assert correct.cross_entropy(logits, targets) == pytest.approx(expected.item(), rel=1e-13)
    np.testing.assert_allclose(
        correct.loss.cross_entropy_backward(logits, targets), theirs.grad.numpy(), atol=1e-16
    )


def test_an_impossible_word_costs_nothing_unless_it_comes() -> None:
    logits = np.array([[[1.0, -np.inf, 2.0], [0.5, -np.inf, -1.0]]])
    for targets in ([[0, 2]], [[0, 1]]):
        expected = F.cross_entropy(torch.tensor(logits)[0], torch.tensor(targets)[0]).item()
        assert correct.cross_entropy(logits, np.array(targets)) == pytest.approx(expected)
    assert expected == np.inf


# The optimiser.


@pytest.mark.parametrize("max_norm", [None, 1.0], ids=["not clipped", "clipped"])
@pytest.mark.parametrize("choice", [{}, UNTIED | ROTARY | GROUPED], ids=["usual", "modern"])
def test_fifty_steps_of_training_are_those_of_pytorch(
    random_params: RandomParams, choice: dict[str, Any], max_norm: float | None
) -> None:
    cfg = correct.GPTConfig(**SIZES, **choice)
    params = random_params(cfg, SEED)
    theirs = tensors(params)
    optimizer = adamw(theirs, betas=(0.8, 0.9), weight_decay=0.2)
    state = correct.init_adamw(params)
    losses = []
    for step in range(STEPS):
        lr = correct.learning_rate(step, 1e-2, 7, STEPS, 1e-3)
        token_ids, targets = batch(cfg, seed=step)
        loss, grads = correct.loss_and_grads(params, cfg, token_ids, targets)
        if max_norm is not None:
            grads, _ = correct.clip_grads(scaled(grads, LARGE), max_norm)
        params, state = correct.adamw_step(
            params, grads, state, lr, betas=(0.8, 0.9), weight_decay=0.2
        )

        optimizer.zero_grad()
        expected_loss = loss_of(theirs, cfg, token_ids, targets)
        expected_loss.backward()
        arrays = [array for _, array in leaves(theirs)]
        if max_norm is not None:
            for array in arrays:
                array.grad *= LARGE
            torch.nn.utils.clip_grad_norm_(arrays, max_norm)
        for group in optimizer.param_groups:
            group["lr"] = lr
        optimizer.step()
        assert loss == pytest.approx(expected_loss.item(), rel=1e-8)
        losses.append(loss)
    assert losses[-1] < losses[0], (
        "nothing was learnt: the trajectories are equal for want of a movement"
    )
    expected = dict(leaves(theirs))
    for path, array in leaves(params):
        assert_near(array, expected[path].detach().numpy(), 1e-8, path)


@pytest.mark.parametrize(
    "options",
    [{}, {"betas": (0.5, 0.7), "eps": 1e-3, "weight_decay": 0.3}, {"weight_decay": 0.0}],
    ids=["defaults", "others", "no decay"],
)
def test_adamw_is_that_of_pytorch_for_gradients_of_any_size(
    random_params: RandomParams, options: dict[str, Any]
) -> None:
    cfg = correct.GPTConfig(**SIZES, **UNTIED)
    params = random_params(cfg, SEED)
    theirs = tensors(params)
    optimizer = adamw(theirs, **options)
    state = correct.init_adamw(params)
    rng = np.random.default_rng(SEED)
    for step in range(STEPS):
        lr = 0.1 * rng.random()
        size = 10.0 ** rng.integers(-10, 5)
        grads = correct.tree.map_tree(
            lambda array, size=size: size * rng.normal(size=array.shape), params
        )
        if step == 3:
            grads = scaled(grads, 0.0)
        params, state = correct.adamw_step(params, grads, state, lr, **options)
        given = dict(leaves(grads))
        for path, array in leaves(theirs):
            array.grad = torch.tensor(given[path])
        for group in optimizer.param_groups:
            group["lr"] = lr
        optimizer.step()
    expected = dict(leaves(theirs))
    for path, array in leaves(params):
        assert_near(array, expected[path].detach().numpy(), 1e-12, path)
    assert state["step"] == STEPS


@pytest.mark.parametrize("max_norm", [1e-3, 1.0, 1e9], ids=["far", "near", "not at all"])
def test_clipping_is_that_of_pytorch(random_params: RandomParams, max_norm: float) -> None:
    # The parameters stand for gradients: a tree whose arrays differ in shape.
    grads = scaled(random_params(correct.GPTConfig(**SIZES), SEED), LARGE)
    theirs = [torch.zeros(array.shape, dtype=torch.float64) for _, array in leaves(grads)]
    for tensor, (_, array) in zip(theirs, leaves(grads), strict=True):
        tensor.grad = torch.tensor(array)
    expected_norm = torch.nn.utils.clip_grad_norm_(theirs, max_norm).item()
    clipped, norm = correct.clip_grads(grads, max_norm)
    assert norm == pytest.approx(expected_norm, rel=1e-13)
    for tensor, (path, array) in zip(theirs, leaves(clipped), strict=True):
        assert_near(array, tensor.grad.numpy(), 1e-12, path)


@pytest.mark.parametrize("warmup", [0, 1, 6])
@pytest.mark.parametrize("min_lr", [0.0, 0.03])
def test_the_schedule_is_that_of_pytorch(warmup: int, min_lr: float) -> None:
    total, max_lr = 20, 0.3
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=max_lr)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, total - warmup, min_lr)
    expected = []
    for _ in range(total - warmup + 1):
        expected.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        cosine.step()
    rising = [max_lr * (step + 1) / warmup for step in range(warmup)]
    got = [correct.learning_rate(step, max_lr, warmup, total, min_lr) for step in range(total + 1)]
    np.testing.assert_allclose(got, rising + expected, rtol=1e-12, atol=1e-16)
    assert correct.learning_rate(10 * total, max_lr, warmup, total, min_lr) == min_lr


# The same model in PyTorch.


def loss_of(
    params: Params, cfg: Any, token_ids: np.ndarray, targets: np.ndarray, masks: Any = None
) -> Any:
    """The mean cross-entropy; a mask that is None drops nothing."""
    ids = torch.tensor(token_ids)
    x = F.embedding(ids, params["wte"])
    if not cfg.rotary:
        x = x + params["wpe"][: ids.shape[1]]
    x = dropped(x, masks and masks["embedding"])
    for i, p in enumerate(params["blocks"]):
        mask = masks["blocks"][i] if masks else {"weights": None, "attended": None, "mlp": None}
        x = x + dropped(attention(norm(x, p["ln1"]), p["attn"], cfg, mask), mask["attended"])
        hidden = F.linear(norm(x, p["ln2"]), p["mlp"]["w1"].T, p["mlp"]["b1"])
        hidden = F.linear(F.gelu(hidden, approximate="tanh"), p["mlp"]["w2"].T, p["mlp"]["b2"])
        x = x + dropped(hidden, mask["mlp"])
    logits = F.linear(
        norm(x, params["ln_f"]), params["w_lm"].T if "w_lm" in params else params["wte"]
    )
    return F.cross_entropy(logits.flatten(0, 1), torch.tensor(targets).flatten())


def attention(x: Any, p: Params, cfg: Any, mask: Any) -> Any:
    """Causal attention; heads that share keys and values form an axis of their own."""
    B, T, C = x.shape
    K = cfg.n_kv_heads or cfg.n_heads
    D, group = C // cfg.n_heads, cfg.n_heads // K
    q, k, v = F.linear(x, p["w_qkv"].T, p["b_qkv"]).split([C, K * D, K * D], dim=-1)
    q, k, v = q.view(B, T, K, group, D), k.view(B, T, K, 1, D), v.view(B, T, K, D)
    if cfg.rotary:
        q, k = turned(q, cfg.rope_theta), turned(k, cfg.rope_theta)
    scores = torch.einsum("btkgd,bskd->bkgts", q, k[:, :, :, 0]) * D**-0.5
    seen = torch.ones(T, T, dtype=torch.bool).tril()
    weights = scores.masked_fill(~seen, float("-inf")).softmax(dim=-1)
    weights = dropped(weights.flatten(1, 2), mask["weights"]).view(B, K, group, T, T)
    gathered = torch.einsum("bkgts,bskd->btkgd", weights, v)
    return F.linear(gathered.reshape(B, T, C), p["w_o"].T, p["b_o"])


def turned(x: Any, theta: float) -> Any:
    """Rotary positions of [B, T, ., ., D], by a product of complex numbers."""
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[1])[:, None] / theta ** (torch.arange(half) / half).double()
    circle = torch.polar(torch.ones_like(angles), angles)[:, None, None]
    z = torch.complex(x[..., :half], x[..., half:]) * circle
    return torch.cat([z.real, z.imag], dim=-1)


def norm(x: Any, p: Params) -> Any:
    """Layer normalisation."""
    return F.layer_norm(x, x.shape[-1:], p["g"], p["b"], eps=1e-5)


def dropped(x: Any, mask: np.ndarray | None) -> Any:
    """Multiplied by the mask, if there is one."""
    return x if mask is None else x * torch.tensor(mask)


# What the tests share.


def autograd(
    params: Params,
    cfg: Any,
    token_ids: np.ndarray,
    targets: np.ndarray,
    dropout_seed: int | None = None,
) -> tuple[float, dict[str, np.ndarray]]:
    """The loss, and the gradient of each array by its path."""
    masks = None
    if dropout_seed is not None:
        masks = correct.dropout.dropout_masks(cfg, token_ids.shape, dropout_seed)
    theirs = tensors(params)
    loss = loss_of(theirs, cfg, token_ids, targets, masks)
    loss.backward()
    return loss.item(), {path: tensor.grad.numpy() for path, tensor in leaves(theirs)}


def assert_same_gradients(
    grads: Any, expected: dict[str, np.ndarray], vanishing: bool = False
) -> None:
    """Every array of the tree is there, is not zero, and has the expected entries."""
    got = dict(leaves(grads))
    assert got.keys() == expected.keys()
    for path, array in got.items():
        assert vanishing or np.abs(expected[path]).max() > 1e-4, f"{path}: nothing to compare"
        assert_near(array, expected[path], RELATIVE, path)


def assert_near(got: np.ndarray, expected: np.ndarray, relative: float, path: str) -> None:
    """Equal, up to a part of the largest entry."""
    allowed = max(relative * np.abs(expected).max(), 1e-15)
    np.testing.assert_allclose(got, expected, rtol=0.0, atol=allowed, err_msg=path, strict=True)


def adamw(theirs: Params, **options: Any) -> Any:
    """PyTorch's AdamW, with the usual defaults of GPTs, in which only matrices decay."""
    options = {"lr": 1.0, "betas": (0.9, 0.95), "eps": 1e-8, "weight_decay": 0.1} | options
    arrays = [array for _, array in leaves(theirs)]
    return torch.optim.AdamW(
        [
            {"params": [array for array in arrays if array.dim() >= 2]},
            {"params": [array for array in arrays if array.dim() < 2], "weight_decay": 0.0},
        ],
        **options,
    )


def tensors(tree: Any) -> Any:
    """The same tree with a trainable tensor for each array."""
    if isinstance(tree, dict):
        return {key: tensors(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [tensors(value) for value in tree]
    return torch.tensor(tree, requires_grad=True)


def scaled(tree: Any, factor: float) -> Any:
    """The same tree with every array multiplied."""
    if isinstance(tree, dict):
        return {key: scaled(value, factor) for key, value in tree.items()}
    if isinstance(tree, list):
        return [scaled(value, factor) for value in tree]
    return factor * tree


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every array or tensor of a tree, with its path."""
    if not isinstance(tree, dict | list):
        yield path, tree
        return
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield from leaves(value, f"{path}.{key}")


def batch(cfg: Any, rows: int = 3, length: int = 7, seed: int = SEED) -> Any:
    """Token ids and targets, both [rows, length]."""
    return np.random.default_rng(seed).integers(0, cfg.vocab_size, (2, rows, length))
