"""How far one unit can move a release, as a share of the declared sensitivity.

`python -m benchmarks.realised [ALGORITHM ...]` draws all parameters and the noise log-uniformly
over their ranges, with the worst known units among the people, and records the largest move divided
by the declared one: 1 is tight, and more would be a fault.
"""

import argparse
import zlib
from typing import Any

import numpy as np

from benchmarks.report import save
from dpmf_core.algorithms import REGISTRY, Algorithm, PrivateAlgorithm
from dpmf_core.base.threads import single_threaded_blas
from dpmf_core.privacy import VALUE
from dpmf_core.testing.homes import homes_of
from dpmf_core.testing.parameter_sets import from_whole_range
from dpmf_core.testing.privacy_laws import check_units

DRAWS = 200


def over_ranges(kind: type[Algorithm]) -> dict[str, Any]:
    """The largest move of any unit, over `DRAWS` draws on each kind of data.

    Raises AssertionError where a unit moves a release further than declared, or all releases
    together further than the accountant counts.
    """
    furthest: tuple[float, str] = (0.0, "")
    fits = 0
    for home in homes_of(kind):
        rng = np.random.default_rng(
            [zlib.crc32(kind.id.encode()), zlib.crc32(home.name.encode())]
        )
        for draw in range(DRAWS):
            world = home.world(draw, draw % 3)
            algorithm = kind(**from_whole_range(kind, world.shape, rng))
            level = 10.0 ** rng.uniform(-2, 4)
            if (
                not algorithm.guarantee().has_epsilon
                or algorithm.guarantee().unit == VALUE
            ):
                continue
            shares = check_units(algorithm, world, level=level, home=home)
            fits += 1
            furthest = max(
                [furthest, *((share, name) for name, share in shares.items())]
            )
    return {
        "algorithm": kind.id,
        "fits": fits,
        "furthest": furthest[0],
        "statistic": furthest[1],
    }


def main() -> None:
    private = [
        name for name, kind in REGISTRY.items() if issubclass(kind, PrivateAlgorithm)
    ]
    parser = argparse.ArgumentParser()
    parser.add_argument("algorithms", nargs="*", default=private)
    with single_threaded_blas:
        rows = [over_ranges(REGISTRY[name]) for name in parser.parse_args().algorithms]
    save(
        "realised-ranges",
        {"draws": DRAWS, "rows": [row for row in rows if row["fits"]]},
    )


if __name__ == "__main__":
    main()
