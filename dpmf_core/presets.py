"""Figures of the source papers as sweeps: at page size (about a minute on two cores) and at full size, with what is published of them.

Chien et al. 2021 [C21], Jain, Thakkar & Thakurta 2018 [J18]. Where the data of the source are not on this machine, others stand in; the verdict says so.
"""

from collections.abc import Callable, Sequence

from dpmf_core.data import SplitSpec
from dpmf_core.errors import BadInput, closest
from dpmf_core.experiment import DataSpec
from dpmf_core.figures import Mark, Preset, Verdict, first_present, median_at
from dpmf_core.other_roads import ROAD_PRESETS
from dpmf_core.part_presets import PART_PRESETS
from dpmf_core.privacy import Calibration
from dpmf_core.privacy.printed import budget_text
from dpmf_core.sweeps import Method, Summary, Sweep, Value

EPSILONS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
FEW = (1.0, 5.0, 20.0)


# ---- data -------------------------------------------------------------------------------------------------------------


def _films(full: bool, top: int | None = 400, **filters: float | int) -> DataSpec:
    """MovieLens where it is, else the simulated cinema; the source's 10M at full size."""
    name = first_present("ml-10m", "ml-1m", "cinema") if full else first_present("ml-1m", "cinema")
    return DataSpec.model_validate({"id": name, "top_items": None if name == "cinema" else top, **filters})


# ---- what is judged ---------------------------------------------------------------------------------------------------


def _in_order(*labels: str, epsilons: Sequence[float] = (5.0, 20.0)) -> Callable[[Sequence[Summary]], Verdict]:
    """Whether the methods come in this order, best first, at these epsilons."""

    def judge(found: Sequence[Summary]) -> Verdict:
        wrong = []
        for epsilon in epsilons:
            values = [median_at(found, label, epsilon) for label in labels]
            if values != sorted(values):
                ranked = sorted(zip(values, labels, strict=True))
                wrong.append(f"at epsilon {budget_text(epsilon)} the order is " + ", ".join(f"{label} {value:.3f}" for value, label in ranked))
        if wrong:
            return Verdict(False, "Differs: published is the order " + ", ".join(labels) + "; " + "; ".join(wrong) + ".")
        values_at_last = ", ".join(f"{label} {median_at(found, label, epsilons[-1]):.3f}" for label in labels)
        return Verdict(True, f"Reproduced: the published order holds; at epsilon {budget_text(epsilons[-1])}: {values_at_last}.")

    return judge


def _rule_alone(found: Sequence[Summary]) -> Verdict:
    """Fig. 3a and 4 set DPFW's noise by its source's rule: how much of its distance to DPALS is that rule?"""
    order = _in_order("DPALS", "DPFW, source's noise")(found)
    epsilon = 5.0
    theirs, ours, als = (median_at(found, label, epsilon) for label in ("DPFW, source's noise", "DPFW", "DPALS"))
    if theirs <= als:
        return order
    share, at = (theirs - ours) / (theirs - als), f"{order.words} At epsilon {budget_text(epsilon)}"
    if share >= 1:
        return Verdict(
            order.reproduced,
            f"{at} the published gap is the accounting rule alone: exactly accounted, DPFW has {ours:.3f}.",
        )
    return Verdict(
        order.reproduced,
        f"{at}, {share:.0%} of the gap is the accounting rule alone: exactly accounted, DPFW has {ours:.3f}.",
    )


def _falls(label: str, name: str) -> Callable[[Sequence[Summary]], Verdict]:
    """Whether a private method has its best value of a parameter inside the range or at its small end, its twin at the large end."""

    def judge(found: Sequence[Summary]) -> Verdict:
        private = {point.grid[name]: point.median for point in found if point.label == label}
        twin = {point.grid[name]: point.median for point in found if point.label == "ALS"}
        best, best_twin = min(private, key=lambda at: private[at]), min(twin, key=lambda at: twin[at])
        words = f"the best {name} is {best} in private (RMSE {private[best]:.3f}) and {best_twin} without (RMSE {twin[best_twin]:.3f})."
        return Verdict(best != best_twin, ("Reproduced: " if best != best_twin else "Differs: ") + words)

    return judge


# ---- the figures ------------------------------------------------------------------------------------------------------

