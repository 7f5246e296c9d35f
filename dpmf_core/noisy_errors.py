"""Errors of runs on private ratings, released with noise: each is a release of its own and enters the account of its data."""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from dpmf_core import algorithms
from dpmf_core.accounts import charging
from dpmf_core.errors import BadInput
from dpmf_core.experiment import Run, is_own, open_data, split_of
from dpmf_core.privacy import Event, Gaussian, Noise, Relation, Status, normal_form
from dpmf_core.privacy.accounting import gaussian_mu
from dpmf_core.privacy.odometer import Charge
from dpmf_core.privacy.printed import budget_text

SCORES = "errors of the held-out ratings"
NONE = "none: they are computed on private data without noise"


def score_event(noise_multiplier: float) -> Event:
    """A user adds at most 1 to the sum of clipped errors and 1 to the count."""
    return Gaussian(noise_multiplier, SCORES, math.sqrt(2), 1.0)


def noisy_score(run: Run, noise: Noise) -> float:
    """Held-out RMSE by user, privately: each sends min(mean squared error / half-range^2, 1) and a 1, both with the noise of `score_event`.

    It is the root of the mean over users, in units of a rating: users weigh the same, not ratings.
    """
    parts = split_of(run)
    held, model = parts.test, run.model
    errors = held.values - model.predict(model.personal(parts.history), held.users, held.items)
    counts = np.diff(held.by_user)
    means = np.bincount(held.users, errors.astype(np.float64) ** 2, held.n_users) / np.maximum(counts, 1) / held.shape.half_range**2
    sums = np.array([np.fmin(means, 1.0)[counts > 0].sum(), (counts > 0).sum()])
    total, users = noise.vector(SCORES, sums, sensitivity=math.sqrt(2))
    return float(held.shape.half_range * math.sqrt(max(total, 0.0) / max(users, 1.0)))


def refusal(run: Run) -> str:
    """Why the run's error cannot be released with noise, '' where it can."""
    record = run.record
    if record["public"]:
        return "its data are public, so that its errors are shown as they are"
    if algorithms.find(run.spec.algorithm).task != "ratings":
        return "only errors of held-out ratings have a noisy figure"
    if run.spec.budget is None or record["guarantee"]["status"] not in (Status.PROVEN, Status.CONDITIONAL):
        return "nothing is proved of what it releases, so that everybody's rating may have moved its error"
    return ""


def event(run: Run, epsilon: float) -> Event:
    """The release of one error at `epsilon`, with the run's own delta."""
    budget = run.spec.budget
    assert budget is not None  # `refusal`
    if not 0 < epsilon <= 100:
        raise BadInput(f"The epsilon of an error must be above 0 and at most 100. Got {epsilon:g}.")
    return score_event(1 / gaussian_mu(epsilon, budget.delta))


def charge(run: Run, epsilon: float) -> Charge:
    """What the release of its error enters in the account."""
    budget, promise = run.spec.budget, run.record["guarantee"]
    made = Charge(f"error of {run.record['title']}", normal_form(event(run, epsilon)), Status(promise["status"]), promise["unit"])
    return made if budget is None else Charge(made.title, made.ledger, made.status, made.unit, budget.delta, Relation(budget.relation))


def release(runs: Mapping[str, Run], epsilon: float, ledger: str | Path | None = None) -> dict[str, float]:
    """The noisy error of every run that can have one, by the same names; each costs epsilon, every time.

    Raises BadInput where a budget does not allow it; what was drawn before that stays drawn.
    """
    out = {}
    for name, run in runs.items():
        if refusal(run):
            continue
        data = open_data(run.spec.data)
        with charging(data, charge(run, epsilon), ledger, lasting=not is_own(run.spec.data.id)) as paid:
            out[name] = noisy_score(run, paid.noise(event(run, epsilon)))
    return out


def words(run: Run, epsilon: float | None, released: bool) -> str:
    """What a table says of the errors of a run on private data. epsilon: at which errors were asked for; released: whether this one was."""
    if released and epsilon is not None:
        return f"with noise, epsilon {budget_text(epsilon)} each, by user"
    why = refusal(run) if epsilon is not None else ""
    return f"none: {why}" if why else NONE
