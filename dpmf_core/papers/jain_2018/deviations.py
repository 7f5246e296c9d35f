"""Where our private Frank-Wolfe and private SVD depart from Jain et al. 2018."""

from collections.abc import Mapping

from dpmf_core.papers.deviations import Deviation

LAST_DIRECTION = Deviation(
    place="Algorithm 1, order of A_global and A_local",
    paper="users step along v of the round before, so T rounds use T - 1 directions",
    ours="steps along each of T released directions, by 1/T",
    why="the last release is paid for",
    cost="last direction",
)
# not with source_bound=ratings, slack=true and user_step=steps
CLIPPED_RESIDUALS = Deviation(
    place="section 3, Controlling norm via projection; Lemma D.1",
    paper="rows of ratings and iterates are within L, and residuals are not clipped",
    ours="clips residual rows and iterates to one bound C, which takes the place of 2L; not with"
    " source_bound=ratings",
    why="noise grows with the square of the bound, and most residual rows are far shorter than 2L",
    cost="clipped residuals",
)
SLACK = Deviation(
    place="Algorithm 1, λ′ and footnote 2",
    paper="adds √(σ log(n/β)) n^¼ to λ, for n items",
    ours="takes λ as it is; not with slack=true",
    why="the term shortens every step, and privacy does not need it",
    cost="slack",
)
DEVIATIONS: Mapping[str, tuple[Deviation, ...]] = {
    "dpfw": (CLIPPED_RESIDUALS, SLACK, LAST_DIRECTION),
    "dpfw-oja": (
        CLIPPED_RESIDUALS,
        SLACK,
        LAST_DIRECTION,
        Deviation(
            place="section 3.2, equation (4)",
            paper="v + η (AᵀA v + g), with a step size η that our copy does not show",
            ours="takes η as c/Γ over the mean norm of the products so far, with c = 1000, which is"
            " power iteration",
            why="the scale of AᵀA is private",
        ),
        Deviation(
            place="Algorithm 2, eigenvalue",
            paper="“The computation of the approximate eigenvector and the eigenvalue in it is DP”;"
            " our copy does not show how",
            ours="takes the norm of one noisy product more, along which v moves, too",
            why="the norm of a noisy product is at least that of the noise, so no user moves far"
            " along noise",
        ),
    ),
    "private-svd": (
        Deviation(
            place="Appendix B, Algorithm 4",
            paper="projects a user's record “after appropriate scaling”: 1/p of all users' ratings",
            ours="scales by the share of items that the user rated; and by default fits a ridge"
            " regression, not with user_step=projection",
            why="the number of all ratings is private and is not released",
            cost="share",
        ),
    ),
}
