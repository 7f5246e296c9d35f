"""Make docs/RESULTS.md from benchmarks/results: `python -m benchmarks.tables`.

The text is in results.md.in, where `{{ films }}` stands for the table that the function of that
name makes. `make lint` compares the page with what this module makes.
"""

import re
import sys
from collections.abc import Callable, Mapping

import pandas as pd

from benchmarks import speed_tables
from benchmarks.local_noise import equal_errors
from benchmarks.report import RESULTS
from benchmarks.table_cells import (
    bold_smallest,
    by_epsilon,
    claims,
    decimals,
    markdown,
    medians,
    read_csv,
    read_json,
    references,
    with_ceilings,
    without_epsilon,
)
from dpmf_core.teaching.demonstrations import part_epsilon

PAGE = RESULTS.parents[1] / "docs" / "RESULTS.md"
TEMPLATE = RESULTS.parent / "results.md.in"

FILMS = {
    "sgld": "SGLD",
    "spectral": "spectral",
    "ada-dpals": "Ada-DPALS",
    "dpals": "DPALS",
    "dp-sgd": "DP-SGD",
    "private-bias": "private biases",
    "private-svd": "private SVD",
    "svd-cleansing": "SVD after cleansing",
    "dpfw": "DPFW",
    "dpfw-oja": "DPFW with Oja",
    "private-pgd": "private projected gradient",
    "input-perturbation": "input perturbation (one rating)",
    "dpnmf-laplace": "Laplace DPNMF (one rating)",
}
OPEN_FILMS = {
    "global-mean": "global mean",
    "bmf": "Bayesian MF",
    "als": "ALS",
    "pgd": "projected gradient",
    "fw": "Frank-Wolfe",
    "sgd-mf": "SGD-MF",
    "bias": "biases",
    "user-mean": "user mean",
}
FEATURE_METHODS = {
    "spectral": "spectral",
    "ada-dpals": "Ada-DPALS",
    "dpals": "DPALS",
    "private-bias": "private biases",
}
OPEN_FEATURE_METHODS = {
    "content": "own content",
    "bmf": "Bayesian MF",
    "als": "ALS",
    "bias": "biases",
}
LOW_RANK = ("DP-SGD", "Spectral", "Private SVD", "DPALS", "DPFW", "Private PGD")
FACES = {
    "One-shot NMF": "one-shot NMF",
    "DP-NMF": "DP-NMF, start from a noisy mean row",
    "DP-NMF, private start": "DP-NMF, start from a noisy second moment",
    "DP-NMF, random start": "DP-NMF, random start",
}
TOPICS = {
    "One-shot NMF": "one-shot NMF",
    "DP-NMF": "DP-NMF, start from a noisy mean row",
    "DP-NMF, random start": "DP-NMF, random start",
}


LISTS = {
    "Spectral": "spectral",
    "Spectral, public features": "spectral, genres and decades",
    "DPALS": "DPALS",
}
OPEN_LISTS = {"Popularity": "popularity", "EASE": "EASE", "ALS": "ALS"}


def films() -> str:
    """Held-out RMSE of every method on 400 films."""
    frame = read_csv("films-table.csv")
    return f"{errors(frame, FILMS, OPEN_FILMS)}\n\n{with_features(frame)}"


def errors(
    frame: pd.DataFrame, private: Mapping[str, str], without_privacy: Mapping[str, str]
) -> str:
    """Held-out RMSE by epsilon, and what it is compared with."""
    head, rows = with_ceilings(frame, "rmse", private)
    lines = references(frame, "rmse", without_privacy)
    return f"{markdown(head, bold_smallest(rows))}\n\n{lines}"


def with_features(frame: pd.DataFrame) -> str:
    """The methods that know genres and decades."""
    private, others = (
        {f"{name}, features": title for name, title in names.items()}
        for names in (FEATURE_METHODS, OPEN_FEATURE_METHODS)
    )
    return f"With genres and decades as public item features:\n\n{errors(frame, private, others)}"


def all_films() -> str:
    """Held-out RMSE of the best methods on every film."""
    frame = read_csv("all-films-table.csv")
    private = {
        name: FILMS[name] for name in ("spectral", "dp-sgd", "ada-dpals", "dpals", "private-bias")
    }
    others = {name: OPEN_FILMS[name] for name in ("global-mean", "bmf", "als", "user-mean")}
    return f"{errors(frame, private, others)}\n\n{with_features(frame)}"


