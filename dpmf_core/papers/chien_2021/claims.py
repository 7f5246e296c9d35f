"""Chien, Jain, Krichene, Rendle, Song, Thakurta & Zhang 2021, "Private Alternating Least Squares":
its figures as claims. What is run for them: `chien_sweeps`.
"""

import itertools

from dpmf_core.data.popularity_skew import shares
from dpmf_core.papers.chien_2021 import sweeps as runs
from dpmf_core.papers.clauses import Clause, Median, Results, best, between, larger, less, line
from dpmf_core.papers.figures import Claim, Mark, by_step, median_at
from dpmf_core.papers.methods import LOWRANK
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.data_access import open_ratings
from dpmf_core.runs.sweep import Summary

C21 = "Chien et al. 2021"
ML10M = "MovieLens 10M (69,878 users, 10,677 films)"
LEADS = (1.0, 5.0, 20.0)  # epsilons at which DPALS is compared with DPFW
RATINGS_PER_USER = 50  # ratings of a user in Fig. 2 and 5


def bunching(full: bool) -> list[Summary]:
    """Fig. 2: the share of observations on the most observed items, by the share of these."""
    return [
        Summary(it.selection, "", None, {"top_share": it.items}, (it.observations,))
        for it in shares(open_ratings(runs.every_film(full)), RATINGS_PER_USER, points=20)
    ]


def on_top(results: Results, label: str) -> float:
    """The share of observations that fall on the top fifth of the items."""
    places = line(results, label, "top_share")
    return places[min(places, key=lambda place: abs(place - 0.2))]


def rule_alone(results: Results) -> str:
    """Fig. 3a and 4 set DPFW's noise by its source's rule: how much of its distance to DPALS is
    that rule?
    """
    theirs, ours, als = (
        median_at(results, label, 5.0) for label in ("DPFW, source's noise", "DPFW", "DPALS")
    )
    if theirs <= als:
        return ""
    share = (theirs - ours) / (theirs - als)
    if share >= 1:
        return (
            "At ε = 5 the published gap is the accounting rule alone: exactly accounted, DPFW has"
            f" {ours:.3f}."
        )
    return (
        f"At ε = 5, {share:.0%} of the gap is the accounting rule alone: exactly accounted, DPFW"
        f" has {ours:.3f}."
    )


def gain(results: Results, epsilon: float, dpfw: str = "DPFW, source's noise") -> float:
    """By what share DPALS's RMSE is below DPFW's, both with their sources' noise."""
    return 1 - Median("DPALS, source's noise", epsilon)(results) / Median(dpfw, epsilon)(results)


def _gains(epsilon: float) -> Clause:
    """The source prints 7% and 11.6%; the bounds allow for rounding."""
    return between(
        f"at ε = {budget_text(epsilon)} DPALS errs by 7% to 11.6% less than DPFW, both with their"
        " sources' noise",
        lambda results: 100 * gain(results, epsilon),
        6.5,
        11.65,
        "measured, in percent,",
    )


def other_gains(results: Results) -> str:
    """DPALS's lead where DPFW's rows are clipped to the source's L rather than 2L, and where both
    are accounted exactly; how much of the published one the accounting rule is.
    """
    longer = ", ".join(
        f"{gain(results, at, runs.DPFW_L.name):.1%} at ε = {budget_text(at)}" for at in LEADS
    )
    exact = ", ".join(
        f"{1 - median_at(results, 'DPALS', at) / median_at(results, 'DPFW', at):.1%}"
        f" at ε = {budget_text(at)}"
        for at in LEADS
    )
    return (
        "Where DPFW's residual rows are clipped to L, for which its noise is four times as large,"
        f" DPALS errs by {longer} less; exactly accounted by {exact} less. {rule_alone(results)}"
    )


def _order_clauses(*labels: str, epsilons: tuple[float, ...] = (5.0, 20.0)) -> tuple[Clause, ...]:
    """The methods' order, best first, as a clause for each pair of neighbours and epsilon."""
    return tuple(
        less(Median(better, epsilon), Median(worse, epsilon))
        for epsilon in epsilons
        for better, worse in itertools.pairwise(labels)
    )


def _with_users(label: str, epsilon: float) -> Clause:
    def drop(results: Results) -> tuple[float, float]:
        at = [it.median for it in results if (it.label, it.epsilon) == (label, epsilon)]
        return at[0], at[-1]

    return Clause(
        f"{label} at ε = {budget_text(epsilon)} gains from more users",
        lambda results: drop(results)[0] - drop(results)[1],
        lambda results: "from {:.4f} to {:.4f}".format(*drop(results)),
    )


def _for_most_users(better: str, worse: str, epsilon: float) -> Clause:
    return Clause(
        f"{better} is below {worse} at ε = {budget_text(epsilon)} for the most users",
        lambda results: median_at(results, worse, epsilon) - median_at(results, better, epsilon),
        lambda results: (
            f"{better} {median_at(results, better, epsilon):.4f}, {worse}"
            f" {median_at(results, worse, epsilon):.4f}"
        ),
    )


