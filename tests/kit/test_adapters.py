"""Other people's implementations: a right one is all green in its own shape, a wrong one is found,
and what cannot be placed is told."""

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bugkit import correct
from bugkit.adapters.names import place_of
from bugkit.contract import Offer
from bugkit.engine import run
from bugkit.matrix import Matrix, Outcome, Status
from bugkit.options import Options
from bugkit.places import TEMPLATES
from bugkit.report.story import as_story
from bugkit.subject import Subject, find_subject, load

MODELS = Path(__file__).parent / "adapters"

Edits = list[tuple[str, str]]

NEEDS = {
    "nanogpt": "torch",
    "mingpt": "torch",
    "hf_gpt2": "torch",
    "transformers": "transformers",
}
"""What the models of a shape are made with."""


def check(folder: Path, shape: str, edits: Edits, template: str = "") -> tuple[Matrix, Subject]:
    """The row of a model after these edits: by itself, or behind a template."""
    if shape in NEEDS:
        pytest.importorskip(NEEDS[shape], reason=f"{NEEDS[shape]} is not installed (extra: oracle)")
    source = (MODELS / shape / "model.py").read_text(encoding="utf-8")
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    (folder / "model.py").write_text(source, encoding="utf-8")
    if template:
        shutil.copy(TEMPLATES / "adapters" / f"{template}.py", folder / "adapter.py")
    subject = find_subject(str(folder), {})
    return run([subject], Options(timeout=60.0, memory=16_384)), subject


def told(folder: Path, shape: str, edits: Edits) -> str:
    """What a check says where nothing can be judged."""
    matrix, subject = check(folder, shape, edits)
    (said,) = {cell.message for _, cell in matrix.row(subject)}
    assert matrix.status(subject) is Status.INVALID
    return said


# What must not happen: a part that is renamed, missing or of another shape is passed over.


@pytest.mark.parametrize(
    ("shape", "old", "new", "message"),
    [
        ("mini_gpt", "pos_emb", "positions", "a MiniGPT class, but .*it has no pos_emb"),
        ("mini_gpt", '"W_2"', '"W_two"', "but .*it has no W_2"),
        ("mini_gpt", "weight(C, vocab_size)", "weight(C, 9)", r"W_lm should be .*\(12, 11\), not "),
        (
            "layered",
            "self.W_q",
            "self.W_question",
            "'block0.attn.W_question.weight', which names no",
        ),
        ("layered", "self.ln_f", "self.final", "'final.gamma', which names no known part"),
        ("layered", "Linear(d_ff, width", "Linear(width, width", "blocks.0.mlp.w2 should be"),
        ("nanogpt", "self.ln_1", "self.norm_1", "'transformer.h.0.norm_1.weight', which"),
        ("nanogpt", "4 * cfg.n_embd", "3 * cfg.n_embd", r"c_fc.weight has shape \(36, 12\); exp"),
        ("mingpt", '"wpe"', '"positions"', "'transformer.positions.weight', which"),
        ("hf_gpt2", "self.c_proj", "self.c_out", "'transformer.h.0.attn.c_out.weight', which"),
    ],
)
def test_what_cannot_be_placed_is_told(
    shape: str, old: str, new: str, message: str, tmp_path: Path
) -> None:
    said = told(tmp_path, shape, [(old, new)])
    assert said.startswith("was read as a ")
    assert re.search(message, said), said


def test_a_class_that_cannot_be_built_is_told(tmp_path: Path) -> None:
    said = told(tmp_path, "mini_gpt", [("self.n_heads = n_heads", "raise ValueError('no heads')")])
    assert "was read as a MiniGPT class" in said
    assert "raises ValueError: no heads" in said


