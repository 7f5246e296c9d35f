"""The demonstration of every part of every lesson: a figure and a control each, on the app's own
computations.
"""

from collections.abc import Callable

from pages.lessons import block_figures as blocks
from pages.lessons import noise_figures as noise
from pages.lessons import people_figures as people

DEMONSTRATIONS: dict[str, Callable[[], None]] = {
    "linking": people.linking,
    "exact sums": people.exact_sums,
    "noisy sums": people.noisy_sums,
    "neighbours": people.neighbours,
    "group": people.group,
    "joint": people.joint,
    "attacker": people.attacker,
    "response": noise.response,
    "local": noise.local,
    "blocks": blocks.blocks,
    "clipping": noise.clipping,
    "composition": noise.composition,
    "postprocessing": noise.postprocessing,
    "price": noise.price,
}
