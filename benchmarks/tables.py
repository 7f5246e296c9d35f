"""The tables of docs/RESULTS.md, made from benchmarks/results: `python -m benchmarks.tables`.

The words around them are in results.md.in, where `{{ films }}` stands for the table that the
function of that name makes. A test compares the page with what this module makes.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from benchmarks.report import RESULTS
from benchmarks.source_tables import claims

PAGE = RESULTS.parents[1] / "docs" / "RESULTS.md"
TEMPLATE = RESULTS.parent / "results.md.in"
Rows = list[list[str]]


# ---- reading and printing ------------------------------------------------------------------------


def read_csv(name: str) -> pd.DataFrame:
    """A table of benchmarks/results."""
    return pd.read_csv(RESULTS / name)


def read_json(name: str) -> dict[str, Any]:
    """A record of benchmarks/results."""
    loaded: dict[str, Any] = json.loads((RESULTS / name).read_text("utf-8"))
    return loaded


def markdown(head: Sequence[str], rows: Rows) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def medians(frame: pd.DataFrame, metric: str, along: str = "epsilon") -> pd.DataFrame:
    """Median over seeds, by label and the values of a column; -1 stands for no value."""
    filled = frame.assign(**{along: frame[along].fillna(-1)})
    return filled.pivot_table(metric, "label", along, aggfunc="median")


def decimals(value: float, digits: int) -> str:
    """A number as it is printed; a dash for none."""
    return "-" if pd.isna(value) else f"{value:.{digits}f}"


def bold_smallest(rows: Rows) -> Rows:
    """The smallest number of every column but the first in bold, all of them where several tie."""
    smallest = [min(column, key=number) for column in list(zip(*rows, strict=True))[1:]]

    def shown(cell: str, best: str) -> str:
        return f"**{cell}**" if number(cell) == number(best) else cell

    return [[row[0], *map(shown, row[1:], smallest)] for row in rows]


def number(cell: str) -> float:
    """The number that a cell begins with; infinity for a dash."""
    first = cell.split()[0]
    return float("inf") if first == "-" else float(first)


def by_epsilon(
    frame: pd.DataFrame, metric: str, names: Mapping[str, str], digits: int = 3
) -> tuple[list[str], Rows]:
    """Head and rows of a table with a column for each epsilon, methods in the order of names."""
    found = medians(frame[frame["label"].isin(names)], metric)
    head = [f"{epsilon:g}" for epsilon in found.columns]
    rows = [
        [shown, *(decimals(value, digits) for value in found.loc[label].tolist())]
        for label, shown in names.items()
    ]
    return ["ε", *head], rows


def without_epsilon(frame: pd.DataFrame, metric: str, names: Mapping[str, str]) -> str:
    """`ALS 0.833, SGD-MF 0.849`: medians of methods that take no epsilon."""
    chosen = frame[frame["label"].isin(names) & frame["epsilon"].isna()]
    found = chosen.groupby("label")[metric].median()
    return ", ".join(f"{shown} {found[label]:.3f}" for label, shown in names.items())


# ---- the tables ----------------------------------------------------------------------------------

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
}
FEATURED = {
    "spectral": "spectral",
    "ada-dpals": "Ada-DPALS",
    "dpals": "DPALS",
    "dp-cmf": "DP-CMF",
    "private-bias": "private biases",
}
OPEN_FEATURED = {"content": "own content", "bias": "biases", "als": "ALS"}
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
    known = without_epsilon(frame, "rmse", OPEN_FILMS)
    return f"{markdown(head, bold_smallest(rows))}\n\nWithout noise: {known}.{featured(frame)}"


def featured(frame: pd.DataFrame) -> str:
    """The same of methods that know genres and decades, where the file has them: a table of its
    own.
    """
    if not frame["label"].str.endswith(", features").any():
        return ""
    marked = {f"{name}, features": shown for name, shown in FEATURED.items()}
    head, rows = by_epsilon(frame, "rmse", marked)
    twins = {f"{name}, features": shown for name, shown in OPEN_FEATURED.items()}
    known = without_epsilon(frame, "rmse", twins)
    return (
        "\n\nGenres and decades of the films are public, to all of these and to their twins:\n\n"
        f"{markdown(head, bold_smallest(rows))}\n\nWithout noise: {known}."
    )


def all_films() -> str:
    """Held-out RMSE of the best methods on every film."""
    frame = read_csv("all-films-table.csv")
    names = {name: FILMS[name] for name in ("spectral", "dp-sgd", "ada-dpals", "dpals")}
    head, rows = by_epsilon(frame, "rmse", names | {"private-bias": "private biases"})
    known = without_epsilon(frame, "rmse", {"als": "ALS", "user-mean": "user mean"})
    return f"{markdown(head, bold_smallest(rows))}\n\nWithout noise: {known}.{featured(frame)}"


def lists(metric: str, digits: int) -> str:
    """One figure of lists for users who were not trained on."""
    frame = read_csv("films-recall.csv")
    head, rows = by_epsilon(frame, metric, LISTS, digits)
    known = without_epsilon(frame, metric, OPEN_LISTS)
    return f"{markdown(head, rows)}\n\nWithout noise: {known}."


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
    _, bracketed = by_epsilon(frame, "rmse", theirs)
    by_name = {row[0]: row[1:] for row in bracketed}
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
    """Objectives by epsilon, beside the trivial guess and the factorisation without privacy."""
    frame = read_csv(file)
    head, rows = by_epsilon(frame, "objective", names, digits)
    guess, known = frame["trivial_objective"].median(), medians(frame, "objective")[-1.0]["NMF"]
    bold = markdown(head, bold_smallest(rows))
    return f"{bold}\n\n{trivial} {guess:.3f}, NMF without privacy {known:.4f}."


def newsgroups() -> str:
    """Objectives and coherence on 20 Newsgroups."""
    file, names = "newsgroups-table.csv", TOPICS
    frame = read_csv(file)
    head, rows = by_epsilon(frame, "coherence", names)
    known = medians(frame, "coherence")[-1.0]["NMF"]
    return (
        f"{parts(file, names, 'Mean post', 3)}\n\nCoherence of the topics' words, larger is better:"
        f"\n\n{markdown(head, rows)}\n\nNMF without privacy {known:.3f}."
    )


VARIANTS = ("Static", "Rated", "New", "Online", "Slope One")


def retention() -> str:
    """Mean excess in RMSE over the baseline with the same seed, over all shares and seeds."""
    frame, published = read_csv("vallet-table1.csv"), read_csv("vallet-table1-published.csv")
    baseline = frame[frame["label"] == "Baseline"].set_index("seed")["rmse"]
    excess = frame["rmse"] / frame["seed"].map(baseline) - 1
    here = excess.groupby(frame["label"]).mean() * 100
    there = published.set_index("variant")["excess_percent"]
    rows = [
        [name, *(f"{found[variant]:.2f}%" for variant in VARIANTS)]
        for name, found in (("here", here), ("published", there))
    ]
    return markdown(["", *VARIANTS], rows)


def sketch() -> str:
    """RMSE and divergence of a count sketch by threshold and space gain."""
    frame = read_csv("sketch-table.csv")
    chosen = frame[(frame["label"] == "Count sketch, k = 4") & (frame["param.rank"] == 16)]
    thresholds = sorted(chosen["param.threshold"].unique())
    cells = chosen.groupby(["param.space_gain", "param.threshold"])[["rmse", "kl"]].median()
    gains = sorted(chosen["param.space_gain"].unique())
    rows = []
    for gain in gains:
        shown = [
            f"{cells.loc[gain, at].rmse:.3f} ({cells.loc[gain, at].kl:.3f})" for at in thresholds
        ]
        rows.append([f"γ = {gain:g}", *shown])
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
    proved = frame[frame["algorithm"] != "sketch"]
    ordered = proved.sort_values(["broken", "at least"], ascending=[True, False], kind="stable")
    names = [
        f"`{algorithm}`{FAULTS[fault]}"
        for algorithm, fault in zip(ordered["algorithm"], ordered["fault"], strict=True)
    ]
    figures = ordered[["lost by canary", "pair test", "error rates"]].to_numpy()
    rows = [
        [name, *(decimals(value, 2) for value in row)]
        for name, row in zip(names, figures, strict=True)
    ]
    head = ["3.00 is proved", "lost by the canary", "pair test, at least", "error rates, at least"]
    return f"{markdown(head, rows)}\n\n{_audited_sketches(frame)}"


def _audited_sketches(frame: pd.DataFrame) -> str:
    found = frame[frame["algorithm"] == "sketch"].sort_values("threshold")
    shown = " / ".join(f"{value:.2f}" for value in found["at least"])
    runs, long = found["runs"].iloc[0], read_csv("audit-long.csv").iloc[0]
    return (
        f"Nothing is proved of the sketch. At thresholds 2, 4 and 8 the audit shows {shown},\n"
        f"which is all that {runs:,} trainings can show; at threshold {long['threshold']:g} with\n"
        f"{long['runs']:,} trainings it shows {long['at_least']:.2f}."
    )


def als_speed() -> str:
    """Seconds an iteration of ALS, beside other libraries."""
    found = read_json("als.json")["iteration"]
    names = {
        "dpmf": "dpmf, exact",
        "dpmf CG, 3 steps": "dpmf, 3 CG steps",
        "implicit exact": "implicit, exact",
        "implicit CG, 3 steps": "implicit, 3 CG steps",
        "cmfrec Cholesky": "cmfrec, Cholesky",
    }
    rows = []
    for rank, row in found.items():
        others = [f"{row[it]['seconds']:.2f} ({spread(row[it])})" for it in list(names)[1:]]
        rows.append([rank.removeprefix("r "), f"{row['dpmf']['seconds']:.2f}", *others])
    return markdown(["rank", *names.values()], rows)


def als_convergence() -> str:
    """Seconds of ALS until it is as good as it becomes."""
    rows = []
    for rank, measures in read_json("als.json")["equal"].items():
        for measure, title in (("loss", "loss"), ("held_out_rmse", "held-out error")):
            found = measures[measure]
            seconds = [
                "not reached" if it is None else f"{it:.1f}"
                for it in map(found["seconds"].get, ("dpmf CG", "implicit CG", "dpmf"))
            ]
            rows.append([rank.removeprefix("r "), title, *seconds, spread(found)])
    head = ["rank", "what", "dpmf, CG", "implicit, CG", "dpmf, exact", "dpmf CG, times faster"]
    return markdown(head, rows)


def spread(found: dict[str, Any]) -> str:
    """The interval of a median ratio."""
    low, high = found["interval"]
    return f"{low:.1f} to {high:.1f}" if high < 10 else f"{low:.0f} to {high:.0f}"


def peers() -> str:
    """Libraries that predict ratings, at their defaults."""
    found = read_json("peers.json")
    rows = [["dpmf, ALS", *_cost(found["dpmf"]), ""]]
    for peer in found["peers"].values():
        sooner = peer["dpmf_sooner"]
        times = "not reached" if sooner is None else spread({"interval": sooner})
        rows.append([peer["title"], *_cost(peer), times])
    head = ["", "held-out RMSE", "seconds", "memory", "dpmf has its RMSE so many times sooner"]
    return markdown(head, rows)


def _cost(found: dict[str, float]) -> list[str]:
    return [f"{found['rmse']:.4f}", f"{found['seconds']:.2f}", f"{found['peak_mb']:.0f} MB"]


def other_speeds() -> str:
    """One figure a line from several files."""
    nmf, roads, private = read_json("nmf.json"), read_json("roads.json"), read_json("private.json")
    accounting, sgd = read_json("accounting.json")["milliseconds"], read_json("sgd.json")["results"]
    dense, large = nmf["dense 2414 x 1024, K 38"], nmf["9,394 x 36,771, K 30"]
    stream = {it["variant"]: it["ratings_a_second"] for it in roads["arrivals"]}
    wide = {it["hashing"]: it for it in roads["sketch"] if (it["k"], it["d"]) == (4, 32)}
    growth = {it["ratings"]: it for it in private["growth"]}
    most = max(growth)
    rows = [
        ["a step of robust NMF, 2,414 x 1,024, 38 parts", f"{nmf['robust']['ms_a_step']:.1f} ms"],
        [
            "NMF, same size, over scikit-learn's time for as many iterations",
            f"{dense['seconds'] / dense['scikit_learn_seconds']:.1f}",
        ],
        ["NMF of TDT2, 9,394 x 36,771, 30 topics", f"{large['seconds']:.1f} s"],
        [
            "Slope One on MovieLens 1M; times faster than Surprise",
            f"{roads['slope_one']['seconds']:.2f} s; {roads['slope_one']['times_faster']:.0f}",
        ],
        [
            "SGD-MF with 100 factors; times faster than Surprise",
            f"{sgd[1]['seconds']['ours']:.2f} s; {sgd[1]['times_faster']:.1f}",
        ],
        ["ratings a second into a server without retention", f"{stream['rated']:,.0f}"],
        [
            "ratings a second on a sketch, k 4, d 32; vectors side by side, components apart",
            f"{wide['vector']['ratings_a_second']:,.0f}; "
            f"{wide['component']['ratings_a_second']:,.0f}",
        ],
        *(
            [
                f"a private item step, rank 32, {count:,} ratings",
                f"{growth[count]['seconds']:.1f} s",
            ]
            for count in (1056904, 5484894, most)
        ),
        ["its memory at most", f"{growth[most]['peak_mb'] / 1000:.1f} GB"],
        ["exact epsilon of a plan", f"{accounting['epsilon of a plan, exact']:.2f} ms"],
        ["calibration of a plan", f"{accounting['calibration of a plan']:.2f} ms"],
    ]
    return markdown(["what", "figure"], rows)


def scale() -> str:
    """Private training in memory and on disk."""
    found: dict[tuple[int, str], dict[str, dict[str, Any]]] = {}
    for row in read_json("scale.json")["rows"]:
        found.setdefault((row["millions"], row["algorithm"]), {})[row["place"]] = row
    names = {"private-bias": "private biases", "dp-sgd": "DP-SGD", "ada-dpals": "Ada-DPALS"}
    rows = []
    for (millions, algorithm), places in found.items():
        both = [places[it] for it in ("memory", "disk")]
        nanoseconds = [f"{it['nanoseconds_a_rating']:.0f}" for it in both]
        memory = [f"{it['peak_mb']:,.0f} MB" for it in both]
        rows.append([f"{millions}", names.get(algorithm, algorithm), *nanoseconds, *memory])
    head = ["million ratings", "method", "ns a rating, in memory", "on disk", "memory", "on disk"]
    return markdown(head, rows)


def scale_workers() -> str:
    """Private training on disk, and on one and two worker processes."""
    found: dict[tuple[int, str], dict[str, dict[str, Any]]] = {}
    for row in read_json("scale.json")["workers"]:
        found.setdefault((row["millions"], row["algorithm"]), {})[row["place"]] = row
    names = {"private-bias": "private biases", "dp-sgd": "DP-SGD", "ada-dpals": "Ada-DPALS"}
    rows = []
    for (millions, algorithm), places in found.items():
        each = [places[it] for it in ("disk", "1", "2")]
        times = [f"{it['seconds']:.1f} s ({it['processor_seconds']:.1f} s)" for it in each]
        same = "yes" if len({it["model"] for it in each}) == 1 else "no"
        memory = f"{each[2]['peak_mb']:.0f} MB"
        rows.append([f"{millions}", names.get(algorithm, algorithm), *times, memory, same])
    head = ["million ratings", "method", "on disk", "one worker", "two", "memory", "same bits"]
    return markdown(head, rows)


def scale_load() -> str:
    """How many processes wanted the two cores meanwhile."""
    loads = [row["load_average"] for row in read_json("scale.json")["workers"]]
    return f"{min(loads):.1f} to {max(loads):.1f}"


def billion() -> str:
    """Whole private runs on ten million ratings and on a billion."""
    names = {"cinema-10m": "10 million", "cinema-1b": "a billion", "private-bias": "private biases"}
    rows = [
        [
            names[it["dataset"]],
            names.get(it["algorithm"], it["algorithm"]),
            f"{it['seconds'] / 60:.1f} min",
            f"{it['processor_seconds'] / 60:.1f} min",
            f"{it['peak_mb']:,.0f} MB",
            f"{it['rmse']:.4f}",
            f"{it['load_average']:.0f}",
        ]
        for it in sorted(read_json("billion.json")["rows"], key=lambda row: row["dataset"])
    ]
    head = ["ratings", "method", "time", "processor time", "memory", "held-out RMSE", "load"]
    return markdown(head, rows)


def large_imports() -> str:
    """Tables into parts."""
    rows = [
        [
            f"{it['millions']}",
            "CSV" if it["from"] == "csv" else "Parquet",
            f"{it['seconds']:.0f} s",
            f"{it['peak_mb']:.0f} MB",
            f"{it['disk_mb']:.0f} MB",
        ]
        for it in read_json("scale.json")["imports"]
    ]
    return markdown(["million ratings", "from", "time", "memory", "on disk then"], rows)


def classroom() -> str:
    """Answers and memory of a class, with hostile students and without, by one server process and
    by two.
    """
    classes = {
        "five are hostile": "classroom.json",
        "nobody is": "classroom-calm.json",
        "nobody is, two server processes": "classroom-calm-2.json",
    }
    rows = []
    for who, name in classes.items():
        found = read_json(name)
        seconds = (found[it] for it in ("answer_median", "answer_95th", "drawn_median"))
        memory = (found[f"memory_{it}_mb"] / 1000 for it in ("most", "after", "before"))
        times = [f"{it:.2f} s" for it in seconds]
        rows.append([who, *times, *(f"{it:.2f} GB" for it in memory)])
    head = ["", "answer, median", "95th percentile", "page drawn, median"]
    return markdown([*head, "memory, most", "a minute later", "before"], rows)


def endurance() -> str:
    """Memory of a server by trainings and reloads."""
    found = read_json("endurance.json")
    rows = [
        [f"{it[name]} {name}", f"{it['mb']:,} MB"]
        for name in ("trainings", "reloads")
        for it in found[name]
    ]
    return markdown(["after", "server and workers"], rows)


# ---- the page ------------------------------------------------------------------------------------

TABLES: dict[str, Callable[[], str]] = {
    "films": films,
    "all_films": all_films,
    "recall": recall,
    "both_low_ranks": both_low_ranks,
    "faces": lambda: parts("faces-table.csv", FACES, "Mean face", 4),
    "topics": lambda: parts("topics-table.csv", TOPICS, "Mean document", 3),
    "newsgroups": newsgroups,
    "retention": retention,
    "sketch": sketch,
    "audit": audit,
    "source_claims": claims,
    "als_speed": als_speed,
    "als_convergence": als_convergence,
    "peers": peers,
    "other_speeds": other_speeds,
    "scale": scale,
    "scale_workers": scale_workers,
    "scale_load": scale_load,
    "billion": billion,
    "large_imports": large_imports,
    "classroom": classroom,
    "endurance": endurance,
}


def page() -> str:
    """The whole of docs/RESULTS.md. Raises KeyError on a table that no function makes."""
    template = TEMPLATE.read_text("utf-8")
    return re.sub(r"{{ (\w+) }}", lambda found: TABLES[found[1]](), template)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
