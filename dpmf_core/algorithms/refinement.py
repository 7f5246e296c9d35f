"""Refine item factors and offsets by noisy sums of users' clipped gradients.

Each sum is joined to what is known by Kalman's rule. A gradient shrinks with the residuals, and its
clip norm and noise with it. So ratings without randomness are explained ever more precisely, which
no second moment of whole rows can do. If residuals stay large, as on films, noise covers a
gradient's m (r + 1) coordinates, compared with m^2 of a second moment.

Given item factors F (m, r), a user's factor u is a posterior mean and S its posterior covariance.
The gradient of the likelihood is then sum_u e_j u - F_j S over the users of item j (EM for factor
analysis, Rubin & Thayer 1982). Users send only e u^T; S is the model's, for a typical user.

docs/PRIVACY.md, "Gradient sizes" and "Refining gradient".
"""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpmf_core import kernels
from dpmf_core.algorithms.base import INSIDE, Recommender, finite
from dpmf_core.base.arrays import Array
from dpmf_core.curator import Block, Curator, Held, Statistic, Totals, on_grid
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.privacy import NOTHING, Event, Repeat, sequence

STEPS = 4
SIZES_SHARE = 0.05  # of a step's mu^2
OCTAVES = (-8.0, 12.0)  # the range of a size that users report
CONSTANT = 0.3  # next to a user's factor, for the offsets
CLIP = 0.5  # of a gradient, in typical norms
# share of the gradients' curvature that users with norms below the clip have
KEPT_SHARE = 0.8
# with more items, noise has more eigenvalues near its edge than factors have
MANY_ITEMS = 4096
EVEN_NOISE = 0.75  # below such a mu privacy's noise prevails over that of sampling
FEW_ITEMS = 512  # the same where that noise prevails
PRIOR = 0.5  # variance of factors, in that of the start
LEAST_LEFT = 0.25  # of a user's ratings, as degrees of freedom
VARIANCE_RATIOS = (0.1, 10.0)  # the range of corrections of variances


@dataclass(frozen=True)
class UserSides:
    """What stays with users between two releases, in quarters of the rating range.

    Attributes
    ----------
    residuals : (n_ratings,)
    norms : (n_users,)
        The norm of each user's residuals.
    counts : (n_users,)
        The number of each user's ratings.
    factors : (n_users, r)
    """

    residuals: Array
    norms: Array
    counts: Array
    factors: Array

    @property
    def columns(self) -> Array:
        """Factors and the constant (n_users, r + 1)."""
        return np.column_stack([self.factors, np.full(len(self.factors), CONSTANT)])

    @property
    def gradient_norms(self) -> Array:
        return np.asarray(self.norms * np.linalg.norm(self.columns, axis=1))


def user_sides(block: Block, model: Recommender, unit: float) -> UserSides:
    """Users' own factors and residuals on the model; values that overflowed count as 0."""
    rows: Ratings = block.rows
    personal = model.personal(rows)
    offsets, factors = (
        finite(part).astype(np.float64) for part in (personal.offsets, personal.factors)
    )
    e = (
        rows.values
        - model.centre
        - offsets[rows.users]
        - model.item_offsets[rows.items]
    )
    e -= kernels.predict_pairs(
        factors, model.item_sides, rows.users, rows.items, dtype=np.float64
    )
    e = finite(e) / unit
    norms = np.sqrt(kernels.segment_sums(rows.by_user, e**2))
    r = model.item_factors.shape[1]
    return UserSides(e, norms, rows.user_counts, factors[:, :r])


@dataclass(frozen=True)
class Sizes:
    """Geometric means over users of four sizes.

    They are the norm of the gradient, the deviation of the residuals, the sum of the ratings'
    squared factors, and the number of ratings.
    """

    norm: float
    deviation: float
    squares: float
    ratings: float

    @classmethod
    def of(cls, sums: Array) -> "Sizes":
        """The sizes from the five sums of `GradientSizes`."""
        low, high = OCTAVES
        places = np.clip(sums[:4] / max(float(sums[4]), 1.0), -1, 1)
        return cls(*(2.0 ** (low + (places + 1) * (high - low) / 2)).tolist())


