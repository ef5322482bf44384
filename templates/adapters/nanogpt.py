"""adapter.py for a PyTorch model nearly laid out like nanoGPT. Put it beside model.py, change the
names that are other ones in yours, then: bugkit check .

A model that is laid out exactly so needs none: bugkit check model.py

Parameters go by the names of the state dict (transformer.h.0.attn.c_attn.weight ...). A
torch.nn.Linear stores its weight output by input, the contract input by output: hence `.T`.
"""

from dataclasses import dataclass

import model as yours  # your file
import numpy as np
import torch

torch.set_num_threads(1)


@dataclass(frozen=True)
class GPTConfig:
    """The sizes, under the names that the detectors use."""

    vocab_size: int = 64
    d_model: int = 32
    n_layers: int = 2
    n_heads: int = 4
    max_seq_len: int = 16


# Where each array of the tree lives in the state dict, and whether it is stored transposed.
MATRICES = {
    ("attn", "w_qkv"): "attn.c_attn.weight",
    ("attn", "w_o"): "attn.c_proj.weight",
    ("mlp", "w1"): "mlp.c_fc.weight",
    ("mlp", "w2"): "mlp.c_proj.weight",
}
VECTORS = {
    ("ln1", "g"): "ln_1.weight",
    ("ln1", "b"): "ln_1.bias",
    ("attn", "b_qkv"): "attn.c_attn.bias",
    ("attn", "b_o"): "attn.c_proj.bias",
    ("ln2", "g"): "ln_2.weight",
    ("ln2", "b"): "ln_2.bias",
    ("mlp", "b1"): "mlp.c_fc.bias",
    ("mlp", "b2"): "mlp.c_proj.bias",
}


def build(cfg):
    """Your model, of these sizes, in double precision and without dropout."""
    sizes = yours.GPTConfig(
        vocab_size=cfg.vocab_size,
        n_embd=cfg.d_model,
        n_layer=cfg.n_layers,
        n_head=cfg.n_heads,
        block_size=cfg.max_seq_len,
        dropout=0.0,
        bias=True,
    )
    return yours.GPT(sizes).double().eval()


def init_params(cfg, seed=0):
    """The parameters your model starts from, as the tree that the detectors know."""
    torch.manual_seed(seed)
    return tree({name: value.numpy() for name, value in build(cfg).state_dict().items()}, cfg)


def tree(state, cfg):
    """Arrays by their names in the state dict -> the tree that the detectors know."""
    blocks = []
    for i in range(cfg.n_layers):
        block = {"ln1": {}, "attn": {}, "ln2": {}, "mlp": {}}
        for (part, name), key in MATRICES.items():
            block[part][name] = state[f"transformer.h.{i}.{key}"].T
        for (part, name), key in VECTORS.items():
            block[part][name] = state[f"transformer.h.{i}.{key}"]
        blocks.append(block)
    return {
        "wte": state["transformer.wte.weight"],
        "wpe": state["transformer.wpe.weight"],
        "blocks": blocks,
        "ln_f": {"g": state["transformer.ln_f.weight"], "b": state["transformer.ln_f.bias"]},
    }


def with_params(params, cfg):
    """Your model with these parameters."""
    model = build(cfg)
    state = {
        "transformer.wte.weight": params["wte"],
        "transformer.wpe.weight": params["wpe"],
        "transformer.ln_f.weight": params["ln_f"]["g"],
        "transformer.ln_f.bias": params["ln_f"]["b"],
        "lm_head.weight": params["wte"],  # tied
    }
    for i, block in enumerate(params["blocks"]):
        for (part, name), key in MATRICES.items():
            state[f"transformer.h.{i}.{key}"] = block[part][name].T
        for (part, name), key in VECTORS.items():
            state[f"transformer.h.{i}.{key}"] = block[part][name]
    tensors = {key: torch.tensor(np.ascontiguousarray(value)) for key, value in state.items()}
    missing, unknown = model.load_state_dict(tensors, strict=False)
    # The mask of the slow path is no parameter; anything else is a name that differs in yours.
    wrong = [name for name in [*missing, *unknown] if not name.endswith(".attn.bias")]
    if wrong:
        raise KeyError(f"these names differ: {wrong}")
    return model.float() if params["wte"].dtype == np.float32 else model


@torch.no_grad()
def gpt_forward(params, cfg, token_ids, return_attn=False):
    """Logits [B, T, V] of your model with these parameters."""
    model = with_params(params, cfg)
    maps = keep_maps(model, cfg) if return_attn else []
    tokens = torch.tensor(np.asarray(token_ids, dtype=np.int64))
    # Given targets, nanoGPT scores every position; without, only the last one.
    logits, _ = model(tokens, tokens)
    return (logits.numpy(), maps) if return_attn else logits.numpy()


def loss_and_grads(params, cfg, token_ids, targets):
    """The loss that your model computes, and autograd's gradients of it."""
    model = with_params(params, cfg)
    _, loss = model(torch.tensor(np.asarray(token_ids)), torch.tensor(np.asarray(targets)))
    loss.backward()
    return loss.item(), tree({name: p.grad.numpy() for name, p in model.named_parameters()}, cfg)


def keep_maps(model, cfg):
    """A list that fills with the attention weights of each layer in the next forward pass.

    They exist on the path without the fused kernel only, where they go through attn_dropout.
    """
    maps = []
    mask = torch.tril(torch.ones(cfg.max_seq_len, cfg.max_seq_len))[None, None]
    for block in model.transformer.h:
        if getattr(block.attn, "flash", False):
            block.attn.flash = False
            block.attn.register_buffer("bias", mask, persistent=False)
        block.attn.attn_dropout.register_forward_hook(
            lambda _module, inputs, _output: maps.append(inputs[0].numpy())
        )
    return maps


def gelu(x):
    """Your activation, by itself."""
    activation = build(GPTConfig()).transformer.h[0].mlp.gelu
    return activation(torch.tensor(x)).numpy()
