"""Where our private non-negative factorisation departs from Saha & Imtiaz 2022, Algorithm 2."""

from collections.abc import Mapping

from dpmf_core.papers.deviations import Deviation

# of every run, also with the source's noise, start and step of W
OF_EVERY_RUN = (
    Deviation(
        place="section 3.2, after equation 13",
        paper="“normalizing each column of” H",
        ours="scales only columns that are longer than 1",
        why="the sensitivity is the same, and samples that components explain badly weigh less",
        cost="columns of H",
    ),
    Deviation(
        place="section 3.2, after equation 14",
        paper="“we normalized both the columns of” V and R",
        ours="scales columns of V, and those of V − R that are longer than 1",
        why="B then moves by at most half as far",
        cost="columns of R",
    ),
    Deviation(
        place="Algorithm 2, line 3",
        paper="N(0, τ²) on each of the K x K entries of A",
        ours="adds the symmetric part of this noise",
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
        ours="scales its columns to norm 1",
        why="line 5 keeps columns in the unit ball, where those of NNDSVD do not begin",
        cost="columns of the start",
    ),
    Deviation(
        place="Algorithm 2, line 2",
        paper="steps of length η_H “until some stopping criteria is met”",
        ours="solves for H, and for R with it",
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
