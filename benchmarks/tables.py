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
    without_epsilon,
)
from dpmf_core.teaching.trust import part_epsilon

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
    "user-mean": "user mean",
    "bias": "biases",
    "sgd-mf": "SGD-MF",
    "fw": "Frank-Wolfe",
    "pgd": "projected gradient",
    "als": "ALS",
    "bmf": "Bayesian MF",
}
FEATURE_METHODS = {
    "spectral": "spectral",
    "ada-dpals": "Ada-DPALS",
    "dpals": "DPALS",
    "private-bias": "private biases",
}
OPEN_FEATURE_METHODS = {
    "content": "own content",
    "bias": "biases",
    "als": "ALS",
    "bmf": "Bayesian MF",
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
OPEN_LISTS = {"EASE": "EASE", "ALS": "ALS", "Popularity": "popularity"}


def films() -> str:
    """Held-out RMSE of every method on 400 films."""
    frame = read_csv("films-table.csv")
    head, rows = by_epsilon(frame, "rmse", FILMS)
    table = markdown(head, bold_smallest(rows))
    return f"{table}\n\n{levels(frame, OPEN_FILMS)}{feature_table(frame)}"


def levels(frame: pd.DataFrame, without_privacy: Mapping[str, str]) -> str:
    """Private methods without noise, where the file has them, and methods without privacy."""
    labels = set(frame["label"])
    names = {f"{name}, without noise": title for name, title in FILMS.items()}
    own = without_epsilon(frame, "rmse", {it: names[it] for it in names if it in labels})
    others = without_epsilon(frame, "rmse", without_privacy)
    return f"The same methods without noise: {own}.\n\nWithout privacy: {others}."


def feature_table(frame: pd.DataFrame) -> str:
    """A table of the methods that know genres and decades, if the file has any."""
    if not frame["label"].str.endswith(", features").any():
        return ""
    titles = {f"{name}, features": title for name, title in FEATURE_METHODS.items()}
    head, rows = by_epsilon(frame, "rmse", titles)
    others = {f"{name}, features": title for name, title in OPEN_FEATURE_METHODS.items()}
    without_noise = without_epsilon(frame, "rmse", others)
    return (
        "\n\nGenres and decades of the films are public, to all of these and to their non-private"
        " versions:\n\n"
        f"{markdown(head, bold_smallest(rows))}\n\nWithout privacy: {without_noise}."
    )


def all_films() -> str:
    """Held-out RMSE of the best methods on every film."""
    frame = read_csv("all-films-table.csv")
    names = {name: FILMS[name] for name in ("spectral", "dp-sgd", "ada-dpals", "dpals")}
    head, rows = by_epsilon(frame, "rmse", names | {"private-bias": "private biases"})
    others = {name: OPEN_FILMS[name] for name in ("bmf", "als", "user-mean")}
    table = markdown(head, bold_smallest(rows))
    return f"{table}\n\n{levels(frame, others)}{feature_table(frame)}"


def lists(metric: str, digits: int) -> str:
    """One figure of lists for users who were not trained on."""
    frame = read_csv("films-recall.csv")
    head, rows = by_epsilon(frame, metric, LISTS, digits)
    without_noise = without_epsilon(frame, metric, OPEN_LISTS)
    return f"{markdown(head, rows)}\n\nWithout privacy: {without_noise}."


def recall() -> str:
    """Recall, NDCG and coverage."""
    return (
        f"{lists('recall_at_20', 3)}\n\nNDCG@20:\n\n{lists('ndcg_at_20', 3)}\n\n"
        f"Share of all films that anybody is shown:\n\n{lists('coverage', 3)}"
    )


def low_rank(data: str) -> str:
    """RMSE on simulated low rank; in brackets with the noise of the source's rule."""
    frame = read_csv("lowrank-table.csv")
    frame = frame[frame["dataset"] == data]
    head, rows = by_epsilon(frame, "rmse", {name: name for name in LOW_RANK})
    theirs = {f"{name}, source's noise": name for name in LOW_RANK[2:]}
    _, their_rows = by_epsilon(frame, "rmse", theirs)
    by_name = {row[0]: row[1:] for row in their_rows}
    bold = bold_smallest(rows)
    return markdown(head, [_with_brackets(row, by_name.get(row[0])) for row in bold])


def _with_brackets(row: list[str], theirs: list[str] | None) -> list[str]:
    if theirs is None:
        return row
    return [row[0], *(f"{own} ({other})" for own, other in zip(row[1:], theirs, strict=True))]


def both_low_ranks() -> str:
    """The low-rank table at both numbers of users."""
    small, large = low_rank("lowrank"), low_rank("lowrank-50k")
    return f"20,000 users:\n\n{small}\n\n50,000 users:\n\n{large}"


def parts(file: str, names: Mapping[str, str], trivial: str, digits: int) -> str:
    """Objectives by epsilon, with the trivial guess and the non-private factorisation."""
    frame = read_csv(file)
    head, rows = by_epsilon(frame, "objective", names, digits)
    guess, without_privacy = (
        frame["trivial_objective"].median(),
        medians(frame, "objective")[-1.0]["NMF"],
    )
    bold = markdown(head, bold_smallest(rows))
    return f"{bold}\n\n{trivial} {guess:.3f}, NMF without privacy {without_privacy:.4f}."


def newsgroups() -> str:
    """Objectives and coherence on 20 Newsgroups."""
    file, names = "newsgroups-table.csv", TOPICS
    frame = read_csv(file)
    head, rows = by_epsilon(frame, "coherence", names)
    without_privacy = medians(frame, "coherence")[-1.0]["NMF"]
    return (
        f"{parts(file, names, 'Mean post', 3)}\n\nCoherence of the topics' words, larger is better:"
        f"\n\n{markdown(head, rows)}\n\nNMF without privacy {without_privacy:.3f}."
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
    "faces": lambda: parts("faces-table.csv", FACES, "Mean face", 4),
    "topics": lambda: parts("topics-table.csv", TOPICS, "Mean document", 3),
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
