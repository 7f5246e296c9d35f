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
    from dpmf_core.algorithms.base import PrivateAlgorithm
    from dpmf_core.api import privacy
    from dpmf_core.api.auditing import Audit, audit
    from dpmf_core.api.checking import DataCheck, check
    from dpmf_core.api.choosing import Choice, choose
    from dpmf_core.api.describing import algorithms
    from dpmf_core.api.loading import BadInput, account, load
    from dpmf_core.api.model_selection import RatingFolds, privacy_price
    from dpmf_core.api.nmf_estimators import PlainNMF, PrivateNMF
    from dpmf_core.api.recommenders import PlainRecommender, PrivateRecommender
    from dpmf_core.api.sweeping import Method, Swept, sweep
    from dpmf_core.api.training import TrainedModel, fit, load_model, plot
    from dpmf_core.api.tuning import Tuning, tune
    from dpmf_core.curator import Curator, Statistic
    from dpmf_core.testing.contract import Contract

__all__ = [
    "Audit",
    "BadInput",
    "Choice",
    "Contract",
    "Curator",
    "DataCheck",
    "Method",
    "PlainNMF",
    "PlainRecommender",
    "PrivateAlgorithm",
    "PrivateNMF",
    "PrivateRecommender",
    "RatingFolds",
    "Statistic",
    "Swept",
    "TrainedModel",
    "Tuning",
    "account",
    "algorithms",
    "audit",
    "check",
    "choose",
    "fit",
    "load",
    "load_model",
    "plot",
    "privacy",
    "privacy_price",
    "sweep",
    "tune",
]
# the module of each name, below dpmf_core
PLACES = {
    "algorithms.base": ("PrivateAlgorithm",),
    "api.auditing": ("Audit", "audit"),
    "api.checking": ("DataCheck", "check"),
    "api.choosing": ("Choice", "choose"),
    "api.describing": ("algorithms",),
    "api.loading": ("BadInput", "account", "load"),
    "api.model_selection": ("RatingFolds", "privacy_price"),
    "api.nmf_estimators": ("PlainNMF", "PrivateNMF"),
    "api.recommenders": ("PlainRecommender", "PrivateRecommender"),
    "api.sweeping": ("Method", "Swept", "sweep"),
    "api.training": ("TrainedModel", "fit", "load_model", "plot"),
    "api.tuning": ("Tuning", "tune"),
    "curator": ("Curator", "Statistic"),
    "testing.contract": ("Contract",),
}


def __getattr__(name: str) -> Any:
    """Load a name when it is first used, because the command line starts without it."""
    if name == "privacy":
        return importlib.import_module("dpmf_core.api.privacy")
    for module, names in PLACES.items():
        if name in names:
            return getattr(importlib.import_module(f"dpmf_core.{module}"), name)
    raise AttributeError(f"module 'dpmf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


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
