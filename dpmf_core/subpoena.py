"""What a server holds, moment by moment, in each variant of factorisation without retention: counted on a small stream that is really run."""

from dataclasses import dataclass

import numpy as np

from dpmf_core.algorithms.retention import Server

USERS, ITEMS, DIMENSIONS, MOMENTS = 4, 6, 3, 8


@dataclass(frozen=True)
class Holding:
    """Numbers at rest on the server, of users and of items, and what is there only while somebody interacts."""

    variant: str
    ratings: int
    user_numbers: int
    item_numbers: int
    for_a_moment: str


@dataclass(frozen=True)
class Moment:
    """One arriving rating, and what each variant's server holds right after it."""

    number: int
    user: str
    item: str
    rating: float
    holdings: tuple[Holding, ...]
    moved: float


def stream(seed: int = 0) -> list[Moment]:
    """A few ratings one after the other; `moved` is how far the item factors of variant `rated` went."""
    rng = np.random.default_rng(seed)
    server = Server(rng.uniform(-0.9, 0.9, (ITEMS, DIMENSIONS)), rated=True, item_rate=0.05)
    hers: dict[int, list[tuple[int, float]]] = {user: [] for user in range(USERS)}
    found = []
    for number in range(MOMENTS):
        user = int(rng.integers(USERS))
        free = [item for item in range(ITEMS) if item not in {rated for rated, _ in hers[user]}]
        item, value = int(rng.choice(free)), float(rng.integers(1, 6))
        hers[user].append((item, value))
        before = server.item_factors.copy()
        server.update(*(np.array(column) for column in zip(*hers[user], strict=True)))
        stored, users, items = number + 1, USERS * DIMENSIONS, int(server.item_factors.size)
        passing = f"her vector ({DIMENSIONS} numbers) and the {len(hers[user])} rating{'s' * (len(hers[user]) > 1)} she brought"
        holdings = (
            Holding("baseline", stored, users, items, "nothing"), Holding("static", 0, users, items, "nothing"),
            Holding("online", stored, users, items, "nothing"), Holding("new", 0, 0, items, passing), Holding("rated", 0, 0, items, passing),
        )  # fmt: skip
        moved = float(np.linalg.norm(server.item_factors - before))
        found.append(Moment(number + 1, f"person {user + 1}", f"item {item + 1}", value, holdings, moved))
    return found