def test_an_unknown_shape_is_told_what_is_known(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("class Transformer:\n    pass\n", encoding="utf-8")
    subject = find_subject(str(tmp_path), {})
    said = " ".join(as_story(run([subject], Options()), 100, {}).split())
    assert "a class MiniGPT with arrays as attributes" in said
    assert "nanoGPT, minGPT or the GPT-2 of Hugging Face" in said
    assert "bugkit adapter" in said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("array -= lr * grad", "array -= lr * np.sign(grad)"),
        ("array -= lr * grad", "array -= lr * grad * 0.5 / np.sqrt((grad**2).sum())"),
        ("self.tok_emb -= lr * dtok", "self.tok_emb -= lr * (dtok + 0.01 * self.tok_emb)"),
        ("array -= lr * grad", "array -= lr * grad * (array is self.W_lm)"),
    ],
    ids=["signs", "clipped", "decay", "head alone"],
)
def test_a_step_that_is_no_gradient_is_not_read_as_one(old: str, new: str, tmp_path: Path) -> None:
    source = (MODELS / "mini_gpt" / "model.py").read_text(encoding="utf-8")
    for name, text in (("right", source), ("other", source.replace(old, new))):
        (tmp_path / f"{name}_model.py").write_text(text, encoding="utf-8")
        module = load(find_subject(str(tmp_path / f"{name}_model.py"), {}))
        assert hasattr(module, "loss_and_grads") is (name == "right")


# A right one is all green.

FLOAT32: Edits = [("NUMBER = np.float64", "NUMBER = np.float32")]
EXACT_GELU: Edits = [('nn.GELU(approximate="tanh")', "nn.GELU()")]
UNIFORM = ("nn.init.normal_(module.weight, std=0.02)", "nn.init.uniform_(module.weight, -0.1, 0.1)")
NO_MAPS: Edits = [('return out @ block["W_o"], weights', 'return out @ block["W_o"]')]
SEPARATE: Edits = [
    (
        '"W_qkv": weight(C, 3 * C),',
        '"W_q": weight(C, C), "W_k": weight(C, C), "W_v": weight(C, C),',
    ),
    (
        '(x @ block["W_qkv"])',
        'np.concatenate([x @ block[w] for w in ("W_q", "W_k", "W_v")], axis=-1)',
    ),
    ("def train_step(self", "def _train_step(self"),
]
BY_ROWS: Edits = [
    (
        "def forward(self, ids):",
        "def forward(self, ids):\n        return self._forward(ids[None])[0]\n\n"
        "    def _forward(self, ids):",
    ),
    (
        "        ids = np.asarray(ids)\n        x = ",
        "        ids = np.asarray(ids)\n        assert len(ids) == 1\n        x = ",
    ),
    (
        "self.forward(np.array([ids[-self.block_size :]]))[0, -1]",
        "self.forward(np.array(ids[-self.block_size :]))[-1]",
    ),
    ("def train_step(self", "def _train_step(self"),
]
ANOTHER_START: Edits = [
    (
        "weight(*shape):\n            return (rng.standard_normal(shape) / np.sqrt(shape[0]))",
        "weight(*shape):\n            return (rng.uniform(-0.05, 0.05, shape))",
    )
]

