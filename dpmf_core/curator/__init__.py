"""The wall between private rows and algorithms, which get only noisy sums over people."""

from dpmf_core.curator.curator import (
    CELLS_ARE_PUBLIC,
    Curator,
    ExactCurator,
    NoisyCurator,
    OpenCurator,
)
from dpmf_core.curator.grid import grid_step, on_grid
from dpmf_core.curator.groups import on_disjoint_groups, on_groups
from dpmf_core.curator.people import (
    Blocks,
    Cells,
    Held,
    People,
    Step,
    in_memory,
    in_parts,
)
from dpmf_core.curator.statistic import Block, Range, Statistic, Totals

__all__ = [
    "CELLS_ARE_PUBLIC", "Block", "Blocks", "Cells", "Curator", "ExactCurator", "Held",
    "NoisyCurator", "OpenCurator", "People", "Range", "Statistic", "Step", "Totals", "grid_step",
    "in_memory", "in_parts", "on_disjoint_groups", "on_grid", "on_groups",
]  # fmt: skip
