"""What every mechanism that adds noise keeps, as checks that raise AssertionError: it draws the
noise that it declares, and its accounts are no smaller than what that noise tells.

None of them knows a mechanism. Each computes from `log_density` alone, by integration on a grid.
"""

import math

import numpy as np
import numpy.typing as npt

from dpmf_core.privacy.mechanisms import AdditiveNoise

Floats = npt.NDArray[np.float64]
DRAWS = 400_000  # a scale that is 5% off moves the distribution function by 0.01
FURTHEST = (
    0.005  # that the drawn and the declared one may be apart: chance needs 1 in 10^8
)
# of the integration, in units of the noise's scale
REACH = 45.0
STEP = 0.005
SHIFTS = (0.2, 0.7, 1.5)  # how far neighbours are apart, in units of the noise's scale
EPSILONS = (0.0, 0.1, 0.5, 1.0, 2.0)
ORDERS = (1.5, 2.0, 8.0)
INTERVAL = 1e-3
# of the integration
SLACK = 1e-6
RELATIVE = 1e-4
TINY = 1e-250  # smaller densities are left out: near underflow they are inexact


def density(kind: type[AdditiveNoise], points: Floats) -> Floats:
    """The density of one coordinate of noise of scale 1 at equally spaced points (k,)."""
    logs = [kind.log_density(np.array([point])) for point in points]
    log = np.array(logs)
    values: Floats = np.exp(log - log.max())
    values /= values.sum() * (points[1] - points[0])
    return values


def check_draw(mechanism: AdditiveNoise, seed: int = 0) -> None:
    """Check that noise has the law of `log_density` at noise multiplier times sensitivity."""
    step, scale = mechanism.grid(DRAWS)
    noise = np.empty(DRAWS)
    mechanism.draw(np.random.default_rng(seed), noise, scale, step)
    noise /= mechanism.noise_multiplier * mechanism.sensitivity
    points = np.arange(-REACH, REACH, STEP)
    declared_share = np.cumsum(density(type(mechanism), points)) * STEP
    drawn_before = np.searchsorted(np.sort(noise), points + STEP / 2)
    drawn_share = drawn_before / DRAWS
    apart = float(np.abs(drawn_share - declared_share).max())
    assert apart <= FURTHEST, (
        f"{type(mechanism).__name__} draws other noise than it declares: the distribution functions"
        f" differ by {apart:.4f}"
    )


def neighbours(kind: type[AdditiveNoise], shift: float) -> tuple[Floats, Floats, float]:
    """The densities of a release on two neighbours that are `shift` apart, and the grid's step."""
    places = math.ceil(shift / STEP)
    step = shift / places
    points = np.arange(-REACH, REACH, step)
    one = density(kind, points)
    return one[places:], one[:-places], step


def check_account(kind: type[AdditiveNoise]) -> None:
    """No account of one release is below what its noise tells of neighbours one sensitivity apart,
    on one coordinate: pure epsilon, Renyi curve, privacy loss distribution and closed forms.
    """
    for shift in SHIFTS:
        one, other, step = neighbours(kind, shift)
        z = 1 / shift
        _check_pure(kind, z, one, other)
        for alpha in ORDERS:
            exact = _renyi(alpha, one, other, step)
            _at_least(
                kind,
                f"Renyi divergence of order {alpha:g}",
                kind.renyi(alpha, z),
                exact,
            )
        loss = kind.privacy_loss(z, INTERVAL)
        for epsilon in EPSILONS:
            exact = float(np.maximum(one - math.exp(epsilon) * other, 0).sum()) * step
            delta = float(loss.get_delta_for_epsilon(epsilon))
            _at_least(kind, f"delta at epsilon {epsilon:g} by its losses", delta, exact)
            if (alone := kind.delta_alone(z, epsilon)) is not None:
                _at_least(
                    kind, f"delta at epsilon {epsilon:g} in closed form", alone, exact
                )


def _renyi(alpha: float, one: Floats, other: Floats, step: float) -> float:
    """The Renyi divergence of two densities on a grid."""
    both = (one > TINY) & (other > TINY)
    logs = alpha * np.log(one[both]) + (1 - alpha) * np.log(other[both])
    return math.log(float(np.exp(logs).sum()) * step) / (alpha - 1)


def _check_pure(
    kind: type[AdditiveNoise], z: float, one: Floats, other: Floats
) -> None:
    account = kind.pure_epsilon(z)
    if math.isfinite(account):
        support = (one > TINY) & (other > TINY)
        exact = float(np.abs(np.log(one[support] / other[support])).max())
        _at_least(kind, "pure epsilon", account, exact)


def _at_least(
    kind: type[AdditiveNoise], what: str, account: float, exact: float
) -> None:
    assert account >= exact * (1 - RELATIVE) - SLACK, (
        f"The {what} of {kind.__name__} is {account:.6g}, and its noise tells {exact:.6g}"
    )