RIGHT: dict[str, tuple[str, Edits, int]] = {
    "functions, float32, few biases": ("functional", [], 39),
    "functions, no bias at all": ("functional", [("NORM_BIAS = True", "NORM_BIAS = False")], 37),
    "MiniGPT": ("mini_gpt", [], 40),
    "MiniGPT in float32": ("mini_gpt", FLOAT32, 40),
    "MiniGPT with q, k, v apart": ("mini_gpt", SEPARATE, 40),
    "MiniGPT that reads a row": ("mini_gpt", BY_ROWS, 29),
    "MiniGPT from another start": ("mini_gpt", ANOTHER_START, 40),
    "layers": ("layered", [], 33),
    "layers in float32": ("layered", FLOAT32, 33),
    "layers without attention biases": (
        "layered",
        [("ATTENTION_BIAS = True", "ATTENTION_BIAS = False")],
        33,
    ),
    "layers with a biased head": (
        "layered",
        [("Linear(d_model, vocab_size, bias=False)", "Linear(d_model, vocab_size)")],
        33,
    ),
    "minGPT with any configuration": (
        "mingpt",
        [("def get_default_config", "def default_of_mine")],
        34,
    ),
    "layers without biases, tied": (
        "layered",
        [("_BIAS = True", "_BIAS = False"), ("TIED = False", "TIED = True")],
        33,
    ),
    "nanoGPT": ("nanogpt", [], 35),
    "nanoGPT with exact GELU, another start": ("nanogpt", [*EXACT_GELU, UNIFORM], 33),
    "nanoGPT without biases": (
        "nanogpt",
        [("bias: bool = True", ""), ("bias=cfg.bias", "bias=False")],
        33,
    ),
    "minGPT": ("mingpt", [], 34),
    "GPT-2 of Hugging Face, layout": ("hf_gpt2", [], 35),
    "GPT-2 of Hugging Face": ("transformers", [], 35),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_implementation_is_all_green(name: str, tmp_path: Path) -> None:
    shape, edits, least = RIGHT[name]
    matrix, subject = check(tmp_path, shape, edits)
    wrong = {
        d.id: cell.message
        for d, cell in matrix.row(subject)
        if cell.outcome not in (Outcome.PASSED, Outcome.NOT_OFFERED)
    }
    assert not wrong
    passed = [cell for _, cell in matrix.row(subject) if cell.outcome is Outcome.PASSED]
    assert len(passed) >= least, {cell.message for _, cell in matrix.row(subject)}
    assert matrix.status(subject) is Status.GREEN


def test_the_report_says_how_a_file_was_read(tmp_path: Path) -> None:
    matrix, subject = check(tmp_path, "layered", [])
    assert matrix.read_as == {subject.id: "a GPT class of layers"}
    assert "read as a GPT class of layers" in as_story(matrix, 100, {})


def test_functions_are_read_as_they_are(tmp_path: Path) -> None:
    matrix, _ = check(tmp_path, "functional", [])
    assert matrix.read_as == {}


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("token_embedding.weight", "wte"),
        ("tok_emb", "wte"),
        ("embeddings.token_embedding.weight", "wte"),
        ("embedding.weight", "wte"),
        ("position_embedding.weight", "wpe"),
        ("pos_emb", "wpe"),
        ("positional_encoding.weight", "wpe"),
        ("block0.ln1.gamma", "blocks.0.ln1.g"),
        ("block11.norm2.bias", "blocks.11.ln2.b"),
        ("blocks.1.attn_norm.scale", "blocks.1.ln1.g"),
        ("block0.attn.W_q.weight", "blocks.0.attn.w_q"),
        ("block0.attn.W_k.bias", "blocks.0.attn.b_k"),
        ("layers.3.attention.value.weight", "blocks.3.attn.w_v"),
        ("block0.attn.qkv.weight", "blocks.0.attn.w_qkv"),
        ("block0.attn.out_proj.weight", "blocks.0.attn.w_o"),
        ("block0.attn.W_o.bias", "blocks.0.attn.b_o"),
        ("block0.ffn.W1.weight", "blocks.0.mlp.w1"),
        ("block0.ffn.b1", "blocks.0.mlp.b1"),
        ("block0.mlp.fc2.weight", "blocks.0.mlp.w2"),
        ("block0.feed_forward.linear2.bias", "blocks.0.mlp.b2"),
        ("ln_f.gamma", "ln_f.g"),
        ("final_norm.beta", "ln_f.b"),
        ("lm_head.weight", "w_lm"),
        ("output_projection.weight", "w_lm"),
        ("lm_head.bias", "b_lm"),
        ("block0.attn.W_r.weight", None),
        ("block0.attn.weight", None),
        ("block.attn.W_q.weight", None),
        ("adapter.weight", None),
    ],
)
def test_names_of_arrays_have_one_place(name: str, place: str | None) -> None:
    assert place_of(name) == place


def test_an_adapter_of_ones_own_is_not_read_as_a_class(tmp_path: Path) -> None:
    shutil.copy(MODELS / "mini_gpt" / "model.py", tmp_path / "a_model_of_mine.py")
    text = "from a_model_of_mine import MiniGPT, gelu\n"
    (tmp_path / "adapter.py").write_text(text, encoding="utf-8")
    module = load(find_subject(str(tmp_path), {}))
    assert hasattr(module, "gelu")
    assert not hasattr(module, "gpt_forward")


