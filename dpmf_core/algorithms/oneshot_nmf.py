"""Non-negative factorisation of what one noisy second moment shows (ours).

docs/PRIVACY.md, "Sum of the samples" and "Second moment of the samples".
"""

import math
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from dpmf_core.algorithms import moments
from dpmf_core.algorithms.base import Parameters, PrivateAlgorithm, Streams, triangle
from dpmf_core.algorithms.components import PUBLIC_FACTS, Components, Factorisation
from dpmf_core.algorithms.moments import estimate_residuals, residual_reach
from dpmf_core.algorithms.nmf import (
    COMPONENTS,
    descend,
    starting_factors,
    unit_components,
)
from dpmf_core.algorithms.parameters import parameter, share_field
from dpmf_core.algorithms.sample_statistics import (
    START,
    SampleMoment,
    SampleSum,
    residual_samples,
    unit_samples,
)
from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput
from dpmf_core.curator import Curator, Held, Statistic
from dpmf_core.data.samples import SampleShape
from dpmf_core.privacy import Budget, Event, Guarantee, Status, sequence


class OneShotNMF(PrivateAlgorithm, Factorisation):
    """Factorise what one noisy second moment shows, without touching the data again.

    A noisy sum of the rows comes first. For documents it orders the words, and the second moment of
    the leading words is released once. For images it gives the mean row. Then the second moment of
    the rows' residuals about the mean row is released once. Residuals are shorter and need less
    noise. This moment is read along slow patterns under the mean row.

    Eigenvectors above the noise (Johnstone 2001) and the mean describe a normal distribution.
    Points drawn from it, cut off at 0, are factorised by scikit-learn. The number of features or
    patterns is chosen on the released matrix, to keep the most energy above the noise. If pieces of
    the released mean row explain more, they are the components. If almost nothing can be seen, only
    the sum is released.
    """

    id = "oneshot-nmf"
    colour = "vermilion"
    training_cost = 15
    is_usual_rival = True
    title = "One-shot NMF"
    words = "releases one noisy second moment, then factorises it any number of times"
    source = "ours, after Dwork, Talwar, Thakurta & Zhang 2014"
    version = 4
    version_without_noise = 1
    exact_settings: ClassVar[Parameters] = {"points": 4000}

    n_components: int = COMPONENTS
    sum_share: float = share_field(
        0.1, "share of the sum", "of the total mu², for the sum of all rows"
    )
    second_moment: bool = parameter(
        True,
        "second moment",
        "off: the sum takes the whole budget and the components are parts of the mean row",
    )
    features_kept: int = parameter(
        1000,
        "features kept",
        "documents: how many words enter the second moment",
        (1, moments.MOST_FEATURES),
    )
    points: int = parameter(
        1000,
        "points",
        "points drawn from the released moments and factorised; they cost no budget",
        (10, 100_000),
    )
    iterations: int = parameter(
        100,
        "iterations",
        "of coordinate descent on the points; they cost no budget",
        (1, 10_000),
    )

    @classmethod
    def recommend_for_budget(
        cls, shape: SampleShape, budget: Budget, parameters: Parameters
    ) -> Parameters:
        """Choose the words as the square root of samples times mu, which is how far noise reaches.

        With almost no signal only the sum is released. For images the sum gets more if there is
        less signal, because the second moment depends on it.
        """
        settings: Parameters = {}
        signal = shape.n_units * budget.mu
        n_features = max(
            2 * int(parameters.get("n_components", cls.most_components(shape))),
            round(10 * math.sqrt(signal)),
        )
        is_visible = signal >= moments.least_signal(shape)
        if shape.image is not None and is_visible:
            settings["sum_share"] = round(max(0.1, min(0.5, 4 / math.sqrt(signal))), 2)
        return settings | {
            "features_kept": min(n_features, shape.n_features, moments.MOST_FEATURES),
            "second_moment": is_visible,
        }

    def check(self, shape: SampleShape) -> None:
        super().check(shape)
        if shape.image is not None and shape.n_features > moments.MOST_FEATURES:
            raise BadInput(
                f"Images of more than {moments.MOST_FEATURES:,} pixels are too large for a second"
                f" moment. Got {shape.n_features:,}. Resize the images."
            )

    def statistics(self, shape: SampleShape) -> tuple[Statistic, ...]:
        if self.second_moment:
            return (SampleSum(), SampleMoment())
        return (SampleSum(),)

    def plan(self, shape: SampleShape, level: float) -> Event:
        if not self.second_moment:
            return SampleSum().event(level)
        return sequence(
            SampleSum().event(level / math.sqrt(self.sum_share)),
            SampleMoment().event(level / math.sqrt(1 - self.sum_share)),
        )

    def sizes(self, shape: SampleShape) -> dict[str, int]:
        if shape.image is not None:
            n_kept = shape.n_features
        else:
            n_kept = min(self.features_kept, shape.n_features)
        return {START: triangle(n_kept)}

    def guarantee(self) -> Guarantee:
        return Guarantee(Status.PROVEN, "sample", taken_as_public=PUBLIC_FACTS)

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Components]:
        shape: SampleShape = curator.shape
        scale = curator.scale(SampleSum())
        rows = curator.hold(unit_samples)
        total = curator.release(SampleSum(), rows)
        row = moments.mean_row(total, scale, moments.axes(shape))
        W = moments.pieces(row, self.n_components, shape.image)
        if self.second_moment and shape.image is not None:
            W = self._from_residuals(curator, total, row, W, rng)
        elif self.second_moment:
            W = self._from_moment(curator, rows, total, W, rng)
        yield Components(unit_components(W))

    def _from_moment(
        self, curator: Curator, rows: Held, total: Array, pieces: Array, rng: Streams
    ) -> Array:
        """Components (K, d) of the second moment of the leading words.

        Returns the pieces of the mean row if they explain more of it.
        """
        shape: SampleShape = curator.shape
        kept_features = np.argsort(-total, kind="stable")[: self.features_kept]
        scale = curator.scale(SampleMoment())
        M = curator.release(SampleMoment(), rows, kept_features)
        distribution = moments.estimate_distribution(
            M, total[kept_features], scale, shape.n_units
        )
        # as many random numbers in every case
        points = distribution.points(
            rng.init.standard_normal((self.points, len(kept_features)))
        )
        W = np.zeros((self.n_components, shape.n_features))
        W[:, kept_features] = self._factorise(points, "random", rng)
        gain = moments.explained_energy(
            M, W[:, kept_features]
        ) - distribution.overstatement(W[:, kept_features])
        if moments.explained_energy(M, pieces[:, kept_features]) > gain:
            return pieces
        return W

    def _from_residuals(
        self, curator: Curator, total: Array, row: Array, pieces: Array, rng: Streams
    ) -> Array:
        """Components of the second moment about the mean row, of all features.

        Returns the pieces if they explain images from the released distribution at least as well.
        """
        n = curator.shape.n_units
        centre = row / np.linalg.norm(row)
        reach = residual_reach(total, centre, n)
        rows = curator.hold(residual_samples, centre, reach)
        scale = reach**2 * curator.scale(SampleMoment())
        M = reach**2 * curator.release(SampleMoment(), rows, None)
        distribution = estimate_residuals(
            M, centre, scale, n, moments.axes(curator.shape)
        )
        points, fresh = (
            distribution.points(rng.init.standard_normal((self.points, len(centre))))
            for _ in range(2)
        )
        W = self._factorise(points, "nndsvda", rng)
        if distribution.lead(W, pieces, fresh) > 0:
            return W
        return pieces

    def _factorise(self, points: Array, start: str, rng: Streams) -> Array:
        """Components of points, which are not private data."""
        H, W = starting_factors(
            points, self.n_components, start, int(rng.init.integers(2**31))
        )
        return descend(points, H, W, self.iterations)[1]
