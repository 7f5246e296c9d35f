"""The tables of docs/RESULTS.md on time and memory, for `benchmarks.tables`."""

from typing import Any

from benchmarks.table_cells import markdown, read_json

METHODS = {  # as sentences name them
    "private-bias": "private biases",
    "dpals": "DPALS",
    "ada-dpals": "Ada-DPALS",
    "dp-sgd": "DP-SGD",
    "dpfw-oja": "DPFW with Oja",
    "private-svd": "private SVD",
    "als": "ALS",
    "oneshot-nmf": "one-shot NMF",
    "dp-nmf": "DP-NMF",
}


def als_speed() -> str:
    """Seconds per iteration of ALS, compared with other libraries."""
    record = read_json("als.json")["iteration"]
    names = {
        "dpmf": "dpmf, exact",
        "dpmf CG, 3 steps": "dpmf, 3 CG steps",
        "implicit exact": "implicit, exact",
        "implicit CG, 3 steps": "implicit, 3 CG steps",
        "cmfrec Cholesky": "cmfrec, Cholesky",
    }
    rows = []
    for rank, row in record.items():
        others = [f"{row[it]['seconds']:.2f} ({spread(row[it])})" for it in list(names)[1:]]
        rows.append([rank.removeprefix("r "), f"{row['dpmf']['seconds']:.2f}", *others])
    return markdown(["rank", *names.values()], rows)


def als_convergence() -> str:
    """Seconds of ALS until its error no longer falls."""
    rows = []
    for rank, measures in read_json("als.json")["equal"].items():
        for measure, title in (("loss", "loss"), ("held_out_rmse", "held-out error")):
            record = measures[measure]
            seconds = [
                "not reached" if it is None else f"{it:.1f}"
                for it in map(record["seconds"].get, ("dpmf CG", "implicit CG", "dpmf"))
            ]
            rows.append([rank.removeprefix("r "), title, *seconds, spread(record)])
    head = ["rank", "what", "dpmf, CG", "implicit, CG", "dpmf, exact", "dpmf CG, times faster"]
    return markdown(head, rows)


def spread(record: dict[str, Any]) -> str:
    """The interval of a median ratio."""
    low, high = record["interval"]
    return f"{low:.1f} to {high:.1f}" if high < 10 else f"{low:.0f} to {high:.0f}"


def als_large() -> str:
    """ALS by conjugate gradients on many ratings."""
    rows = []
    for record in read_json("als_large.json")["rows"]:
        for library, it in record["libraries"].items():
            until = it["processor_seconds"]
            rows.append(
                [
                    record["dataset"].removeprefix("cinema-").replace("m", " million"),
                    library,
                    f"{it['seconds_an_iteration']:.1f} s",
                    "not reached" if until is None else f"{until:.0f} s",
                    f"{it['held_out_error']:.4f}",
                    f"{it['peak_mb']:,.0f} MB",
                ]
            )
    head = ["ratings", "library", "an iteration", "until converged", "held-out error", "memory"]
    return markdown(head, rows)


def peers() -> str:
    """Libraries that predict ratings, at their defaults."""
    record = read_json("peers.json")
    rows = [[own["title"], *_cost(own), ""] for own in record["own"].values()]
    for peer in record["peers"].values():
        sooner = peer["dpmf_sooner"]
        times = "not reached" if sooner is None else spread({"interval": sooner})
        rows.append([peer["title"], *_cost(peer), times])
    head = ["", "held-out RMSE", "seconds", "memory", "dpmf has its RMSE so many times sooner"]
    return markdown(head, rows)


def _cost(record: dict[str, float]) -> list[str]:
    return [f"{record['rmse']:.4f}", f"{record['seconds']:.2f}", f"{record['peak_mb']:.0f} MB"]


def scale() -> str:
    """Private training in memory and on disk."""
    by_place: dict[tuple[int, str], dict[str, dict[str, Any]]] = {}
    for row in read_json("scale.json")["rows"]:
        by_place.setdefault((row["millions"], row["algorithm"]), {})[row["place"]] = row
    rows = []
    for (millions, algorithm), places in by_place.items():
        both = [places[it] for it in ("memory", "disk")]
        nanoseconds = [f"{it['nanoseconds_a_rating']:.0f}" for it in both]
        memory = [f"{it['peak_mb']:,.0f} MB" for it in both]
        rows.append([f"{millions}", METHODS.get(algorithm, algorithm), *nanoseconds, *memory])
    head = ["million ratings", "method", "ns a rating, in memory", "on disk", "memory", "on disk"]
    return markdown(head, rows)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def billion() -> str:
    """Whole private runs on ten million ratings and on a billion."""
    names = {"cinema-10m": "10 million", "cinema-1b": "a billion", "private-bias": "private biases"}
    rows = [
        [
            names[it["dataset"]],
            names.get(it["algorithm"], it["algorithm"]),
            _minutes(it["seconds"]),
            _minutes(it["processor_seconds"]),
            f"{it['peak_mb']:,.0f} MB",
            f"{it['rmse']:.4f}",
            f"{it['load_average']:.0f}",
        ]
        for it in sorted(read_json("billion.json")["rows"], key=lambda row: row["dataset"])
    ]
    head = ["ratings", "method", "time", "processor time", "memory", "held-out RMSE", "load"]
    return markdown(head, rows)


def large_imports() -> str:
    """Imports of tables into partitions."""
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


def one_command() -> str:
    """From a CSV to a saved model by one command."""
    by_algorithm: dict[str, dict[str, dict[str, Any]]] = {}
    for row in read_json("one-command.json")["rows"]:
        by_algorithm.setdefault(row["algorithm"], {})[row["table"]] = row
    rows = []
    for algorithm, on in by_algorithm.items():
        cells = []
        for it in (on.get(table) for table in ("sorted", "in no order, with times")):
            time = f"{it['seconds']:.0f} s ({it['processor_seconds']:.0f} s)" if it else "-"
            cells += [time, f"{it['peak_mb']:,.0f} MB" if it else "-"]
        rows.append([METHODS.get(algorithm, algorithm), *cells])
    return markdown(
        ["method", "sorted by user", "memory", "in no order, with times", "memory"], rows
    )


def classroom() -> str:
    """Answer times and memory of a class, with hostile students and without."""
    classes = {
        "some are hostile": "classroom.json",
        "nobody is": "classroom-calm.json",
    }
    rows = []
    for who, name in classes.items():
        record = read_json(name)
        seconds = (record[it] for it in ("answer_median", "answer_95th", "drawn_median"))
        memory = (record[f"memory_{it}_mb"] / 1000 for it in ("most", "after", "before"))
        times = [f"{it:.2f} s" for it in seconds]
        rows.append([who, *times, *(f"{it:.2f} GB" for it in memory)])
    head = ["", "answer, median", "95th percentile", "page drawn, median"]
    return markdown([*head, "memory, most", "a minute later", "before"], rows)


def waiting() -> str:
    """How long a person waits, measured by the browser."""
    clocks = read_json("page_speed.json")["clocks"]
    names = {
        "drag": "the slider is dragged over stored epsilons, until the figure follows",
        "box": "a stored epsilon is typed, until figure and privacy label say it",
        "link": "a link is opened by a browser that was never here, until its figure stands",
        "link, cached": "the same by a browser that was",
        "run": "an epsilon that nobody asked for is typed, until its first training is shown",
        "page": "another page is opened, until it is drawn",
    }
    rows = [
        [words, f"{clocks[name]['median']:.2f} s", f"{clocks[name]['target']:g} s"]
        for name, words in names.items()
    ]
    return markdown(["from the moment that", "median", "wanted"], rows)