def price_of_own_users(results: Results) -> str:
    """How many times as far off steps with users of their own are, for the most users."""
    ratios = " and ".join(
        f"{median_at(results, runs.OWN_USERS, at) / median_at(results, 'DPALS', at):.2f} times as"
        f" far off at ε = {budget_text(at)}"
        for at in (5.0, 20.0)
    )
    steps = int(LOWRANK["dpals"]["steps"])
    return (
        f"For the most users it is {ratios}. T = {steps} times fewer users and √T times less noise"
        f" leave √T = {steps**0.5:.2f} times as much noise in a step's answer."
    )


def _better(better: str, worse: str) -> Clause:
    return Clause(
        f"{better}, at its best share, is below {worse} at its own",
        lambda results: best(results, worse) - best(results, better),
        lambda results: f"{better} {best(results, better):.4f}, {worse} {best(results, worse):.4f}",
    )


def _best_side(words: str, label: str, name: str, cut: float, above: bool) -> Clause:
    """That a method's smallest median lies above `cut` on an axis, or at it and below."""

    def sides(results: Results) -> tuple[float, float]:
        values = line(results, label, name)
        low = min(value for at, value in values.items() if at <= cut)
        high = min(value for at, value in values.items() if at > cut)
        return low, high

    def margin(results: Results) -> float:
        low, high = sides(results)
        return low - high if above else high - low

    return Clause(
        words,
        margin,
        lambda results: (
            f"best up to {name} {cut:g} {sides(results)[0]:.4f}, best above {sides(results)[1]:.4f}"
        ),
    )


