"""Statements of Chien et al. 2021 about Fig. 4, simulated low rank, as clauses."""

from dpmf_core.papers.chien_2021.movielens import SOURCE_DPFW, epsilons_of
from dpmf_core.papers.clauses import Clause, Results, line
from dpmf_core.papers.figures import median_at
from dpmf_core.privacy.formatting import budget_text

SECTION_62_SYNTHETIC = "section 6.2, DPALS vs. DPFW on synthetic data"


def _at_users(results: Results, label: str, epsilon: float) -> dict[float, float]:
    """Return medians by the number of users."""
    return line([it for it in results if it.epsilon == epsilon], label, "users")


def _improves_with_users(label: str, name: str) -> Clause:
    """State that at every epsilon the error for the most users is below that for the fewest."""

    def drops(results: Results) -> list[float]:
        lines = [_at_users(results, label, at) for at in epsilons_of(results, label)]
        return [values[min(values)] - values[max(values)] for values in lines]

    def figures(results: Results) -> str:
        ends = {at: _at_users(results, label, at) for at in epsilons_of(results, label)}
        return ", ".join(
            f"{values[min(values)]:.3f} to {values[max(values)]:.3f} at ε = {budget_text(at)}"
            for at, values in ends.items()
        )

    words = f"the error of {name} is lower for the most users than for the fewest, at every ε"
    return Clause(words, lambda results: min(drops(results)), figures).quoting(
        SECTION_62_SYNTHETIC,
        "the trade-off of both algorithms improves as the number of users increases",
    )


def ratios(results: Results) -> dict[float, float]:
    """Return DPFW's error divided by DPALS's for the most users, by epsilon."""
    return {
        at: median_at(results, SOURCE_DPFW, at) / median_at(results, "DPALS", at)
        for at in epsilons_of(results, "DPALS")
    }


def only_ten_thousand(full: bool) -> str:
    return (
        ""
        if full
        else "The 7-fold improvement is stated for 50,000 users; here there are 10,000 at most."
    )


def _lowest_and_highest(results: Results, label: str) -> tuple[float, float]:
    values = _at_users(results, label, 1.0).values()
    return min(values), max(values)


FIG_4 = (
    _improves_with_users("DPALS", "DPALS"),
    _improves_with_users(SOURCE_DPFW, "DPFW"),
    Clause(
        "at ε = 1 DPFW is no better than predicting 0, whose error is 1, for any number of users"
        " (below .98 we call better)",
        lambda results: _lowest_and_highest(results, SOURCE_DPFW)[0] - 0.98,
        lambda results: "DPFW from {:.3f} to {:.3f}".format(
            *_lowest_and_highest(results, SOURCE_DPFW)
        ),
    ).quoting(
        SECTION_62_SYNTHETIC,
        "the quality of the DPFW models is no better than the trivial model (RMSE equal to 1)",
    ),
    Clause(
        "at ε = 1 DPALS has a lower error than 1 for any number of users",
        lambda results: 1 - _lowest_and_highest(results, "DPALS")[1],
        lambda results: "DPALS from {:.3f} to {:.3f}".format(
            *_lowest_and_highest(results, "DPALS")
        ),
    ).quoting(
        SECTION_62_SYNTHETIC,
        "while DPALS has a lower RMSE, which significantly improves with larger",
    ),
    Clause(
        "for the most users the error of DPFW is at least 7 times that of DPALS, at every ε",
        lambda results: min(ratios(results).values()) - 7,
        lambda results: ", ".join(
            f"{ratio:.1f} times at ε = {budget_text(at)}" for at, ratio in ratios(results).items()
        ),
    ).quoting(
        SECTION_62_SYNTHETIC,
        "the relative improvement in RMSE between DPALS and DPFW is at least 7-fold across all",
    ),
)


def untuned(results: Results) -> str:
    """Return what differs from the source's protocol, and the effect of DPFW's rule."""
    exact, theirs = (median_at(results, label, 5.0) for label in ("DPFW", SOURCE_DPFW))
    return (
        "DPFW draws the noise of its own source's rule. Parameters are fixed here: the source"
        " chooses them on validation ratings, which may lower both errors. At ε = 5 DPFW has"
        f" {theirs:.3f} by its source's rule and {exact:.3f} exactly accounted."
    )
