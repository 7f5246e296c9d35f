"""dpmf: what differential privacy costs a matrix factorisation.

>>> import dpmf
>>> run = dpmf.fit("cinema-small", "spectral", epsilon=1.0, keep=False)
>>> f"{run.record.epsilon.exact:.2f}"
'1.00'
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

from dpmf_core import __version__ as __version__

if TYPE_CHECKING:
    from dpmf_core.api.choosing import Choice, choose
    from dpmf_core.api.loading import BadInput, account, load
    from dpmf_core.api.model_selection import RatingFolds, privacy_price
    from dpmf_core.api.nmf import PlainNMF, PrivateNMF
    from dpmf_core.api.recommenders import PlainRecommender, PrivateRecommender
    from dpmf_core.api.training import TrainedModel, fit, load_model, plot, sweep

__all__ = [
    "BadInput",
    "Choice",
    "PlainNMF",
    "PlainRecommender",
    "PrivateNMF",
    "PrivateRecommender",
    "RatingFolds",
    "TrainedModel",
    "account",
    "choose",
    "fit",
    "load",
    "load_model",
    "plot",
    "privacy_price",
    "sweep",
]
PLACES = {
    "choosing": ("Choice", "choose"),
    "loading": ("BadInput", "account", "load"),
    "model_selection": ("RatingFolds", "privacy_price"),
    "nmf": ("PlainNMF", "PrivateNMF"),
    "recommenders": ("PlainRecommender", "PrivateRecommender"),
    "training": ("TrainedModel", "fit", "load_model", "plot", "sweep"),
}


def __getattr__(name: str) -> Any:
    """Load a name when it is first used, because the command line starts without it."""
    for module, names in PLACES.items():
        if name in names:
            return getattr(importlib.import_module(f"dpmf_core.api.{module}"), name)
    raise AttributeError(f"module 'dpmf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})


def start() -> int:
    """Run the command line: `dpmf`, `python -m dpmf`, or `python path/to/dpmf.py`."""
    from dpmf_core.base import interrupts

    interrupts.exit_at_once()  # before anything large is imported
    from dpmf_core.base.errors import BadInput

    try:
        from dpmf_core.cli import main
    except BadInput as error:  # the data folder takes nothing
        print(error, file=sys.stderr)
        return 2
    return interrupts.exit_code_of(main)


if __name__ == "__main__":
    sys.exit(start())
