"""A family of simulated worlds: ratings of one declared shape that differ where real data differ.

A rating is `mean + person's mood + item's quality + taste . character + noise`, in halves of the
range, rounded to the steps of the scale and clamped to its ends. Who rates what is drawn by
log-normal activity and popularity, more often what a person likes.

The worlds of the family are the same on every machine: seeds are fixed, and tastes, characters and
weights lie on grids, so that their sums and products are exact in any order.
"""

from dataclasses import dataclass

import numpy as np

from dpmf_core.base.arrays import Doubles, Floats, Ints
from dpmf_core.data.rating_bounds import Bounds
from dpmf_core.data.ratings import Ratings

COUNT = 12  # worlds of the family
# The prior: each quantity is uniform between its ends, one world in each twelfth of its range.
# Variances and numbers are uniform in the deviation and in the logarithm.
PRIOR: dict[str, tuple[float, float]] = {
    "mean": (-0.1, 0.45),
    "mood": (0.1, 0.3),
    "within": (0.3, 0.65),
    "quality": (0.1, 0.65),
    "taste": (0.1, 0.85),
    "tastes": (0.0, float(np.log(30))),
    "decay": (0.0, 2.0),
    "activity": (0.4, 1.6),
    "popularity": (0.2, 1.8),
    "known": (0.0, 0.6),
    "liking": (0.0, 1.0),
    "grades": (0.0, 4.0),
}
# steps of a scale that is not declared; 0: any value between the bounds
GRADES = (
    5,
    9,
    10,
    0,
)
MOST_EXPLAINED = 0.85  # of the variance within a person's ratings: the rest is noise
MOST_RATED = 0.9  # of all items, by one person
GRID = 256  # tastes and characters are multiples of 1/GRID: sums of products are exact in float32
WEIGHTS = 64  # log-weights are multiples of 1/WEIGHTS
LARGEST_WEIGHT = 40  # of a log-weight
AT_ONCE = 2_000_000  # pairs of person and item that are drawn together


@dataclass(frozen=True)
class World:
    """The properties that distinguish a world.

    Attributes
    ----------
    mean, mood : float
        The mean and standard deviation of people's means, in halves of the range.
    within : float
        The variance of ratings about a person's mean.
    quality, taste : float
        The shares of that variance that items' qualities and people's tastes explain.
    tastes : int
        The number of dimensions of taste. The variance of dimension k is proportional to k^-decay.
    decay : float
        The exponent of these variances.
    activity, popularity : float
        The standard deviations of the logarithms of people's and items' numbers of ratings.
    known : float
        The correlation of popularity and quality.
    liking : float
        How much taste decides which items a person rates.
    grades : int
        The number of steps of the scale; 0 for any value.
    """

    mean: float
    mood: float
    within: float
    quality: float
    taste: float
    tastes: int
    decay: float
    activity: float
    popularity: float
    known: float
    liking: float
    grades: int

    @property
    def noise(self) -> float:
        """The share of the variance within a person's ratings that nothing explains."""
        return 1 - self.quality - self.taste


def family() -> tuple[World, ...]:
    """The worlds of the family, a Latin hypercube of the prior."""
    columns = {
        name: _strata(low, high, place)
        for place, (name, (low, high)) in enumerate(PRIOR.items())
    }
    return tuple(
        _world({name: float(column[number]) for name, column in columns.items()})
        for number in range(COUNT)
    )


def _strata(low: float, high: float, place: int) -> Doubles:
    """One value in each of `COUNT` equal parts of a range, in random order."""
    rng = np.random.default_rng([52, place])
    parts = rng.permutation(COUNT) + rng.random(COUNT)
    return low + (high - low) * parts / COUNT


def _world(values: dict[str, float]) -> World:
    quality = values["quality"] ** 2
    taste = values["taste"] ** 2
    shrinkage = min(1.0, MOST_EXPLAINED / (quality + taste))
    return World(
        mean=values["mean"],
        mood=values["mood"],
        within=values["within"] ** 2,
        quality=shrinkage * quality,
        taste=shrinkage * taste,
        tastes=max(1, round(float(np.exp(values["tastes"])))),
        decay=values["decay"],
        activity=values["activity"],
        popularity=values["popularity"],
        known=values["known"],
        liking=values["liking"],
        grades=GRADES[int(values["grades"])],
    )