@dataclass(frozen=True)
class GradientSizes(Statistic):
    """Sums over users of four logarithms of sizes, together of norm at most sqrt(3), and of 1 (5,).

    A user adds a vector of L2 norm at most 2. If the user is replaced by another, the logarithms
    may be opposite, and the 1 stays the same. docs/PRIVACY.md, "Gradient sizes".
    """

    name = "gradient sizes"
    sensitivity: ClassVar[float] = 2.0
    replace_one_factor = math.sqrt(3)

    def empty(self, shape: Shape, sides: Held) -> Totals:
        return (np.zeros(5),)

    def add(self, block: Block, totals: Totals, sides: UserSides) -> None:
        present = sides.norms > 0
        counts = np.maximum(sides.counts, 1)
        squares = counts * (sides.factors**2).sum(axis=1)
        sizes = [sides.gradient_norms, sides.norms / np.sqrt(counts), squares, counts]
        low, high = OCTAVES
        octaves = np.log2(np.clip(sizes, 2.0**low, 2.0**high))
        places = ((octaves - low) * 2 / (high - low) - 1)[:, present]
        places *= np.minimum(
            1.0, math.sqrt(3) * INSIDE / np.maximum(np.linalg.norm(places, axis=0), 1)
        )
        totals[0][:4] += on_grid(places, 1.0, block.n_units).sum(axis=1)
        totals[0][4] += present.sum()


@dataclass(frozen=True)
class RefiningGradient(Statistic):
    """sum_u f_u e_u t_u^T (m, r + 1) in units of the clip norm C.

    e_u are a user's residuals, and t_u the user's factor and a constant. f_u = min(1, C / (||e_u||
    ||t_u||)). A user adds a matrix of Frobenius norm at most 1, and may be replaced by one who adds
    its opposite. docs/PRIVACY.md, "Refining gradient".
    """

    name = "refining gradient"
    sensitivity: ClassVar[float] = 1.0

    def empty(self, shape: Shape, sides: Held, clip: float, r: int) -> Totals:
        return (np.zeros((shape.n_items, r + 1)),)

    def add(
        self, block: Block, totals: Totals, sides: UserSides, clip: float, r: int
    ) -> None:
        rows: Ratings = block.rows
        power = np.ldexp(1.0, np.frexp(sides.norms)[1])  # ||e|| < power <= 2 ||e||
        inverse = INSIDE / np.maximum(sides.gradient_norms, 1e-300)
        weight = np.where(
            sides.norms > 0, power * np.minimum(INSIDE / clip, inverse), 0.0
        )
        e = on_grid(sides.residuals / power[rows.users], 1.0, block.n_units, factors=2)
        t = on_grid(sides.columns * weight[:, None], 2.0, block.n_units, factors=2)
        totals[0][:] += rows.matrix(e).T @ t


STATISTICS = GradientSizes(), RefiningGradient()


def refinement_plan(level: float, share: float, steps: int) -> Event:
    """The releases of `steps` steps, which together take `share` of mu^2 = 1 / level^2."""
    if not steps:
        return NOTHING
    each = level / math.sqrt(share / steps)
    step = sequence(
        GradientSizes().event(each / math.sqrt(SIZES_SHARE)),
        RefiningGradient().event(each / math.sqrt(1 - SIZES_SHARE)),
    )
    return Repeat(step, steps)


def recommended_refinement(shape: Shape, signal: float, steps: int) -> dict[str, float]:
    """Recommend steps by the signal n mu that all users give for each item.

    A second moment finds factors. Gradients measure few of them better, and offsets too. The more
    signal an item has, the more gradients find below the edge of the noise. Beyond a mu of 2 most
    noise is from sampling. Many items have many eigenvalues of noise near the edge. The noise of
    privacy is equal for all items. Where it prevails, or items are very many, the edge stays near
    1. Constants were chosen on MovieLens 1M and 100K, the low-rank set and the cinema.
    """
    m = shape.n_items
    shrinkage = min(0.9, max(0.8, 0.75 + m / min(signal, 2 * shape.n_users)))
    if m > (FEW_ITEMS if signal < EVEN_NOISE * shape.n_users else MANY_ITEMS):
        shrinkage = 0.95
    return {
        "refinement_steps": steps,
        "refinement_share": min(0.7, max(0.3, 4 * shape.n_items / signal)),
        "bias_share": min(0.8, max(0.1, shape.n_items / (shape.n_items + signal))),
        "shrinkage": shrinkage,
    }


@dataclass(frozen=True)
class Estimate:
    """A model, and the error variances of its factors and offsets.

    Attributes
    ----------
    model : Recommender
    variances : (m, r + 1)
        In squared quarters of the rating range.
    prior : (r,)
        Variances of factors about 0, by column, in the same unit.
    """

    model: Recommender
    variances: Array
    prior: Array

    @classmethod
    def of(
        cls,
        model: Recommender,
        kept_items: Array,
        variances: Array,
        others: Array,
        offsets: Array,
    ) -> "Estimate":
        """Join the variances of the kept items' factors with those of all others.

        Parameters
        ----------
        model : Recommender
        kept_items : (n_kept,)
        variances : (n_kept, r)
            Those of the kept items' factors.
        others : (r,)
            Those of every other item's factors.
        offsets : (m,)
            Those of all items' offsets.
        """
        all_variances = np.tile(np.append(others, 0.0), (len(offsets), 1))
        all_variances[kept_items, :-1] = variances
        all_variances[:, -1] = offsets
        return cls(model, all_variances, PRIOR * others)