PLAIN: dict[str, Value] = {"biases": "off", "regularisation": 0.08}  # ratings as they are, as in the sources
ALS, MEAN = Method(algorithm="als", label="ALS", parameters=PLAIN), Method(algorithm="global-mean", label="Global mean")
EXACT = Method(algorithm="als", label="ALS")  # on exactly low rank, where `LOWRANK` says how
DPALS, SPECTRAL = Method(algorithm="dpals", label="DPALS"), Method(algorithm="spectral", label="One-shot spectral")
ADA, BIASES = Method(algorithm="ada-dpals", label="Ada-DPALS"), Method(algorithm="private-bias", label="Private biases")
DPFW, SVD = Method(algorithm="dpfw", label="DPFW"), Method(algorithm="private-svd", label="Private SVD")
DPFW_SOURCE = Method(algorithm="dpfw", label="DPFW, source's noise", calibration=Calibration.SOURCE)
DPALS_SOURCE = Method(algorithm="dpals", label="DPALS, source's noise", calibration=Calibration.SOURCE)
SVD_SOURCE = Method(algorithm="private-svd", label="Private SVD, source's noise", calibration=Calibration.SOURCE)

DPFW_THEIRS = Method(algorithm="dpfw", label="DPFW as in the source", calibration=Calibration.SOURCE, parameters={"slack": True})
SVD_THEIRS = Method(algorithm="private-svd", label="Private SVD as in the source", calibration=Calibration.SOURCE, parameters={"user_step": "projection"})

# Rows of the synthetic set have neither offsets nor a mean, and no noise of their own: nothing is centred, and ridges must not shrink.
LOWRANK: dict[str, dict[str, Value]] = {
    "dpals": {
        "biases": False, "centring": "none", "rank": 5, "steps": 3, "ratings_per_user": 200, "frequent_fraction": 1.0, "regularisation": 0.003,
        "user_regularisation": 0.003, "prediction_ridge": 0.003, "noise_ridge": 1.2, "gram_share": 0.35, "rating_clip": 0.6,
    },
    "spectral": {"biases": False}, "dpfw": {"nuclear_norm": 0.447, "row_clip": 0.08, "steps": 5}, "private-svd": {"rank": 5, "prediction_ridge": 0.005},
    "private-pgd": {"nuclear_norm": 0.447, "steps": 4}, "dp-sgd": {"biases": False, "rank": 5}, "als": {"rank": 5, "biases": "off", "regularisation": 0.0001},
}  # fmt: skip


def _on_lowrank(*methods: Method) -> tuple[Method, ...]:
    return tuple(method.model_copy(update={"parameters": {**LOWRANK.get(method.algorithm, {}), **method.parameters}}) for method in methods)


def _against_epsilon(top: int | None, *methods: Method) -> Callable[[bool], tuple[Sweep, ...]]:
    def sweeps(full: bool) -> tuple[Sweep, ...]:
        return (Sweep(data=_films(full, top), methods=methods, epsilons=EPSILONS if full else FEW, seeds=tuple(range(5 if full else 2))),)

    return sweeps


def _fig3c(full: bool) -> tuple[Sweep, ...]:
    name = first_present("ml-20m", "ml-1m", "cinema") if full else first_present("ml-1m", "cinema")
    data = DataSpec(id=name, positives_above=3.5, min_user_count=5)
    lists = {
        "biases": False,
        "centring": "none",
        "unobserved_weight": 0.4,
        "frequent_fraction": 0.1,
        "clip_norm": 0.1,
        "regularisation": 40.0,
        "steps": 3,
        "rank": 16,
    }
    methods = (
        Method(algorithm="als", label="ALS", parameters=PLAIN | {"unobserved_weight": 0.1, "rank": 32, "regularisation": 5.0, "regularisation_exponent": 0.0}),
        Method(algorithm="dpals", label="DPALS", parameters=lists), Method(algorithm="spectral", label="One-shot spectral", parameters={"implicit": True}),
        Method(algorithm="popularity", label="Popularity"),
    )  # fmt: skip
    split = SplitSpec(kind="users", test_fraction=0.1)
    return (Sweep(data=data, split=split, methods=methods, epsilons=(1.0, 5.0, 10.0, 20.0) if full else FEW, seeds=FRESH if full else FRESH[:2]),)


def _fig4(full: bool) -> tuple[Sweep, ...]:
    names = ("lowrank-5k", "lowrank-10k", "lowrank", "lowrank-50k") if full else ("lowrank-5k", "lowrank-10k")
    methods = _on_lowrank(SPECTRAL, DPALS, DPFW, DPFW_SOURCE, EXACT, MEAN)
    return tuple(
        Sweep(data=DataSpec(id=name), methods=methods, epsilons=EPSILONS if full else (5.0, 20.0), seeds=tuple(range(3 if full else 2))) for name in names
    )