def lists(metric: str) -> str:
    """One figure of lists for users who were not trained on."""
    frame = read_csv("films-recall.csv")
    head, rows = with_ceilings(frame, metric, LISTS)
    return f"{markdown(head, rows)}\n\n{references(frame, metric, OPEN_LISTS)}"


def recall() -> str:
    """Recall, NDCG and coverage."""
    return (
        f"{lists('recall_at_20')}\n\nNDCG@20:\n\n{lists('ndcg_at_20')}\n\n"
        f"Share of all films that anyone is shown:\n\n{lists('coverage')}"
    )


def low_rank(data: str) -> str:
    """RMSE on simulated low rank; in brackets with the noise of the source's rule."""
    frame = read_csv("lowrank-table.csv")
    frame = frame[frame["dataset"] == data]
    head, rows = with_ceilings(frame, "rmse", {name: name for name in LOW_RANK})
    theirs = {f"{name}, source's noise": name for name in LOW_RANK[2:]}
    _, their_rows = by_epsilon(frame, "rmse", theirs)
    by_name = {row[0]: row[1:] for row in their_rows}
    bold = bold_smallest(rows)
    table = markdown(head, [_with_brackets(row, by_name.get(row[0])) for row in bold])
    levels = without_epsilon(frame, "rmse", {"Global mean": "global mean", "ALS": "ALS"})
    return f"{table}\n\nWithout privacy: {levels}."


def _with_brackets(row: list[str], theirs: list[str] | None) -> list[str]:
    if theirs is None:
        return row
    cells = (f"{own} ({other})" for own, other in zip(row[1:], theirs, strict=False))
    return [row[0], *cells, *row[1 + len(theirs) :]]


def both_low_ranks() -> str:
    """The low-rank table at both numbers of users."""
    small, large = low_rank("lowrank"), low_rank("lowrank-50k")
    return f"20,000 users:\n\n{small}\n\n50,000 users:\n\n{large}"


def parts(file: str, names: Mapping[str, str], trivial: str, digits: int) -> str:
    """Objectives by epsilon, with the trivial guess and the non-private factorisation."""
    frame = read_csv(file)
    head, rows = with_ceilings(frame, "objective", names, digits)
    guess = decimals(frame["trivial_objective"].median(), digits)
    best = decimals(medians(frame, "objective")[-1.0]["NMF"], digits)
    bold = markdown(head, bold_smallest(rows))
    return f"{bold}\n\nGuessing: {trivial} {guess}. Best known without privacy: NMF {best}."


def newsgroups() -> str:
    """Objectives and coherence on 20 Newsgroups."""
    file, names = "newsgroups-table.csv", TOPICS
    frame = read_csv(file)
    head, rows = with_ceilings(frame, "coherence", names)
    best = decimals(medians(frame, "coherence")[-1.0]["NMF"], 3)
    return (
        f"{parts(file, names, 'mean post', 3)}\n\nCoherence of the topics' words, larger is better:"
        f"\n\n{markdown(head, rows)}\n\nBest known without privacy: NMF {best}."
    )


def sketch() -> str:
    """RMSE and divergence of a count sketch by threshold and space gain."""
    frame = read_csv("sketch-table.csv")
    sketches = frame[(frame["label"] == "Count sketch, k = 4") & (frame["param.rank"] == 16)]
    thresholds = sorted(sketches["param.threshold"].unique())
    cells = sketches.groupby(["param.space_gain", "param.threshold"])[["rmse", "kl"]].median()
    gains = sorted(sketches["param.space_gain"].unique())
    rows = []
    for gain in gains:
        gain_cells = [
            f"{cells.loc[gain, at].rmse:.3f} ({cells.loc[gain, at].kl:.3f})" for at in thresholds
        ]
        rows.append([f"γ = {gain:g}", *gain_cells])
    plain = frame[(frame["label"] == "Regular MF") & (frame["param.rank"] == 16)]["rmse"].median()
    head = ["threshold ε of the source", *(f"{at:g}" if at < 1e6 else "none" for at in thresholds)]
    return f"{markdown(head, rows)}\n\nRegular factorisation: {plain:.3f}."


FAULTS = {
    "none": "",
    "small-noise": ", noise ten times too small",
    "unlisted-release": ", a sum outside the ledger",
    "no-clipping": ", clipping left out",
    "exact-start": ", a start from the private data",
}


