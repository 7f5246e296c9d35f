"""What privacy costs: events, the noise that records them, accounting, guarantees, accounts."""

from dpmf_core.privacy.accounting import calibrate
from dpmf_core.privacy.budget import Budget, Calibration, NoiseKind, default_delta
from dpmf_core.privacy.events import (
    NOTHING,
    Event,
    Ledger,
    Repeat,
    Sequence,
    normal_form,
    sequence,
)
from dpmf_core.privacy.guarantee import (
    NOT_PRIVATE,
    PERSON,
    VALUE,
    WITHOUT_NOISE,
    Guarantee,
    Status,
    neighbours,
    noise_words,
)
from dpmf_core.privacy.mechanisms import (
    EVERYBODY,
    DiscreteGaussian,
    DisjointGroup,
    Gaussian,
    Laplace,
    PosteriorSample,
    Relation,
    UnsupportedEvent,
)
from dpmf_core.privacy.noise import Noise, PlanViolation

__all__ = [
    "EVERYBODY", "NOTHING", "NOT_PRIVATE", "PERSON", "VALUE", "WITHOUT_NOISE", "Budget",
    "Calibration", "DiscreteGaussian", "DisjointGroup", "Event", "Gaussian", "Guarantee", "Laplace",
    "Ledger", "Noise", "NoiseKind", "PlanViolation", "PosteriorSample", "Relation", "Repeat",
    "Sequence", "Status", "UnsupportedEvent", "calibrate", "default_delta", "neighbours",
    "noise_words", "normal_form", "sequence",
]  # fmt: skip