def _fig5(full: bool) -> tuple[Sweep, ...]:
    common = {"rank": 128 if full else 32, "ratings_per_user": 50, "biases": False, "noise_ridge": 0.0}
    methods = (
        Method(algorithm="dpals", label="Uniform sampling", parameters={**common, "sampling": "uniform"}),
        Method(algorithm="dpals", label="Adaptive sampling", parameters={**common, "sampling": "adaptive"}),
        Method(algorithm="dpals", label="Uniform, no PSD projection", parameters={**common, "sampling": "uniform", "psd": False}), ALS,
    )  # fmt: skip
    shares = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0) if full else (0.1, 0.3, 1.0)
    return (Sweep(data=_films(full, None), methods=methods, epsilons=(10.0,), seeds=tuple(range(3 if full else 2)), grid={"frequent_fraction": shares}),)


def _fig7(full: bool) -> tuple[Sweep, ...]:
    methods = (DPALS.model_copy(update={"parameters": {"steps": 10}}), ALS)
    return (Sweep(data=_films(full), methods=methods, epsilons=(1.0, 10.0), seeds=(0, 1)),)


def _users(full: bool) -> tuple[Sweep, ...]:
    """About a quarter of the users: the synthetic set exists at sizes that far apart, of one law."""
    small, large = ("lowrank-10k", "lowrank-50k") if full else ("lowrank-5k", "lowrank")
    few, every = _on_lowrank(
        DPALS.model_copy(update={"label": "DPALS, a quarter of the users"}), DPFW_SOURCE.model_copy(update={"label": "DPFW, all users, source's noise"})
    )
    exact = _on_lowrank(DPFW.model_copy(update={"label": "DPFW, all users"}))[0]
    common = {"epsilons": EPSILONS if full else (20.0,), "seeds": (0, 1)}
    return (Sweep(data=DataSpec(id=small), methods=(few,), **common), Sweep(data=DataSpec(id=large), methods=(every, exact), **common))


def _one_parameter(name: str, values: tuple[float | int, ...], **fixed: float | int) -> Callable[[bool], tuple[Sweep, ...]]:
    def sweeps(full: bool) -> tuple[Sweep, ...]:
        private = Method(algorithm="dpals", label="DPALS", parameters=fixed)
        methods = (private, ALS)
        return (Sweep(data=_films(full), methods=methods, epsilons=(10.0,), seeds=tuple(range(5 if full else 2)), grid={name: values}),)

    return sweeps


def _jain(at_full: tuple[str, ...], at_page: tuple[str, ...]) -> Callable[[bool], tuple[Sweep, ...]]:
    def sweeps(full: bool) -> tuple[Sweep, ...]:
        name = first_present(*(at_full if full else at_page))
        top = 400 if name.startswith(("ml-", "netflix")) else None
        methods = (DPFW_THEIRS, DPFW, SVD_THEIRS, SVD, SPECTRAL, Method(algorithm="fw", label="Frank-Wolfe"), MEAN)
        epsilons = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0) if full else (1.0, 10.0)
        split = SplitSpec(test_fraction=0.01)
        return (
            Sweep(data=DataSpec(id=name, top_items=top), split=split, methods=methods, epsilons=epsilons, seeds=tuple(range(3 if full else 2)), delta=1e-6),
        )

    return sweeps


def _beats(better: str, worse: str, epsilon: float) -> Callable[[Sequence[Summary]], Verdict]:
    return _in_order(better, worse, epsilons=(epsilon,))


def _more_items(found: Sequence[Summary]) -> Verdict:
    """[C21], Fig. 5: adaptive sampling beats uniform, and without the projection DPALS is terrible."""
    best = {label: min(point.median for point in found if point.label == label) for label in dict.fromkeys(point.label for point in found)}
    holds = best["Adaptive sampling"] < best["Uniform sampling"] and best["Uniform, no PSD projection"] > best["Uniform sampling"]
    figures = ", ".join(f"{label} {value:.3f}" for label, value in best.items())
    return Verdict(holds, f"{'Reproduced' if holds else 'Differs from adaptive before uniform before no projection'}: at the best share of items {figures}.")