# What is read off its methods is what the model computes.


def offered(folder: Path, shape: str) -> Any:
    """What a right model of this shape offers, in this process."""
    if shape in NEEDS:
        pytest.importorskip(NEEDS[shape], reason=f"{NEEDS[shape]} is not installed (extra: oracle)")
    path = folder / f"{shape}_model.py"
    shutil.copy(MODELS / shape / "model.py", path)
    return load(find_subject(str(path), {}))


def random_like(tree: Any, rng: np.random.Generator) -> Any:
    """A tree of this shape, random and large."""
    if isinstance(tree, dict):
        return {key: random_like(value, rng) for key, value in tree.items()}
    if isinstance(tree, list):
        return [random_like(value, rng) for value in tree]
    return rng.normal(0.0, 0.5, tree.shape)


def leaves(tree: Any, path: str = "") -> dict[str, np.ndarray]:
    """Path -> array."""
    if isinstance(tree, np.ndarray):
        return {path: tree}
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return {p: a for key, value in items for p, a in leaves(value, f"{path}.{key}").items()}


@pytest.mark.parametrize("shape", ["mini_gpt", "layered", "nanogpt", "mingpt", "hf_gpt2"])
def test_gradients_are_the_slopes_of_the_loss(shape: str, tmp_path: Path) -> None:
    module = offered(tmp_path, shape)
    rng = np.random.default_rng(1)
    cfg = module.GPTConfig(11, 12, 2, 3, 9)
    params = random_like(module.init_params(cfg), rng)
    token_ids, targets = rng.integers(0, 11, (2, 2, 7))
    loss, grads = module.loss_and_grads(params, cfg, token_ids, targets)

    def loss_of(params: Any) -> float:
        return float(correct.cross_entropy(module.gpt_forward(params, cfg, token_ids), targets))

    assert loss == pytest.approx(loss_of(params), rel=1e-9)
    arrays, slopes = leaves(params), leaves(grads)
    assert set(slopes) == set(arrays)
    for path, array in arrays.items():
        direction, saved, ends = rng.normal(size=array.shape), array.copy(), []
        for step in (1e-5, -1e-5):
            array[...] = saved + step * direction
            ends.append(loss_of(params))
        array[...] = saved
        slope = (ends[0] - ends[1]) / 2e-5
        assert np.sum(slopes[path] * direction) == pytest.approx(slope, rel=1e-4, abs=1e-6), path


@pytest.mark.parametrize("shape", ["mini_gpt", "nanogpt", "mingpt"])
def test_the_loss_of_a_class_is_read_as_a_function_of_logits(shape: str, tmp_path: Path) -> None:
    module = offered(tmp_path, shape)
    rng = np.random.default_rng(1)
    logits, targets = rng.normal(size=(3, 5, 8)), rng.integers(0, 8, (3, 5))
    expected = correct.cross_entropy(logits, targets)
    assert module.cross_entropy(logits, targets) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("shape", ["mini_gpt", "layered", "mingpt", "transformers"])
def test_generation_goes_on_with_the_likeliest_token(shape: str, tmp_path: Path) -> None:
    module = offered(tmp_path, shape)
    rng = np.random.default_rng(1)
    cfg = module.GPTConfig(11, 12, 2, 3, 9)
    params = random_like(module.init_params(cfg), rng)
    prompts = rng.integers(0, 11, (2, 4))
    ids = module.generate(params, cfg, prompts, 4, temperature=0.0)
    assert ids.shape == (2, 8)
    np.testing.assert_array_equal(ids[:, :4], prompts)
    logits = module.gpt_forward(params, cfg, ids)
    np.testing.assert_array_equal(ids[:, 4:], logits[:, 3:-1].argmax(axis=-1))