def refine(
    curator: Curator, estimate: Estimate, displayed_model: Recommender, counts: Array
) -> Estimate:
    """The estimate after one noisy gradient.

    The gradient G lies about H (truth - estimate), with noise of variance R. First the variances
    are scaled, column by column, to what G shows of them. The sampling error of the ratings is the
    same in every gradient. So G and H are those of the posterior, and R is the variance of the
    privacy noise alone.

    Parameters
    ----------
    curator : Curator
    estimate : Estimate
    displayed_model : Recommender
        What users fit themselves to: the estimated model with or without local columns.
    counts : (m,)
        Noisy weighted counts of the items.
    """
    n_users = curator.shape.n_users
    unit = curator.shape.quarter_range
    model = estimate.model
    r = estimate.model.item_factors.shape[1]
    sides = curator.hold(user_sides, displayed_model, unit)
    sizes = Sizes.of(curator.release(GradientSizes(), sides))
    clip = CLIP * sizes.norm
    noise = curator.scale(RefiningGradient()) * clip
    G = curator.release(RefiningGradient(), sides, clip, r) * clip

    share = (counts / counts.sum())[:, None]
    unknown = _unknown(model, share[:, 0], sizes.ratings)
    explained_squares = (
        sizes.squares * (1 - unknown) / max(float((1 - unknown).sum()), 1e-9)
    )
    weight = n_users * CLIP * KEPT_SHARE * share
    G[:, :r] -= weight * sizes.ratings * unknown * model.item_factors / unit
    H = weight * np.append(
        explained_squares + sizes.ratings * unknown, CONSTANT * sizes.ratings
    )
    energy = np.append(explained_squares, CONSTANT**2 * sizes.ratings)
    inflation = _inflation(sizes, unknown, estimate, n_users)
    luck = inflation * n_users * clip**2 * share * energy / energy.sum()
    pull = luck[:, :r] / (H[:, :r] * estimate.prior)
    G[:, :r] -= pull * model.item_factors / unit
    H[:, :r] += pull
    R = np.full(G.shape, noise**2)
    R[:, r] += luck[:, r]

    P = estimate.variances * _misjudgement(G, H, R, estimate.variances)
    gain = P * H / (H**2 * P + R)
    step = unit * gain * G
    better = replace(
        model,
        item_factors=(model.item_factors + step[:, :r]).astype(np.float32),
        item_offsets=(model.item_offsets + step[:, r]).astype(np.float32),
        ridge=max(inflation * (sizes.deviation * unit) ** 2, 1e-12),
    )
    return Estimate(better, P * R / (H**2 * P + R), estimate.prior)


def _inflation(sizes: Sizes, unknown: Array, estimate: Estimate, n_users: int) -> float:
    """The variance of ratings over that of a typical user's residuals.

    The user's own fit and that of the items take degrees of freedom from the residuals.
    """
    r = len(unknown)
    known = np.clip(1 - estimate.variances[:, :r] / estimate.prior, 0, 1)
    freedom = float((1 - unknown).sum() + known.sum() / n_users)
    return sizes.ratings / max(sizes.ratings - freedom, LEAST_LEFT * sizes.ratings)


def _unknown(model: Recommender, share: Array, ratings: float) -> Array:
    """Posterior variances (r,) of a user's factor with prior variance 1, by number of ratings."""
    F = model.item_factors.astype(np.float64)
    precision = np.eye(F.shape[1]) + ratings / model.ridge * (F.T * share) @ F
    return np.diag(np.linalg.inv(precision))


def _misjudgement(G: Array, H: Array, R: Array, P: Array) -> Array:
    """How far variances P (m, r + 1) are too large or small, by column (r + 1,).

    It is what G shows over what was expected, shrunk towards 1 by the part that R alone explains.
    """
    expected = (H**2 * P).sum(axis=0)
    observed = (G**2 - R).sum(axis=0)
    doubt = 2 * (R**2).sum(axis=0) + 1e-300
    return np.asarray(
        np.clip((expected * observed + doubt) / (expected**2 + doubt), *VARIANCE_RATIOS)
    )
