"""The real one, from the library."""

from transformers import GPT2Config, GPT2LMHeadModel

__all__ = ["GPT2Config", "GPT2LMHeadModel"]
