"""A simulated cinema: films with readable titles, people with tastes, half-star ratings.

Skews, biases and the benefit of a factorisation follow the 400 most rated films of MovieLens 1M
(measured in tests/datasets/test_cinema.py). A rating is `3.55 + person's mood + film's quality +
taste . character + noise`, rounded as the person rounds and clamped to half a star ... five stars.
"""

import tomllib
from pathlib import Path

import numpy as np

from dpmf_core.base.arrays import Array, Doubles, Flags, Floats, Ints
from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.ratings import Ratings

BOUNDS = (0.5, 5.0)
AT_ONCE = 20_000_000  # pairs of person and film that are drawn together

WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
# A genre is a latent dimension of taste. Its words (adjectives, nouns) make the titles, so that a
# recommendation shows its theme.
GENRES: dict[str, tuple[list[str], list[str]]] = {
    name: (words["adjectives"].split(), words["nouns"].split())
    for name, words in WORDS["genres"].items()
}
PLACES = WORDS["common"]["places"].split()
TEMPLATES = ("The {0} {1}", "The {0} {1}", "{0} {1}", "{1} in {2}", "The {1} of {2}")
MOODS = 2  # further dimensions of taste without a name
# People who like one genre tend to like its neighbours: serious against light, realistic against
# fantastic (rows in the order of GENRES).
KINSHIP = np.array(
    [
        [0.9, 0.6],
        [-0.9, 0.4],
        [0.3, -0.8],
        [0.1, 0.8],
        [-0.1, -1.0],
        [1.0, 0.4],
        [-1.0, 0.0],
        [-0.2, -1.0],
    ]
)


def cinema(
    n_users: int,
    n_items: int,
    *,
    density: float = 0.115,
    seed: int = 0,
) -> Ratings:
    """Ratings of `n_items` simulated films.

    Parameters
    ----------
    n_users, n_items : int
        The numbers of people and films.
    density : float
        The approximate share of (person, film) pairs that are rated.
    seed : int
        The seed of all draws.

    Returns
    -------
    Ratings
        The simulated ratings.
    """
    films, people, going, stars, clock = (
        np.random.default_rng(s) for s in np.random.SeedSequence([seed, 1896]).spawn(5)
    )
    character, titles, genres = films_of(n_items, films)  # character: (n_items, d)
    taste = people.normal(0, 0.9, (n_users, character.shape[1]))
    taste[:, : len(GENRES)] += people.normal(0, 0.5, (n_users, 2)) @ KINSHIP.T
    quality = films.normal(0, 1, n_items)
    users, items, liking = _visits(taste, character, quality, density, films, going)
    mood = people.normal(0, 0.38, n_users)
    score = (
        3.42
        + mood[users]
        + 0.4 * quality[items]
        + liking
        + stars.normal(0, 0.77, len(users))
    )
    return Ratings.of(
        users,
        items,
        rounded(score, users, people.random(n_users) < 0.6),
        n_users=n_users,
        n_items=n_items,
        bounds=BOUNDS,
        order=_seconds(users, n_users, clock),
        titles=titles,
        name="cinema",
        public=True,
        item_features=ItemFeatures(tuple(GENRES), genres),
    )


def films_of(
    n_items: int, rng: np.random.Generator
) -> tuple[Doubles, tuple[str, ...], Floats]:
    """Each film's character, title and genres.

    Characters (n_items, genres + moods) are centred over the films; genres are 0 or 1 (n_items,
    genres).
    """
    main = rng.permutation(np.arange(n_items) % len(GENRES))
    other = rng.integers(len(GENRES), size=n_items)
    character = np.zeros((n_items, len(GENRES) + MOODS))
    character[np.arange(n_items), main] = rng.uniform(0.3, 0.6, n_items)
    character[np.arange(n_items), other] += rng.uniform(0, 0.3, n_items)
    character[:, len(GENRES) :] = rng.normal(0, 0.16, (n_items, MOODS))
    genres = (character[:, : len(GENRES)] > 0).astype(np.float32)
    return character - character.mean(axis=0), _titles(main, rng), genres


def _titles(genre: Ints, rng: np.random.Generator) -> tuple[str, ...]:
    """Distinct titles in the words of each film's genre; a repeated name becomes a sequel."""
    words = list(GENRES.values())
    counts: dict[str, int] = {}
    titles = []
    for g in genre.tolist():
        adjectives, nouns = words[g]
        parts = (
            adjectives[rng.integers(len(adjectives))],
            nouns[rng.integers(len(nouns))],
            PLACES[rng.integers(len(PLACES))],
        )
        title = TEMPLATES[rng.integers(len(TEMPLATES))].format(
            *(part.replace("-", " ") for part in parts)
        )
        counts[title] = counts.get(title, 0) + 1
        part = f" {counts[title]}" if counts[title] > 1 else ""
        titles.append(f"{title}{part} ({rng.integers(1948, 2016)})")
    return tuple(titles)


def _visits(
    taste: Doubles,
    character: Doubles,
    quality: Doubles,
    density: float,
    films: np.random.Generator,
    going: np.random.Generator,
) -> tuple[Ints, Ints, Doubles]:
    """The ratings' users, items and scores (n_ratings,).

    A pair is rated with log-normal activity times log-normal popularity, more often if the person
    likes the film.
    """
    n_users = len(taste)
    n_items = len(character)
    activity = np.exp(going.normal(0, 0.95, n_users))
    popularity = np.exp(0.16 * quality + films.normal(0, 0.48, n_items))
    popularity *= n_items / popularity.sum()

    def rates(people: slice) -> tuple[Doubles, Doubles]:
        liking = taste[people] @ character.T
        return liking, np.exp(0.6 * liking) * (activity[people, None] * popularity)

    level = _level(rates(slice(None, None, max(1, n_users // 500)))[1], density)
    visits = []
    for start in range(0, n_users, max(1, AT_ONCE // n_items)):
        liking, rate = rates(slice(start, start + max(1, AT_ONCE // n_items)))
        users, items = np.nonzero(going.random(rate.shape) < -np.expm1(-level * rate))
        visits.append((users + start, items, liking[users, items]))
    users, items, likings = (np.concatenate(part) for part in zip(*visits, strict=True))
    return users, items, likings


def _level(rate: Doubles, density: float) -> float:
    """The factor c for which the mean of 1 - exp(-c rate) is `density`, by bisection."""
    low = 0.0
    high = 50.0
    for _ in range(40):
        middle = (low + high) / 2
        if -np.expm1(-middle * rate).mean() < density:
            low = middle
        else:
            high = middle
    return high


def rounded(score: Array, users: Array, whole: Flags) -> Doubles:
    """Stars as people give them: some use only whole stars, the others half stars."""
    step = np.where(whole, 1.0, 0.5)[users]
    return np.asarray(np.clip(np.floor(score / step + 0.5) * step, *BOUNDS))


def _seconds(users: Ints, n_users: int, rng: np.random.Generator) -> Ints:
    """When each rating was given: people join within ten years and rate most films soon after."""
    year = 365 * 86_400
    first_visit = rng.uniform(0, 10 * year, n_users)
    moments = first_visit[users] + rng.exponential(year / 4, len(users))
    return moments.astype(np.int64)
