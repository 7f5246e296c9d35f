"""A ratings table as somebody brings it, made here: other column names, half stars, days before
months, text ids, one row in a hundred broken; and secrets in it that nothing else may hold.
"""

import random
from dataclasses import dataclass

FIRST = ["amber", "bronze", "cobalt", "dusky", "ebony", "flint", "golden", "hazel"]
SECOND = ["owl", "lynx", "heron"]
# ratings that are none, or outside the scale
BROKEN_RATINGS = (
    "n/a",
    "five",
    "",
    "9.5",
    "-3",
)


@dataclass(frozen=True)
class MessyTable:
    """A table as bytes; secrets: texts of its rows, any of which would give somebody away."""

    content: bytes
    secrets: frozenset[str]
    rows: int


def messy_table(people: int = 1200, items: int = 60, seed: int = 0) -> MessyTable:
    """Half stars from 0.5 to 5 in the columns client_ref, programme, stars, watched_on."""
    draw = random.Random(seed)
    clients = [f"kd-{draw.getrandbits(40):010x}" for _ in range(people)]
    programmes = [
        f"{FIRST[place % 8].title()} {SECOND[place // 8 % len(SECOND)].title()} {place:02d}Z"
        for place in range(items)
    ]
    quality = {programme: draw.uniform(1.5, 4.5) for programme in programmes}
    rows = []
    dates = set()
    for client in clients:
        for programme in draw.sample(programmes, draw.randint(5, items // 2)):
            rating = min(max(quality[programme] + draw.gauss(0, 0.8), 0.5), 5.0)
            stars = f"{round(2 * rating) / 2:g}"
            if draw.random() < 0.01:
                stars = draw.choice(BROKEN_RATINGS)
            day = f"{draw.randint(1, 28):02d}/{draw.randint(1, 12):02d}/{draw.randint(2015, 2023)}"
            dates.add(day)
            rows.append(f"{client},{programme},{stars},{day}")
    content = "\n".join(["client_ref,programme,stars,watched_on", *rows]) + "\n"
    return MessyTable(
        content.encode(), frozenset({*clients, *programmes, *dates}), len(rows)
    )