def audit() -> str:
    """Lower bounds by algorithm, faults last."""
    frame = read_csv("audit.csv")
    private = frame[frame["algorithm"] != "sketch"]
    in_order = private.sort_values(["broken", "at least"], ascending=[True, False], kind="stable")
    names = [
        f"`{algorithm}`{FAULTS[fault]}"
        for algorithm, fault in zip(in_order["algorithm"], in_order["fault"], strict=True)
    ]
    figures = in_order[["lost by canary", "pair test", "error rates"]].to_numpy()
    rows = [
        [name, *(decimals(value, 2) for value in row)]
        for name, row in zip(names, figures, strict=True)
    ]
    head = ["3.00 is proved", "lost by the canary", "pair test, at least", "error rates, at least"]
    return f"{markdown(head, rows)}\n\n{_audited_sketches(frame)}"


def _audited_sketches(frame: pd.DataFrame) -> str:
    sketches = frame[frame["algorithm"] == "sketch"].sort_values("threshold")
    bounds = " / ".join(f"{value:.2f}" for value in sketches["at least"])
    runs, long = sketches["runs"].iloc[0], read_csv("audit-long.csv").iloc[0]
    return (
        f"Nothing is proved of the sketch. At thresholds 2, 4 and 8 the audit shows {bounds},\n"
        f"which is all that {runs:,} runs can show; at threshold {long['threshold']:g} with\n"
        f"{long['runs']:,} runs it shows {long['at_least']:.2f}."
    )


def trusting_nobody() -> str:
    """The epsilon at which noise of every user reaches a curator's error."""
    rows = [
        [
            f"{data}, {users:,}",
            f"{epsilon:g}",
            f"{rmse:.3f}",
            "over 1000" if local_epsilon is None else f"{float(f'{local_epsilon:.2g}'):.0f}",
            f"{part_epsilon(epsilon, users):.0f}",
            f"{local_rmse:.3f}",
            f"{alone_rmse:.3f}",
        ]
        for data, users, epsilon, rmse, local_epsilon, local_rmse, alone_rmse in equal_errors(
            read_csv("local-noise.csv")
        )
    ]
    head = [
        "data, people",
        "ε with a curator",
        "RMSE",
        "ε of one's own noise at equal RMSE",
        "by the rule",
        "RMSE of messages at ε = 1",
        "user mean",
    ]
    return markdown(head, rows)


def realised_ranges() -> str:
    """The largest move of any release over the declared one, by algorithm."""
    rows = [
        [
            f"`{row['algorithm']}`",
            f"{row['fits']}",
            decimals(row["furthest"], 6),
            row["statistic"],
        ]
        for row in read_json("realised-ranges.json")["rows"]
    ]
    return markdown(["algorithm", "fits", "furthest move", "release"], rows)


# ---- the page ------------------------------------------------------------------------------------

TABLES: dict[str, Callable[[], str]] = {
    "films": films,
    "all_films": all_films,
    "recall": recall,
    "both_low_ranks": both_low_ranks,
    "faces": lambda: parts("faces-table.csv", FACES, "mean face", 4),
    "topics": lambda: parts("topics-table.csv", TOPICS, "mean document", 3),
    "newsgroups": newsgroups,
    "sketch": sketch,
    "audit": audit,
    "realised_ranges": realised_ranges,
    "trusting_nobody": trusting_nobody,
    "source_claims": claims,
    "als_speed": speed_tables.als_speed,
    "als_convergence": speed_tables.als_convergence,
    "als_large": speed_tables.als_large,
    "peers": speed_tables.peers,
    "scale": speed_tables.scale,
    "billion": speed_tables.billion,
    "large_imports": speed_tables.large_imports,
    "one_command": speed_tables.one_command,
    "classroom": speed_tables.classroom,
    "waiting": speed_tables.waiting,
}


def page() -> str:
    """The whole of docs/RESULTS.md. Raises KeyError for a table that no function makes."""
    template = TEMPLATE.read_text("utf-8")
    return re.sub(r"{{ (\w+) }}", lambda match: TABLES[match[1]](), template)


def main() -> None:
    """Write the page; with --check, exit with 1 if it differs."""
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(page(), "utf-8")
    elif PAGE.read_text("utf-8") != page():
        sys.exit("docs/RESULTS.md is not what `python -m benchmarks.tables` makes.")


if __name__ == "__main__":
    main()