def test_a_choice_that_a_class_does_not_have_is_not_offered(tmp_path: Path) -> None:
    subject = Offer(offered(tmp_path, "mini_gpt"))
    cfg = subject.GPTConfig(11, 12, 2, 3, 9)
    params, ids = subject.init_params(cfg), np.zeros((1, 3), dtype=int)
    choices: list[dict[str, Any]] = [
        {"temperature": 0.7},
        {"temperature": 0.0, "top_p": 0.5},
        {"stop_token": 3},
    ]
    for choice in choices:
        with pytest.raises(pytest.skip.Exception, match="is not offered"):
            subject.generate(params, cfg, ids, 2, **choice)
    choices = [{"tie_word_embeddings": True}, {"rotary": True}, {"n_kv_heads": 1}]
    for choice in choices:
        with pytest.raises(pytest.skip.Exception, match="is not offered"):
            subject.GPTConfig(11, 12, 2, 3, 9, **choice)


# A wrong one is found.

BUGS: dict[str, dict[str, tuple[str, str, str]]] = {
    "functional": {
        "no activation": ("np.maximum(wide, 0)", "wide", "test_hidden_units_switch_off"),
        "branch doubled": ("x = x + gathered", "x = x + 2 * gathered", "test_both_branches_count"),
        "heads mixed": (".swapaxes(1, 2).reshape(B, T, C)", ".reshape(B, T, C)", "test_"),
        "head ignored": (
            '@ params["w_lm"]',
            '@ params["wte"].T',
            "test_tied_head_reads_the_embedding",
        ),
        "not scaled": (
            " / NUMBER(q.shape[-1]) ** NUMBER(0.5)",
            "",
            "test_scores_have_unit_variance",
        ),
    },
    "mini_gpt": {
        "future seen": ("np.ones((T, T), bool)", "np.ones((T, T), bool), 1", "test_next_token"),
        "not scaled": (
            " / np.sqrt(NUMBER(q.shape[-1]))\n        scores = np.where",
            "\n        scores = np.where",
            "test_scores_have_unit_variance",
        ),
        "no skip": (
            "middle = x + attended",
            "middle = attended",
            "test_stream_passes_by_attention",
        ),
        "no bias": (' + block["b_1"]', "", "test_every_bias_gain_and_block_matters"),
        "heads cut wrong": (
            ".reshape(B, T, 3, self.n_heads, C // self.n_heads)",
            ".reshape(B, T, 3, C // self.n_heads, self.n_heads).swapaxes(-1, -2)",
            "test_heads_read_their_own_channels",
        ),
        "no final norm": (
            "return layer_norm(x, self.lnf_g, self.lnf_b)",
            "return x",
            "test_logits_ignore_the_scale_of_the_stream",
        ),
        "no positions": (" + self.pos_emb[: ids.shape[1]]", "", "test_order_of_tokens_matters"),
        "unstable softmax": ("z = z - z.max(axis=-1, keepdims=True)", "z = z + 0", "test_softmax_"),
    },
    "layered": {
        "future seen": ("k=1)", "k=2)", "test_next_token_is_hidden"),
        "not scaled": (
            "NUMBER(q.shape[-1] ** -0.5)",
            "NUMBER(1)",
            "test_scores_have_unit_variance",
        ),
        "no skip": (
            "x = x + self.drop1.forward(",
            "x = self.drop1.forward(",
            "test_stream_passes_by_attention",
        ),
        "no activation": ("np.maximum(self.wide, 0)", "self.wide", "test_hidden_units_switch_off"),
        "norm over tokens": (
            "centred = x - x.mean(axis=-1,",
            "centred = x - x.mean(axis=1,",
            "test_",
        ),
        "post norm": (
            "x = x + self.drop1.forward(self.attn.forward(self.ln1.forward(x)), training)",
            "x = self.ln1.forward(x + self.drop1.forward(self.attn.forward(x), training))",
            "test_silent_blocks_change_nothing",
        ),
    },
    "nanogpt": {
        "future seen": ("is_causal=True", "is_causal=False", "test_next_token_is_hidden"),
        "heads cut wrong": (
            "p.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)",
            "p.reshape(B, self.n_head, T, C // self.n_head)",
            "test_heads_read_their_own_channels",
        ),
        "post norm": (
            "x = x + self.attn(self.ln_1(x))",
            "x = self.ln_1(x + self.attn(x))",
            "test_silent_blocks_change_nothing",
        ),
        "no final norm": ("x = self.transformer.ln_f(x)", "pass", "test_logits_ignore_the_scale"),
        "positions shifted": (
            "torch.arange(idx.shape[1])",
            "1 + torch.arange(idx.shape[1])",
            "test_the_full_context_fits",
        ),
    },
    "mingpt": {
        "not scaled": (" / math.sqrt(q.size(-1))", "", "test_scores_have_unit_variance"),
        "mask after softmax": (
            '[:, :, :T, :T] == 0, float("-inf")',
            "[:, :, :T, :T] == 0, 0.0",
            "test_no_weight_on_the_future",
        ),
        "softmax over queries": (
            "F.softmax(att, dim=-1)",
            "F.softmax(att, dim=-2)",
            "test_attention_rows_sum_to_one",
        ),
        "GELU without cube": ("x.pow(3)", "x.pow(2)", "test_gelu_is_the_tanh_form"),
        "no MLP skip": ('return x + m["dropout"]', 'return m["dropout"]', "test_stream_passes_by"),
    },
    "hf_gpt2": {
        "mask not low enough": (
            "least = torch.finfo(scores.dtype).min",
            "least = -1e4",
            "test_a_common_shift_of_scores_changes_nothing",
        ),
        "queries and keys alike": (
            "q @ k.mT",
            "q @ q.mT",
            "test_",
        ),
        "no bias": (
            "return x @ self.weight + self.bias",
            "return x @ self.weight",
            "test_every_bias",
        ),
        "values first": ("q, k, v = self.c_attn", "v, k, q = self.c_attn", "test_without_values"),
        "norm twice": (
            "return x + self.mlp(self.ln_2(x))",
            "x = self.ln_2(x)\n        return x + self.mlp(x)",
            "test_",
        ),
        "one block only": ("for block in self.h:", "for block in self.h[:1]:", "test_every_bias"),
    },
}


