"""Where our private non-negative factorisation departs from Saha & Imtiaz 2022, Algorithm 2."""

from collections.abc import Callable, Mapping

from dpmf_core.papers.clauses import Results
from dpmf_core.papers.deviations import Deviation

# of every run, also with the source's noise, start and step of W
OF_EVERY_RUN = (
    Deviation(
        place="section 3.2, after equation 13",
        paper="“normalizing each column of” H",
        ours="scales columns of H only where they are longer than 1",
        why="the sensitivity is the same, and samples that components explain badly weigh less",
        cost="columns of H",
    ),
    Deviation(
        place="section 3.2, after equation 14",
        paper="“we normalized both the columns of” V and R",
        ours="scales columns of V, and columns of V − R where they are longer than 1",
        why="B then moves by at most half as far",
        cost="columns of R",
    ),
    Deviation(
        place="Algorithm 2, line 3",
        paper="N(0, τ²) on each of the K x K entries of A",
        ours="adds the symmetric part of the noise of A",
        why="A is symmetric; the part that is left out carries no signal",
        cost="symmetric noise",
    ),
    Deviation(
        place="Algorithm 2, line 4",
        paper="the gradient uses the noisy A as it is",
        ours="projects the noisy A to the positive semi-definite matrices",
        why="with a negative eigenvalue the objective of W has no minimum",
        cost="semi-definite A",
    ),
    Deviation(
        place="section 4.1",
        paper="W from NNDSVD",
        ours="scales the columns of the start of W to norm 1",
        why="line 5 keeps columns in the unit ball, where those of NNDSVD do not begin",
        cost="columns of the start",
    ),
    Deviation(
        place="Algorithm 2, line 2",
        paper="steps of length η_H “until some stopping criteria is met”",
        ours="solves for H and R in each step",
        why="the step length and the criterion are not printed; the minimum needs neither",
    ),
)
DEVIATIONS: Mapping[str, tuple[Deviation, ...]] = {
    "dp-nmf": (
        *OF_EVERY_RUN,
        Deviation(
            place="section 4.1",
            paper="W from NNDSVD of the private data",
            ours="starts at random or from a noisy mean row; not with start=nndsvd",
            why="a start from the data is a release without noise",
            cost="start",
        ),
        Deviation(
            place="Algorithm 2, line 5",
            paper="a step of length η_W along the noisy gradient",
            ours="solves for W; not with a basis_rate above 0",
            why="steps on released sums cost no budget",
            cost="solved W",
        ),
    )
}

_DEPARTURES = "; ".join(deviation.ours for deviation in OF_EVERY_RUN)
DEPARTS = f"DP-NMF departs from Algorithm 2: it {_DEPARTURES}."


def with_departures(
    remark: Callable[[Results], str] = lambda results: "",
) -> Callable[[Results], str]:
    """A claim's remark that also names what every run of it does otherwise."""
    return lambda results: " ".join(filter(None, (remark(results), DEPARTS)))
