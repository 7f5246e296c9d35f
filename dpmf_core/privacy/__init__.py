"""The only place that knows what privacy costs: events, the noise that records them, accounting, guarantees."""

from dpmf_core.privacy.accounting import Budget, Calibration, NoiseKind, calibrate, default_delta
from dpmf_core.privacy.events import (
    NOTHING,
    DiscreteGaussian,
    Event,
    Gaussian,
    Laplace,
    Ledger,
    PosteriorSample,
    Relation,
    Repeat,
    Sequence,
    UnsupportedEvent,
    normal_form,
    sequence,
)
from dpmf_core.privacy.guarantee import NOT_PRIVATE, PERSON, VALUE, Guarantee, Status, neighbours, noise_words
from dpmf_core.privacy.noise import Noise, PlanViolation

__all__ = [
    "NOTHING", "NOT_PRIVATE", "PERSON", "VALUE", "Budget", "Calibration", "DiscreteGaussian", "Event", "Gaussian", "Guarantee", "Laplace", "Ledger", "Noise",
    "NoiseKind", "PlanViolation", "PosteriorSample", "Relation", "Repeat", "Sequence", "Status", "UnsupportedEvent", "calibrate", "default_delta", "neighbours",
    "noise_words", "normal_form", "sequence",
]  # fmt: skip
