"""What a server without retention stores and receives in each variant, listed and counted."""

from dataclasses import dataclass

import numpy as np

from dpmf_core.algorithms.retention_server import Biases, Server

USERS, ITEMS, DIMENSIONS, MOMENTS = 4, 6, 3, 8


@dataclass(frozen=True)
class MemoryItem:
    """Something stored: what, where, and for how long."""

    what: str
    where: str
    how_long: str


STATIC_FACTORS = MemoryItem("user factors", "server", "always, frozen since the start")
ITEM_FACTORS = MemoryItem("item factors", "server", "always")
ITEM_BIASES = MemoryItem("item biases", "server", "always")
OWN_RATINGS = MemoryItem("the user's ratings", "their own device", "as long as they like")
FOR_A_MOMENT = MemoryItem(
    "the user's vector and the ratings they brought", "server", "during the interaction"
)
MEMORY: dict[str, tuple[MemoryItem, ...]] = {
    "baseline": (
        MemoryItem("all ratings", "server", "always"),
        MemoryItem("user factors", "server", "always"),
        ITEM_FACTORS,
        ITEM_BIASES,
    ),
    "static": (
        STATIC_FACTORS,
        MemoryItem("item factors", "server", "always, frozen since the start"),
        MemoryItem("item biases", "server", "always, frozen since the start"),
        OWN_RATINGS,
    ),
    "online": (
        MemoryItem("all ratings", "server", "always"),
        MemoryItem("user factors", "server", "always"),
        ITEM_FACTORS,
        ITEM_BIASES,
    ),
    "new": (ITEM_FACTORS, ITEM_BIASES, OWN_RATINGS, FOR_A_MOMENT),
    "rated": (ITEM_FACTORS, ITEM_BIASES, OWN_RATINGS, FOR_A_MOMENT),
}
IN_TRANSIT: dict[str, str] = {
    "baseline": "the one new rating",
    "static": "the request; no rating",
    "online": "the one new rating",
    "new": "all that the user has ever rated, each time",
    "rated": "all that the user has ever rated, each time",
}


def at_rest(variant: str) -> list[str]:
    """Return what a variant's server stores between two interactions."""
    items = [it for it in MEMORY[variant] if it.where == "server" and "always" in it.how_long]
    return [it.what for it in items]


@dataclass(frozen=True)
class Holding:
    """What one variant's server holds after a rating.

    user_numbers, item_numbers: numbers stored about users and items. for_a_moment: held only during
    the interaction. ratings_sent: ratings transmitted in this interaction.
    """

    variant: str
    ratings: int
    user_numbers: int
    item_numbers: int
    for_a_moment: str
    ratings_sent: int


@dataclass(frozen=True)
class Moment:
    """An arriving rating, and what each variant's server holds then. Users and items from 1."""

    number: int
    user: int
    item: int
    rating: float
    holdings: tuple[Holding, ...]
    item_move: float


def stream(seed: int = 0) -> list[Moment]:
    """Return a few successive ratings.

    item_move: how far the item factors of variant `rated` moved.
    """
    rng = np.random.default_rng(seed)
    factors = rng.uniform(-0.9, 0.9, (ITEMS, DIMENSIONS))
    server = Server(factors, Biases.none(ITEMS), step="rated", item_rate=0.05)
    own: dict[int, list[tuple[int, float]]] = {user: [] for user in range(USERS)}
    moments = []
    for number in range(MOMENTS):
        user = int(rng.integers(USERS))
        free = [
            item for item in range(ITEMS) if item not in {rated_item for rated_item, _ in own[user]}
        ]
        item, value = int(rng.choice(free)), float(rng.integers(1, 6))
        own[user].append((item, value))
        before = server.item_factors.copy()
        server.update(*(np.array(column) for column in zip(*own[user], strict=True)))
        n_stored, users, items = number + 1, USERS * DIMENSIONS, server.n_item_numbers
        ratings_words = "the one rating they brought"
        if len(own[user]) > 1:
            ratings_words = f"the {len(own[user])} ratings they brought"
        passing = f"the user's vector ({DIMENSIONS} numbers) and {ratings_words}"
        holdings = (
            Holding("baseline", n_stored, users, items, "nothing", 1),
            Holding("static", 0, users, items, "nothing", 0),
            Holding("online", n_stored, users, items, "nothing", 1),
            Holding("new", 0, 0, items, passing, len(own[user])),
            Holding("rated", 0, 0, items, passing, len(own[user])),
        )
        item_move = float(np.linalg.norm(server.item_factors - before))
        moments.append(Moment(number + 1, user + 1, item + 1, value, holdings, item_move))
    return moments