def ratings_of(
    world: World,
    n_users: int,
    n_items: int,
    each: float,
    *,
    bounds: Bounds,
    step: float | None = None,
    seed: int = 0,
    name: str = "world",
) -> Ratings:
    """Ratings of a world in a declared shape.

    Parameters
    ----------
    world : World
        The properties of the world.
    n_users, n_items : int
        The numbers of people and items.
    each : float
        The mean number of ratings of a person.
    bounds : tuple of float
        The lowest and the highest rating.
    step : float or None
        The step of the scale from its lower bound; None if it is not declared.
    seed : int
        The seed of all draws.
    name : str
        The name of the ratings.

    Returns
    -------
    Ratings
        The simulated ratings.
    """
    items_rng, people, visits, noise = (
        np.random.default_rng(child)
        for child in np.random.SeedSequence([seed, 1952]).spawn(4)
    )
    variances = np.arange(1.0, world.tastes + 1) ** -world.decay
    variances /= variances.sum()
    character = _on_grid(items_rng.standard_normal((n_items, world.tastes)))
    taste = _on_grid(
        people.standard_normal((n_users, world.tastes)) * np.sqrt(variances)
    )
    quality = items_rng.standard_normal(n_items)
    other = np.sqrt(1 - world.known**2) * items_rng.standard_normal(n_items)
    popularity = world.popularity * (world.known * quality + other)
    counts = _counts(
        world, n_items, each, people.standard_normal(n_users), people.random(n_users)
    )
    users, items, liking = _visits(world, taste, character, popularity, counts, visits)
    within = np.sqrt(world.within)
    score = (
        world.mean
        + world.mood * people.standard_normal(n_users)[users]
        + within * np.sqrt(world.quality) * quality[items]
        + within * np.sqrt(world.taste) * liking
        + within * np.sqrt(world.noise) * noise.standard_normal(len(users))
    )
    low, high = bounds
    return Ratings.of(
        users,
        items,
        low + (_rounded(score, _grades(world, bounds, step)) + 1) * (high - low) / 2,
        n_users=n_users,
        n_items=n_items,
        bounds=bounds,
        name=name,
        public=True,
    )


def _on_grid(values: Doubles) -> Floats:
    return np.asarray(np.rint(values * GRID) / GRID, np.float32)


def _counts(
    world: World,
    n_items: int,
    each: float,
    activity: Doubles,
    luck: Doubles,
) -> Ints:
    """How many items each person rates: log-normal, at least 1, with the declared mean."""
    most = max(1.0, MOST_RATED * n_items)
    sizes = np.exp(world.activity * activity)
    low = 0.0
    high = 1e6 * max(each, 1.0)
    for _ in range(100):
        middle = (low + high) / 2
        if np.clip(sizes * middle, 1, most).mean() < each:
            low = middle
        else:
            high = middle
    counts = np.floor(np.clip(sizes * high, 1, most) + luck)
    return np.asarray(counts.clip(1, int(most)), np.int64)


def _visits(
    world: World,
    taste: Floats,
    character: Floats,
    popularity: Doubles,
    counts: Ints,
    rng: np.random.Generator,
) -> tuple[Ints, Ints, Doubles]:
    """The ratings' users, items and likings. The variance of likings over all pairs is 1.

    The items of a person race in exponential times at rates equal to their weights, and the person
    rates the first ones. So each next item is drawn by weight among the remaining items.
    """
    n_items = len(character)
    ends = np.arange(-LARGEST_WEIGHT * WEIGHTS, LARGEST_WEIGHT * WEIGHTS + 1)
    slowness = np.exp(-ends / WEIGHTS).astype(np.float32)
    level = np.rint(popularity * WEIGHTS).astype(np.float32)
    step = max(1, AT_ONCE // n_items)
    visits = []
    for start in range(0, len(taste), step):
        liking = taste[start : start + step] @ character.T
        weight = np.rint(liking * np.float32(world.liking * WEIGHTS)) + level
        place = weight.clip(ends[0], ends[-1]).astype(np.int64) - ends[0]
        times = rng.standard_exponential(liking.shape, np.float32) * slowness[place]
        last = np.sort(times, axis=1)[
            np.arange(len(times)), counts[start : start + step] - 1
        ]
        users, items = np.nonzero(times <= last[:, None])
        visits.append((users + start, items, liking[users, items].astype(np.float64)))
    users, items, likings = (np.concatenate(part) for part in zip(*visits, strict=True))
    return users, items, likings


def _grades(world: World, bounds: Bounds, step: float | None) -> int:
    """The number of values on the scale; 0 if any value may be given."""
    if step is None:
        return world.grades
    return max(2, round((bounds[1] - bounds[0]) / step) + 1)


def _rounded(score: Doubles, grades: int) -> Doubles:
    """Scores from -1 to 1, on the nearest of `grades` values."""
    if grades:
        half = (grades - 1) / 2
        score = np.rint((score + 1) * half) / half - 1
    return score.clip(-1, 1)
