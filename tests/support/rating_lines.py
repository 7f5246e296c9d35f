"""Lines of small files of ratings."""

import random


def rating_lines(n_users: int, n_items: int) -> list[str]:
    """A line "user,item,stars" of every user and item, with the same stars each time."""
    draw = random.Random(0)
    lines = []
    for user in range(n_users):
        for item in range(n_items):
            lines.append(f"{user},{item},{draw.randint(1, 5)}")
    return lines
