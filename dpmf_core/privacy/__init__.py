"""The only place that knows what privacy costs: events, the noise that records them, accounting, guarantees."""

from dpmf_core.privacy.accounting import Budget, Calibration, UnsupportedEvent, calibrate, default_delta
from dpmf_core.privacy.events import NOTHING, Event, Gaussian, Laplace, Ledger, PosteriorSample, Relation, Repeat, Sequence, normal_form, sequence
from dpmf_core.privacy.guarantee import NOT_PRIVATE, VALUE, Guarantee, Status, neighbours
from dpmf_core.privacy.noise import Noise, PlanViolation

__all__ = [
    "NOTHING", "NOT_PRIVATE", "VALUE", "Budget", "Calibration", "Event", "Gaussian", "Guarantee", "Laplace", "Ledger", "Noise", "PlanViolation",
    "PosteriorSample", "Relation", "Repeat", "Sequence", "Status", "UnsupportedEvent", "calibrate", "default_delta", "neighbours", "normal_form", "sequence",
]  # fmt: skip