@pytest.mark.parametrize(
    ("shape", "name"), [(shape, name) for shape, bugs in BUGS.items() for name in bugs]
)
def test_a_planted_bug_is_found(shape: str, name: str, tmp_path: Path) -> None:
    old, new, killer = BUGS[shape][name]
    matrix, subject = check(tmp_path, shape, [(old, new)])
    assert not matrix.broken(subject) or name == "positions shifted"
    assert any(found.startswith(killer) for found in matrix.killers(subject))


def test_at_least_five_bugs_are_planted_in_each_shape() -> None:
    assert all(len(bugs) >= 5 for bugs in BUGS.values())


# The templates, for whoever writes an adapter.


def test_a_right_class_behind_the_template_is_all_green(tmp_path: Path) -> None:
    matrix, subject = check(tmp_path, "class", [], template="class")
    assert matrix.status(subject) is Status.GREEN
    assert matrix.read_as == {}


CLASS_BUGS = {
    "future seen": ("dtype=bool)] = -np.inf", "dtype=bool)] = 0", "test_no_weight_on_the_future"),
    "no positions": (
        " + self.position_embedding[: ids.shape[1]]",
        "",
        "test_order_of_tokens_matters",
    ),
    "eps outside": ("+ eps) + b", ") + b", "test_layer_norm_adds_eps_to_the_variance"),
}


@pytest.mark.parametrize("name", CLASS_BUGS)
def test_a_bug_in_a_class_behind_the_template_is_found(name: str, tmp_path: Path) -> None:
    old, new, killer = CLASS_BUGS[name]
    matrix, subject = check(tmp_path, "class", [(old, new)], template="class")
    assert killer in matrix.killers(subject)


def test_a_right_pytorch_model_behind_the_template_is_all_green(tmp_path: Path) -> None:
    matrix, subject = check(tmp_path, "nanogpt", [], template="nanogpt")
    assert matrix.status(subject) is Status.GREEN