def _steps_cost(found: Sequence[Summary]) -> Verdict:
    epsilons = sorted({point.epsilon for point in found if point.epsilon})
    figures = ", ".join(f"{median_at(found, 'DPALS', epsilon):.3f} at epsilon {budget_text(epsilon)}" for epsilon in epsilons)
    return Verdict(
        True, f"Ten private steps end at RMSE {figures}, ALS at {median_at(found, 'ALS'):.3f}; each line shows at which step more of them stop paying."
    )


def _lists(found: Sequence[Summary]) -> Verdict:
    top = max(point.epsilon for point in found if point.epsilon)
    recall = {label: median_at(found, label, top) for label in dict.fromkeys(point.label for point in found)}
    holds = recall["Popularity"] < recall["DPALS"] < recall["ALS"]
    figures = f"Recall@20 at epsilon {budget_text(top)}: " + ", ".join(f"{label} {value:.3f}" for label, value in recall.items()) + "."
    return Verdict(holds, ("Reproduced: " if holds else "Differs from DPALS between popularity and ALS: ") + figures)


def _ranked(found: Sequence[Summary]) -> Verdict:
    """Our own tables have nothing to reproduce: the order at the middle epsilon, in figures."""
    epsilons = sorted({point.epsilon for point in found if point.epsilon})
    epsilon = epsilons[len(epsilons) // 2]
    at = sorted((point.median, point.label) for point in found if point.epsilon == epsilon)
    return Verdict(True, f"At epsilon {budget_text(epsilon)}: " + ", ".join(f"{label} {value:.3f}" for value, label in at[:8]) + ".")


FRESH = tuple(range(10, 20))  # splits and noise that no default was chosen by; lists take all of them, so much do they vary from split to split


EVERY = tuple(
    Method(algorithm=name, label=name)
    for name in (
        "private-bias", "dpals", "ada-dpals", "spectral", "dpfw", "dpfw-oja", "private-svd", "svd-cleansing", "private-pgd", "dp-sgd", "sgld",
        "input-perturbation", "dpnmf-laplace", "als", "fw", "pgd", "sgd-mf", "bias", "user-mean", "global-mean",
    )
)  # fmt: skip


def _by_source(*methods: Method) -> tuple[Method, ...]:
    return tuple(method.model_copy(update={"label": f"{method.label}, source's noise", "calibration": Calibration.SOURCE}) for method in methods)


def _lowrank_table(full: bool) -> tuple[Sweep, ...]:
    pgd, sgd = Method(algorithm="private-pgd", label="Private PGD"), Method(algorithm="dp-sgd", label="DP-SGD")
    sourced = (DPALS, DPFW, SVD, pgd)
    methods = _on_lowrank(SPECTRAL, sgd, *sourced, *_by_source(*sourced), EXACT, MEAN)
    names = ("lowrank", "lowrank-50k") if full else ("lowrank-5k",)
    return tuple(Sweep(data=DataSpec(id=name), methods=methods, epsilons=EPSILONS if full else (5.0,), seeds=FRESH[: 3 if full else 2]) for name in names)


def _films_table(full: bool) -> tuple[Sweep, ...]:
    data = DataSpec(id=first_present("ml-1m", "cinema"), top_items=400)
    return (Sweep(data=data, methods=EVERY, epsilons=EPSILONS if full else (5.0,), seeds=FRESH[: 5 if full else 2]),)


def _all_films_table(full: bool) -> tuple[Sweep, ...]:
    methods = tuple(
        method for method in EVERY if method.algorithm in ("private-bias", "spectral", "dp-sgd", "dpals", "ada-dpals", "als", "user-mean", "global-mean")
    )
    return (Sweep(data=DataSpec(id=first_present("ml-1m", "cinema")), methods=methods, epsilons=FEW, seeds=FRESH[: 3 if full else 2]),)


C21 = "Chien et al. 2021"
J18 = "Jain, Thakkar & Thakurta 2018"

RATINGS_PRESETS: dict[str, Preset] = {
    preset.id: preset
    for preset in (
        Preset(
            "chien-fig3a", "RMSE against epsilon, 400 most rated films", f"{C21}, Fig. 3a", "DPALS, DPFW and private SVD on the films that most people rated.",
            _against_epsilon(400, DPALS, DPALS_SOURCE, DPFW, DPFW_SOURCE, SVD, SVD_SOURCE, SPECTRAL, ALS, MEAN), _rule_alone, "ml-10m",
        ),
        Preset(
            "chien-fig3b", "RMSE against epsilon, all films", f"{C21}, Fig. 3b", "The same on every film, where most are rated by few.",
            _against_epsilon(None, DPALS, ADA, BIASES, SPECTRAL, ALS, MEAN), _in_order("ALS", "DPALS", "Global mean"), "ml-10m",
        ),
        Preset(
            "chien-fig3c", "Recall@20 against epsilon", f"{C21}, Fig. 3c", "What people liked, ranked for people whose ratings were not trained on.",
            _fig3c, _lists, "ml-20m", metric="recall_at_20", marks=(Mark("ALS", None, 0.3665, f"{C21}, Fig. 3c: .363 to .370 without privacy, ML-20M"),),
        ),
        Preset(
            "chien-fig4", "Simulated low rank, more and more users", f"{C21}, Fig. 4", "Exactly low rank; predicting 0 has RMSE 1.",
            _fig4, _rule_alone, axis="users",
        ),
        Preset(
            "chien-fig5", "RMSE against the share of films that get factors", f"{C21}, Fig. 5", "The other films get the user's mean.",
            _fig5, _more_items, "ml-10m", axis="frequent_fraction",
            marks=(
                Mark("Uniform sampling", 1.0, 0.870, f"{C21}, Fig. 5, ML-10M"), Mark("Adaptive sampling", 1.0, 0.854, f"{C21}, Fig. 5, ML-10M"),
                Mark("ALS", None, 0.785, f"{C21}, Fig. 5, ML-10M"),
            ),
        ),
        Preset(
            "chien-fig7", "RMSE against steps", f"{C21}, Fig. 7", "More steps fit better and share the budget among more releases.",
            _fig7, _steps_cost, "ml-10m", axis="step",
        ),
        Preset(
            "chien-users", "A quarter of the users against all of them", f"{C21}, section 6", "The source: DPALS on 23% of the users beats DPFW on all.",
            _users, _beats("DPALS, a quarter of the users", "DPFW, all users, source's noise", 20.0),
        ),
        Preset(
            "chien-rank", "RMSE against rank", f"{C21}, supplement", "Without privacy more factors do no harm; in private each brings noise.",
            _one_parameter("rank", (2, 4, 8, 16, 32)), _falls("DPALS", "rank"), "ml-10m", axis="rank",
        ),
        Preset(
            "chien-lambda", "RMSE against the item ridge", f"{C21}, supplement", "Noise wants a stronger pull towards 0.",
            _one_parameter("regularisation", (0.01, 0.1, 1.0, 10.0, 100.0)), _falls("DPALS", "regularisation"), "ml-10m", axis="regularisation",
        ),
        Preset(
            "lowrank-table", "Every method on simulated low rank, by both rules", "dpmf", "How much of a gap is the rule, how much the method.",
            _lowrank_table, _ranked, axis="users",
        ),
        Preset(
            "films-table", "Every method on the 400 most rated films", "dpmf", "All that is private beside all that is not.", _films_table, _ranked, "ml-1m",
        ),
        Preset(
            "all-films-table", "The best methods on every film", "dpmf", "Where most items are rated by few, offsets come first.",
            _all_films_table, _ranked, "ml-1m",
        ),
        Preset(
            "jain-fig2", "Rank one, simulated", f"{J18}, Fig. 2", "500,000 users of one taste; private Frank-Wolfe against private SVD.",
            _jain(("rankone",), ("rankone-20k",)), _beats("DPFW as in the source", "Private SVD as in the source", 10.0), "rankone",
        ),
        Preset(
            "jain-fig3", "Real ratings", f"{J18}, Fig. 3", "Private Frank-Wolfe against private SVD, 1% of the ratings held out, delta 1e-6.",
            _jain(("jester", "netflix", "ml-10m", "ml-1m", "cinema"), ("ml-1m", "cinema")),
            _beats("DPFW as in the source", "Private SVD as in the source", 10.0), "jester",
        ),
    )
}  # fmt: skip
PRESETS = RATINGS_PRESETS | PART_PRESETS | ROAD_PRESETS


def find_preset(preset_id: str) -> Preset:
    """The preset of this id. Raises BadInput naming the known ones."""
    if preset_id not in PRESETS:
        raise BadInput(f"There is no preset {preset_id!r}.{closest(preset_id, PRESETS)} Known: {', '.join(PRESETS)}.")
    return PRESETS[preset_id]
