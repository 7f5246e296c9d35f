"""The parameters and the plan of DPALS: budget shares of counts, start, Grams and right-hand sides.

Proofs: docs/PRIVACY.md, "Item Grams" and "Item right-hand sides".
"""

import math
from typing import Literal

from dpmf_core.algorithms import item_systems
from dpmf_core.algorithms.base import Parameters, triangle
from dpmf_core.algorithms.baselines import ProvenForUsers, UserMeans
from dpmf_core.algorithms.item_moments import MOMENT as START
from dpmf_core.algorithms.item_moments import SecondMoment
from dpmf_core.algorithms.item_offsets import (
    SumsAndCounts,
    bias_plan,
    recommended_biases,
)
from dpmf_core.algorithms.local_columns import LOCAL_COLUMNS
from dpmf_core.algorithms.parameters import LEAST, choice, parameter, share_field
from dpmf_core.algorithms.svd import CappedCounts
from dpmf_core.base.errors import BadInput
from dpmf_core.curator import Statistic, on_groups
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import Budget, Event, Repeat, sequence

MOMENT_SHARE = 0.1  # of a step's mu^2, for the second moment of users
MOST_OF_A_USER = 100_000  # ratings
MOST_FACTORS = 12  # that are recommended: more do not help without noise either


class DPALSPlan(ProvenForUsers):
    """The parameters and the plan of DPALS and the algorithms derived from it."""

    whole_triangle = True  # [C21, Alg. 1, line 8]

    rank: int = parameter(8, "rank r", "number of latent factors", (1, 512))
    steps: int = parameter(3, "steps T", "item steps; each costs budget", (1, 50))
    clip_norm: float = parameter(
        1.0,
        "user clip norm Γᵤ",
        "largest L2 norm of a user's factor in the item step",
        (LEAST, 1e3),
    )
    rating_clip: float = parameter(
        0.75,
        "rating clip Γ_M",
        "largest centred rating, in half-ranges of the rating scale",
        (LEAST, 2),
    )
    ratings_per_user: int = parameter(
        50,
        "ratings per user k",
        "how many of a user's ratings enter the item step",
        (1, MOST_OF_A_USER),
    )
    sampling: Literal["uniform", "adaptive"] = choice(
        "uniform",
        "which k ratings: random, or those of the rarest items by noisy counts",
    )
    regularisation: float = parameter(
        1.0,
        "item ridge λ",
        "pull of item factors towards 0, in units of Γᵤ²",
        (LEAST, 1e6),
    )
    regularisation_exponent: float = parameter(
        0.0, "λ's exponent", "λ is multiplied by (noisy item count)^exponent", (0, 1)
    )
    noise_ridge: float = parameter(
        0.5,
        "noise ridge",
        "further pull towards 0, in multiples of the largest eigenvalue of the Grams' noise",
        (0, 100),
    )
    user_regularisation: float = parameter(
        0.1, "user ridge", "of a user's own least squares during training", (LEAST, 1e6)
    )
    prediction_ridge: float = parameter(
        0.8,
        "prediction ridge",
        "of a user's own least squares on the final factors",
        (LEAST, 1e6),
    )
    biases: bool = choice(
        True, "private item offsets first, then factors on the residuals"
    )
    bias_share: float = share_field(0.2, "budget share of biases", "of the total mu²")
    centring: Literal["none", "user", "global"] = choice(
        "user",
        "without biases, subtract: nothing, the user's own mean, or a noisy global mean",
    )
    frequent_fraction: float = parameter(
        1.0,
        "frequent items β",
        "factors only for this share of the items, by noisy counts",
        (LEAST, 1),
    )
    psd: bool = parameter(
        True,
        "PSD projection",
        "project noisy Gram matrices onto the positive semi-definite cone",
    )
    orthonormalise: bool = choice(True, "orthonormal item factors between steps")
    unobserved_weight: float = parameter(
        0.0,
        "λ₀",
        "pull of unobserved cells towards 0, with a noisy second moment of users",
        (0, 100),
    )
    start: Literal["random", "private-svd", "spectral"] = choice(
        "random",
        "random factors cost nothing; eigenvectors of a noisy second moment cost budget;"
        " spectral: shrunk and scaled by noisy counts",
    )
    start_share: float = share_field(
        0.2,
        "budget share of the start",
        "of the budget left after biases and counts, unless the start is random",
    )
    gram_share: float = share_field(
        0.5,
        "budget share of Grams",
        "of each step; the rest goes to the right-hand sides",
    )
    resample: bool = parameter(
        False,
        "new sample of ratings at each step",
        "each step draws a new k of a user's ratings and learns the user's factor from 1/T of"
        " them, as analysed in the source; off: as the source does in practice",
    )
    disjoint_users: bool = parameter(
        False,
        "separate users for each step",
        "each step uses a different 1/T of the users, chosen by their numbers, with the noise of"
        " one step",
    )
    local_columns: bool = LOCAL_COLUMNS

    @classmethod
    def recommend_for_budget(
        cls, shape: Shape, budget: Budget, parameters: Parameters
    ) -> Parameters:
        """Defaults from public values alone: n, m and mu(epsilon, delta).

        n mu is the signal that all users give over the noise of one release. It supports (0.8 n
        mu)^(3/4) items, and one factor for every 6 users' worth of signal per item. Small budgets
        go to the biases. The more factors are supported, the nearer are steps, ridge, clip and
        ratings per user to `exact_settings`. Constants were chosen on validation ratings of
        MovieLens 1M and of the cinema, and checked elsewhere (`utility.md`).
        """
        signal = shape.n_users * budget.mu
        n_kept = min(shape.n_items, max(1, math.ceil((0.8 * signal) ** 0.75)))
        supported = signal / (6 * n_kept)
        more = max(1.0, supported / 4)
        if parameters.get("start") == "spectral":
            steps = 2
        else:
            steps = min(20, round(5 * more ** (1 / 3)))
        biases = parameters.get("biases", True)
        return recommended_biases(shape, budget, parameters) | {
            "rank": min(MOST_FACTORS, n_kept, max(1, round(supported))),
            "steps": steps,
            "start_share": 0.5,
            "ratings_per_user": min(
                MOST_OF_A_USER, round(few_ratings(shape) * max(1.0, supported / 30))
            ),
            "frequent_fraction": n_kept / shape.n_items,
            "regularisation": min(100.0, max(30.0, 10 * math.sqrt(supported))),
            "noise_ridge": 1.2,
            "user_regularisation": 0.05,
            "rating_clip": min(0.5, 0.4 + 0.02 * math.log2(more)) if biases else 0.6,
            "gram_share": 0.15 if biases else 0.3,
            "prediction_ridge": 0.2 if biases else 0.45,
        }

    @classmethod
    def recommend_without_noise(
        cls, shape: Shape, parameters: Parameters
    ) -> Parameters:
        settings = super().recommend_without_noise(shape, parameters)
        return settings | {"rank": min(MOST_FACTORS, settings["rank"])}

    # -- what it spends ----------------------------------------------------------------------------

    @property
    def _needs_counts(self) -> bool:
        """Whether separate counts are released: biases already release counts."""
        uses_counts = (
            self.sampling == "adaptive"
            or self.frequent_fraction < 1
            or self.regularisation_exponent > 0
        )
        return uses_counts and not self.biases

    def _n_kept(self, shape: Shape) -> int:
        return max(
            1, min(shape.n_items, math.ceil(self.frequent_fraction * shape.n_items))
        )

    def _rating_clip(self, shape: Shape) -> float:
        return self.rating_clip * shape.half_range

    def _root_entries(self, shape: Shape) -> float:
        """sqrt(min(k, items that have factors)).

        A user is in at most as many Grams as items have factors, and both numbers are public. A
        user's k entries move all Grams together by this multiple of Γᵤ², and the right-hand sides
        by this multiple of Γᵤ Γ_M.
        """
        return math.sqrt(min(self.ratings_per_user, self._n_kept(shape)))

    def statistics(self, shape: Shape) -> tuple[Statistic, ...]:
        biases = (SumsAndCounts(),) if self.biases else ()
        return (*biases, *(statistic for statistic, _, _ in self._allocation(shape)))

    def plan(self, shape: Shape, level: float) -> Event:
        if self.biases:
            first = [bias_plan(level, self.bias_share)]
        else:
            first = []
        step: list[Event] = []
        for statistic, share, once in self._allocation(shape):
            z = level / math.sqrt(share)
            release = statistic.event(z)
            if isinstance(statistic, item_systems.ItemRightSides):
                ratio = (1 - self.gram_share) / self.gram_share
                release = statistic.next_to_grams(ratio, self._gram_rounding(shape), z)
            (first if once else step).append(release)
        if self.disjoint_users:
            return sequence(
                *first, *(on_groups(release, self.steps) for release in step)
            )
        return sequence(*first, Repeat(sequence(*step), self.steps))

    def _allocation(self, shape: Shape) -> list[tuple[Statistic, float, bool]]:
        """The releases other than biases.

        Each has its statistic, the share of mu^2 of one release, and whether it is released once or
        at every step.
        """
        own = 0.05 if self._needs_counts else 0.0
        if self.centring == "global" and not self.biases:
            centre = 0.02
        else:
            centre = 0.0
        remainder = 1.0 - (self.bias_share if self.biases else 0.0) - own - centre
        parts: list[tuple[Statistic, float, bool]] = []
        if centre:
            parts.append((UserMeans(), centre, True))
        if self._needs_counts:
            parts.append((self._own_counts(shape), own, True))
        if self.start != "random":
            parts.append((SecondMoment(), remainder * self.start_share, True))
            remainder *= 1 - self.start_share
        moment = MOMENT_SHARE if self.unobserved_weight else 0.0
        steps = 1 if self.disjoint_users else self.steps  # in which one user takes part
        if moment:
            parts.append(
                (
                    item_systems.UserMoment(self.clip_norm),
                    remainder * moment / steps,
                    False,
                )
            )
        remainder *= (1 - moment) / steps
        grams, right_sides = self._item_statistics(shape)
        parts.append((grams, remainder * self.gram_share, False))
        parts.append((right_sides, remainder * (1 - self.gram_share), False))
        return parts

    def _own_counts(self, shape: Shape) -> CappedCounts:
        return CappedCounts(min(self.ratings_per_user, shape.n_items))

    def _item_statistics(
        self, shape: Shape
    ) -> tuple[item_systems.ItemGrams, item_systems.ItemRightSides]:
        root_k = self._root_entries(shape)
        return item_systems.ItemGrams(
            self.clip_norm, root_k
        ), item_systems.ItemRightSides(self.clip_norm, root_k, self._rating_clip(shape))

    def _gram_rounding(self, shape: Shape) -> float:
        """What the grid adds to the squared distance of two users' Grams, in squared sensitivities.

        It adds nothing if the vectors of both statistics are rounded as one.
        """
        return 0.0

    def sizes(self, shape: Shape) -> dict[str, int]:
        r = self.rank
        return {
            START: triangle(shape.n_items),
            item_systems.SECOND_MOMENT: triangle(r),
            item_systems.GRAMS: shape.n_items * triangle(r),
            item_systems.RIGHT_SIDES: shape.n_items * r,
        }

    def source_level(self, shape: Shape, budget: Budget) -> float:
        """The level of [C21] Thm. 1.

        Grams and right-hand sides each have noise of sigma = sqrt(2kT(eps + ln(1/delta)))/eps per
        unit, and k ratings of a user move them by sqrt(k) units. That is a multiplier of
        sqrt(2T(eps + ln(1/delta)))/eps on each. Other releases come on top.

        Raises
        ------
        BadInput
            If the parameters are not those of Algorithm 1.
        """
        if (
            self.biases
            or self.disjoint_users
            or self.start != "random"
            or self.gram_share != 0.5
        ):
            raise BadInput(
                "The source's noise is that of its Theorem 1, which needs biases=false,"
                " disjoint_users=false, start=random and gram_share=0.5. Set these, or use"
                " --calibration exact."
            )
        multiplier = (
            math.sqrt(2 * self.steps * (budget.epsilon - math.log(budget.delta)))
            / budget.epsilon
        )
        grams, _ = self._item_statistics(shape)
        share = next(share for one, share, _ in self._allocation(shape) if one == grams)
        # the source's k, even if there are fewer items
        root_k = math.sqrt(self.ratings_per_user)
        return multiplier * math.sqrt(share) * root_k / self._root_entries(shape)


def few_ratings(shape: Shape) -> int:
    """How many ratings of a user enter where noise is strong, by the public number of items."""
    return min(100, max(10, shape.n_items // 4))
