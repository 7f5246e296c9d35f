"""Where our private alternating least squares depart from Chien et al. 2021."""

from collections.abc import Mapping

from dpmf_core.papers.deviations import Deviation

DEVIATIONS: Mapping[str, tuple[Deviation, ...]] = {
    "dpals": (
        Deviation(
            place="Algorithm 1, line 1",
            paper="clips entries to Γ_M before all steps",
            ours="clips ratings in the item step only, so users' own factors see whole ratings",
            why="a user's own step costs no privacy",
            cost="entries",
        ),
        Deviation(
            place="Algorithm 1, lines 10 and 11",
            paper="X_j = λI + Σ U_i ⊗ U_i + G_j; Π_PSD(X_j)⁺",
            ours="projects the noisy Gram matrix alone and adds the ridge afterwards",
            why="the systems are then positive definite, and no direction is left to noise alone",
            cost="ridge",
        ),
        Deviation(
            place="Algorithm 1, lines 10 and 15",
            paper="one λ for items and users",
            ours="has a ridge for items in units of Γ_u², one for users in training, one for"
            " predictions, and one that follows the noise; equal, and 0 for the last, gives λ",
            why="noise makes a much larger ridge right for items than for users",
            cost="one ridge",
        ),
        Deviation(
            place="Algorithm 1, lines 13 and 16",
            paper="returns V with orthonormal columns and users' factors clipped to Γ_u",
            ours="returns the last item factors times Γ_u/√r as they were solved, and users' last"
            " factors without a clip",
            why="columns that noise made are not raised to the size of the others, and nobody else"
            " sees a user's last factor",
            cost="last step",
        ),
        Deviation(
            place="section 5.2",
            paper="m̃ of all ratings, with noise on their sum and number",
            ours="releases the mean of users' means",
            why="the noise printed does not cover a user's ratings (corrections)",
        ),
        Deviation(
            place="Theorem 1 and Appendix C",
            paper="σ for the item steps; counts and mean are composed with them",
            ours="divides one budget, with fixed shares for counts and the mean; not with"
            " --calibration source, which adds theirs to σ of the theorem",
            why="a run costs what was asked for",
        ),
    ),
}
