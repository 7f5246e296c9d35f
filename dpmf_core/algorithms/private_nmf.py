"""Non-negative factorisation by noisy steps [S22, Saha & Imtiaz 2022], with corrections.

docs/PRIVACY.md, "Saha and Imtiaz 2022", lists them. A sample is a row x of norm 1, about h W with
h >= 0; W's rows are the components.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np

from dpmf_core.algorithms import moments, nmf
from dpmf_core.algorithms.base import Parameters, PrivateAlgorithm, Streams, triangle
from dpmf_core.algorithms.components import PUBLIC_FACTS, Components, Factorisation
from dpmf_core.algorithms.parameters import LEAST, choice, parameter, share_field
from dpmf_core.algorithms.sample_statistics import (
    CleanedProducts,
    CoefficientMoment,
    CoefficientProducts,
    SampleMoment,
    SampleSum,
    local_sides,
    unit_samples,
)
from dpmf_core.algorithms.spectrum import nearest_psd
from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput
from dpmf_core.curator import Curator, Held, OpenCurator, Statistic
from dpmf_core.data.samples import SampleShape
from dpmf_core.kernels import nmf_loops as kernel
from dpmf_core.privacy import (
    Budget,
    Calibration,
    Event,
    Guarantee,
    Repeat,
    Status,
    sequence,
)

PAID_STARTS: dict[str, Statistic] = {
    "mean-row": SampleSum(),
    "private-svd": SampleMoment(),
}
SURE = 1.0  # noise deviations that steps must gain over the pieces of the mean row
Start = Literal["random", "mean-row", "private-svd", "nndsvd"]
# the moment's share of a step's mu² at the noises of [S22, section 3.2], by Delta_B; Delta_A = 2/N
SHARES = {"2/N": 0.5, "4/N": 0.8}


class DPNMF(PrivateAlgorithm, Factorisation):
    """Move components along two noisy sums over samples in each step [S22, Alg. 2]."""

    id = "dp-nmf"
    colour = "blue"
    training_cost = 16
    is_usual_rival = True
    title = "DP-NMF"
    words = "alternating steps, each of which releases two noisy sums over all samples"
    source = "Saha & Imtiaz 2022, Alg. 2"
    source_epsilon_of = "each statistic of each step"
    version = 5
    version_without_noise = 1
    exact_settings: ClassVar[Parameters] = {"steps": 30}

    n_components: int = nmf.COMPONENTS
    steps: int = parameter(3, "steps T", "each costs budget", (1, 1000))
    start: Start = choice(
        "random",
        "random; parts of a noisy mean row, kept where steps do not improve them, or a noisy"
        " second moment, which cost budget; or the private data directly, as in the source",
    )
    outliers: bool = choice(False, "remove sparse outliers before the sums")
    outlier_threshold: float = nmf.THRESHOLD
    outlier_limit: float = nmf.LIMIT
    coefficient_clip: float = parameter(
        1.0,
        "coefficient clip C_h",
        "largest L2 norm of a sample's coefficients in the sums",
        (LEAST, 10),
    )
    moment_share: float = share_field(
        0.1,
        "share of the coefficients' moment",
        "of a step's mu²; the source's noise corresponds to 0.5 with Δ_B = 2/N, and to 0.8 with"
        " Δ_B = 4/N, which it uses when it removes outliers",
    )
    start_share: float = share_field(
        0.25,
        "share of the start",
        "of the total mu², for a start from a noisy mean row or second moment",
    )
    basis_passes: int = parameter(
        10,
        "basis passes",
        "passes over the components, each solved for the released sums; they cost no budget",
        (1, 1000),
    )
    basis_rate: float = parameter(
        0.0,
        "basis rate η_W",
        "above 0: one gradient step at this rate on the sums over N, as in the source; 0: solve"
        " for the components",
        (0, 100),
    )

    @classmethod
    def recommend_for_budget(
        cls, shape: SampleShape, budget: Budget, parameters: Parameters
    ) -> Parameters:
        """Start from the mean row, which takes most of a small budget.

        The source's noise is kept as it is: its start is random or private, and its two noises fix
        the share.
        """
        if budget.calibration is not Calibration.EXACT:
            bound = "4/N" if parameters.get("outliers") else "2/N"
            return {"moment_share": SHARES[bound]}
        if parameters.get("start", "mean-row") != "mean-row":
            return {}
        little = shape.n_units * budget.mu < 4 * moments.least_signal(shape)
        return {"start": "mean-row", "start_share": 0.9 if little else 0.1}

    def check(self, shape: SampleShape) -> None:
        super().check(shape)
        if self.start == "private-svd" and shape.n_features > moments.MOST_FEATURES:
            raise BadInput(
                f"A start from the second moment allows at most {moments.MOST_FEATURES:,} features."
                f" Got {shape.n_features:,}. Use start=random or fewer words."
            )

    @property
    def _products(self) -> CoefficientProducts:
        if self.outliers:
            return CleanedProducts(self.coefficient_clip)
        return CoefficientProducts(self.coefficient_clip)

    def statistics(self, shape: SampleShape) -> tuple[Statistic, ...]:
        step = CoefficientMoment(self.coefficient_clip), self._products
        if self.start in PAID_STARTS:
            return (PAID_STARTS[self.start], *step)
        return step

    def plan(self, shape: SampleShape, level: float) -> Event:
        *start, moment, products = self.statistics(shape)
        first = self.start_share if start else 0.0
        # without a paid start `level` is each step's
        if start:
            each = level * math.sqrt(self.steps / (1 - first))
        else:
            each = level
        step = sequence(
            moment.event(each / math.sqrt(self.moment_share)),
            products.event(each / math.sqrt(1 - self.moment_share)),
        )
        paid = (statistic.event(level / math.sqrt(first)) for statistic in start)
        return sequence(*paid, Repeat(step, self.steps))

    def sizes(self, shape: SampleShape) -> dict[str, int]:
        return {
            CoefficientMoment.name: triangle(self.n_components),
            CoefficientProducts.name: shape.n_features * self.n_components,
        }

    def source_level(self, shape: SampleShape, budget: Budget) -> float:
        """The source's noise for a nominal epsilon of each statistic in each step.

        sigma = Delta sqrt(2 ln(1.25/delta)) / epsilon, with Delta_A = 2/N. Delta_B is 4/N if
        outliers are separated; otherwise 2/N, or 4/N if the share says so. Ours are 1/N.
        """
        bounds = ("4/N",) if self.outliers else ("2/N", "4/N")
        fits = any(math.isclose(self.moment_share, SHARES[bound]) for bound in bounds)
        if self.start in PAID_STARTS or not fits:
            shares = " or ".join(f"{SHARES[bound]} (Δ_B = {bound})" for bound in bounds)
            raise BadInput(
                "The source's noise needs start=random or start=nndsvd, and a moment_share of"
                f" {shares}{' when outliers are removed' if self.outliers else ''}. Got"
                f" start={self.start} and moment_share={self.moment_share:g}."
            )
        classical = math.sqrt(2 * math.log(1.25 / budget.delta)) / budget.epsilon
        return 2 * classical * math.sqrt(self.moment_share)

    def guarantee(self) -> Guarantee:
        if self.start == "nndsvd":
            why = (
                "the start is computed from the private samples without noise and affects every"
                " released step"
            )
            claim = "strict privacy guarantees"
            return Guarantee(Status.UNPROVEN, "sample", (), PUBLIC_FACTS, claim, why)
        return Guarantee(Status.PROVEN, "sample", taken_as_public=PUBLIC_FACTS)

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Components]:
        W = self._start(curator, rng)
        model = Components(
            W, self.outlier_threshold if self.outliers else None, self.outlier_limit
        )
        if self.outliers:
            rows = None
        else:
            rows = curator.hold(unit_samples)
        gains: list[tuple[float, float]] = []
        bases = [W]
        for _ in range(self.steps):
            A, B, variance = self._release_sums(curator, model, rows)
            gains.append(((B * W).sum(), variance * (W.astype(np.float64) ** 2).sum()))
            W = self._move_components(
                W.astype(np.float64), nearest_psd(A), B, curator.shape.n_units
            )
            model = replace(model, basis=W.astype(np.float32))
            bases.append(model.basis)
            yield model
        if self.start == "mean-row" and (best := best_step(gains)) < self.steps:
            yield replace(model, basis=bases[best])

    def _release_sums(
        self, curator: Curator, model: Components, rows: Held | None
    ) -> tuple[Array, Array, float]:
        """Noisy sums of h h^T (K, K) and h x^T (K, n_features), and the latter's noise variance."""
        K = len(model.basis)
        clip = self.coefficient_clip
        sides = curator.hold(local_sides, model, clip)
        A = curator.release(CoefficientMoment(clip), sides, K)
        scale = curator.scale(self._products)
        return A, curator.release(self._products, sides, K, rows), scale**2

    def _move_components(self, W: Array, A: Array, B: Array, n: int) -> Array:
        if self.basis_rate:
            return kernel.in_unit_ball(
                np.maximum(W - self.basis_rate * (A @ W - B) / n, 0)
            )
        return kernel.basis(A, B, W, self.basis_passes)

    def _start(self, curator: Curator, rng: Streams) -> Array:
        """The first components (K, n_features)."""
        K = self.n_components
        shape = curator.shape
        if self.start == "nndsvd":
            assert isinstance(curator, OpenCurator)
            X = curator.rows.scaled(curator.rows.X)
            seed = int(rng.init.integers(2**31))
            return nmf.unit_components(nmf.starting_factors(X, K, "nndsvd", seed)[1])
        W = rng.init.uniform(0, 1, (K, shape.n_features))
        if self.start == "mean-row":
            scale = curator.scale(SampleSum())
            row = moments.mean_row(
                curator.release(SampleSum(), curator.hold(unit_samples)),
                scale,
                moments.axes(shape),
            )
            return nmf.unit_components(moments.pieces(row, K, shape.image))
        if self.start == "private-svd":
            moment = curator.release(SampleMoment(), curator.hold(unit_samples), None)
            least = 0.01 * W.mean() / math.sqrt(shape.n_features)
            W = nmf.signed_halves(moment, K, least)
        return nmf.unit_components(W)


def best_step(gains: list[tuple[float, float]]) -> int:
    """The step after which to keep the components.

    It is the last step, unless earlier components explain more, beyond doubt of noise, than the
    last that were checked. It is 0 if even the best explain no more than the start, beyond doubt of
    noise.

    For a least-squares h, h W x = |h W|^2. The components are older than the noise in the sum of h
    x^T, so the gains are unbiased.

    Parameters
    ----------
    gains : list of (float, float)
        For each step's components, the noisy sum of h W x, and its variance.
    """
    last = len(gains) - 1
    place = int(np.argmax([gain for gain, _ in gains]))
    if not _explains_more(gains[place], gains[last]):
        place = last
    if not _explains_more(gains[place], gains[0]):
        return 0
    if place == last:
        return len(gains)
    return place


def _explains_more(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] - other[0] > SURE * math.sqrt(one[1] + other[1])