CLAIMS = (
    Claim(
        id="chien-fig2",
        title="How ratings bunch on few films",
        source=f"{C21}, Fig. 2",
        words=(
            f"Share of observations against share of top films; {RATINGS_PER_USER} ratings a user."
        ),
        compute=bunching,
        page="papers",
        computed_on=runs.every_film,
        clauses=(
            between(
                "the top fifth of the films has over 85% of the ratings",
                lambda results: on_top(results, "all ratings"),
                0.85,
                1.0,
            ),
            Clause(
                "adaptive sampling leaves less on the top fifth than uniform sampling",
                lambda results: on_top(results, runs.UNIFORM) - on_top(results, runs.ADAPTIVE),
                lambda results: (
                    f"adaptive {on_top(results, runs.ADAPTIVE):.4f}, uniform"
                    f" {on_top(results, runs.UNIFORM):.4f}"
                ),
            ),
        ),
        axis="top_share",
        source_data=ML10M,
        source_ids=("ml-10m",),
    ),
    Claim(
        id="chien-fig3a",
        title="RMSE against epsilon, 400 most rated films",
        source=f"{C21}, Fig. 3a",
        words=(
            "DPALS, DPFW and SVD after cleansing, which is the source's DPSVD, on the films that"
            " most people rated."
        ),
        sweeps=runs.top_films,
        clauses=(
            *(_gains(epsilon) for epsilon in LEADS),
            *(
                larger(
                    Median("SVD after cleansing", epsilon),
                    Median("Global mean"),
                    f"at ε = {budget_text(epsilon)} SVD after cleansing is worse than the global"
                    " mean",
                )
                for epsilon in (1.0, 20.0)
            ),
        ),
        remark=other_gains,
        source_data=f"the 400 most rated films of {ML10M}",
        source_ids=("ml-10m",),
    ),
    Claim(
        id="chien-fig3b",
        title="RMSE against epsilon, all films",
        source=f"{C21}, Fig. 3b",
        words=(
            "Every film, where most are rated by few. DPFW learns the frequent tenth; the rest get"
            " the user's mean."
        ),
        sweeps=runs.all_films,
        clauses=(
            *_order_clauses("ALS", "DPALS", runs.FREQUENT.name, epsilons=(1.0, 20.0)),
            less(Median("DPALS", 1.0), Median("Global mean")),
        ),
        source_data=ML10M,
        source_ids=("ml-10m",),
    ),
    Claim(
        id="chien-fig3c",
        title="Recall@20 against epsilon",
        source=f"{C21}, Fig. 3c",
        words="What people liked, ranked for people whose ratings were not trained on.",
        sweeps=runs.recall,
        clauses=(
            less(Median("Popularity"), Median("DPALS", 20.0)),
            less(Median("DPALS", 20.0), Median("ALS")),
        ),
        source_data="MovieLens 20M, ratings above 3.5",
        source_ids=("ml-20m",),
        metric="recall_at_20",
        marks=(Mark("ALS", None, 0.3665, f"{C21}, Fig. 3c: .363 to .370 without privacy, ML-20M"),),
    ),
    Claim(
        id="chien-fig4",
        title="Simulated low rank, more and more users",
        source=f"{C21}, Fig. 4",
        words="Exactly low rank; predicting 0 has RMSE 1.",
        sweeps=runs.more_users,
        clauses=(
            *(_for_most_users("DPALS", "DPFW, source's noise", at) for at in (5.0, 20.0)),
            *(_with_users("DPALS", at) for at in (5.0, 20.0)),
        ),
        remark=rule_alone,
        axis="users",
    ),
    Claim(
        id="chien-own-users",
        title="Users of their own for each step, simulated low rank",
        source=f"{C21}, A_user",
        words=(
            "Analysed is a form whose steps each see users of their own, so that a user pays for"
            " one step alone. What is run asks everybody at every step: more noise a step, and T"
            " times as many users."
        ),
        sweeps=runs.own_users,
        clauses=(
            *(_with_users(runs.OWN_USERS, at) for at in (5.0, 20.0)),
            *(_for_most_users("DPALS", runs.OWN_USERS, at) for at in (5.0, 20.0)),
        ),
        remark=price_of_own_users,
        axis="users",
    ),
    Claim(
        id="chien-fig5",
        title="RMSE against the share of films that get factors",
        source=f"{C21}, Fig. 5",
        words="The other films get the user's mean. ε = 10; k = 50 ratings of a user.",
        sweeps=runs.film_share,
        clauses=(
            _better("Adaptive sampling", "Uniform sampling"),
            _better("Uniform sampling", "Uniform, no PSD projection"),
            _better("ALS", "ALS, uniform sample"),
            _better("ALS, uniform sample", "Uniform sampling"),
            _better("ALS, adaptive sample", "Adaptive sampling"),
        ),
        source_data=ML10M,
        source_ids=("ml-10m",),
        axis="frequent_fraction",
        marks=(
            Mark("Uniform sampling", 1.0, 0.870, f"{C21}, Fig. 5, ML-10M"),
            Mark("Adaptive sampling", 1.0, 0.854, f"{C21}, Fig. 5, ML-10M"),
            Mark("ALS", None, 0.785, f"{C21}, Fig. 5, ML-10M"),
            Mark("ALS on a sample", None, 0.812, f"{C21}, Fig. 5, ML-10M"),
        ),
    ),
    Claim(
        id="chien-fig7",
        title="RMSE against steps, simulated low rank",
        source=f"{C21}, Fig. 7",
        words="Alternating least squares and Frank-Wolfe, private at ε = 20 and not.",
        sweeps=runs.by_step,
        measure=by_step,
        clauses=(
            less(
                Median("ALS", grid={"step": 5}),
                Median("Frank-Wolfe", grid={"step": 20}),
                "without privacy 5 steps of ALS do more than 20 of Frank-Wolfe",
            ),
            less(
                Median("DPALS", grid={"step": 5}),
                Median("DPFW, source's noise", grid={"step": 20}),
                "in private 5 steps of DPALS do more than 20 of DPFW",
            ),
            less(
                Median("DPALS", grid={"step": 5}),
                Median("DPALS", grid={"step": 1}),
                "DPALS gains from more steps than one",
            ),
        ),
        axis="step",
    ),
    Claim(
        id="chien-users",
        title="A quarter of the users against all of them",
        source=f"{C21}, section 6",
        words=(
            "The source: DPALS on 23% of the users beats DPFW on all. Here on a quarter: simulated"
            " sets of one law exist at sizes that far apart."
        ),
        sweeps=runs.fewer_users,
        clauses=tuple(
            less(
                Median("DPALS, a quarter of the users", epsilon),
                Median("DPFW, all users, source's noise", epsilon),
            )
            for epsilon in (5.0, 20.0)
        ),
        source_data=f"23% and all of the users of {ML10M}",
        source_ids=("ml-10m",),
    ),
    Claim(
        id="chien-rank",
        title="RMSE against rank",
        source=f"{C21}, supplement",
        words="Without privacy more factors do no harm; in private each brings noise.",
        sweeps=runs.ranks,
        clauses=(
            _best_side("without privacy more than 8 factors are best", "ALS", "rank", 8, True),
            _best_side("at ε = 1 at most 8 factors are best", "DPALS, ε = 1", "rank", 8, False),
        ),
        source_data=ML10M,
        source_ids=("ml-10m",),
        axis="rank",
    ),
    Claim(
        id="chien-lambda",
        title="RMSE against the item ridge",
        source=f"{C21}, supplement",
        words="Noise wants a stronger pull towards 0. ε = 1000 is nearly without noise.",
        sweeps=runs.ridges,
        clauses=(
            _best_side(
                "at ε = 1 a ridge above 1 is best", "DPALS, ε = 1", "regularisation", 1.0, True
            ),
            _best_side(
                "nearly without noise a ridge of at most 1 is best",
                "DPALS, ε = 1000",
                "regularisation",
                1.0,
                False,
            ),
        ),
        source_data=ML10M,
        source_ids=("ml-10m",),
        axis="regularisation",
    ),
)
