"""Your regression test. Form {{ words.form }}.

A regression test keeps a bug from coming back. It fails on the program as you received it and
passes on the repaired one. So write it before you repair anything, and see it fail first.

It states a property: an input, and a relation that must hold for every correct GPT. Of sorting,
one could say: for any list, sorting it twice gives the same as sorting it once.

- Keep it small: the smallest input that shows the bug, and one relation.
- Make inputs in the test: np.array([...]) or np.random.default_rng(0). Compare floating-point
  numbers with np.testing.assert_allclose.
- Do not compare with numbers copied from a run: another correct GPT may give others.
- Call only what gpt has as you received it (gpt/__init__.py lists the main functions), in the
  way {{ visible }} does. No files, no network, a few seconds at most.

If you believe that the program has no bug, test the property that you doubted: the test passes
here, and it would fail if your suspicion were true.
"""

import numpy as np  # noqa: F401
import pytest

import gpt  # noqa: F401


def test_regression() -> None:
    """Put the property here, in one sentence."""
    pytest.skip("write your test here")
