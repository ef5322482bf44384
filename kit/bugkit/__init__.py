"""bugkit: bug hunts for transformers.

`from bugkit import correct` gives the correct GPT.
"""

from pathlib import Path
from typing import TYPE_CHECKING

__version__ = "0.1.0"

# In a wheel the data folders lie inside this package. In a checkout they lie at the top
# level; the search path makes them submodules of this package all the same.
_CHECKOUT = Path(__file__).resolve().parents[2]
if (_CHECKOUT / "kit" / "bugkit" / "__init__.py").is_file():
    __path__ += [str(_CHECKOUT), str(_CHECKOUT / "tests")]

if TYPE_CHECKING:
    from types import ModuleType

    correct: ModuleType
