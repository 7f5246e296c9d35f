"""The table of measured draws: the scale, costs, ranks and the epsilon needed, by hand."""

import math

import pytest

from dpmf_core.evaluation.registry import METRICS
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.measurements import Measured, PrivacyCost, shared_draws
from tests.support.tables import point, table

RMSE = METRICS["rmse"]
RECALL = METRICS["recall_at_20"]
REFERENCES = {
    ("global-mean", None): (1.10, 1.10, 1.10),
    ("user-mean", None): (1.00, 1.00, 1.00),
    ("bmf", None): (0.80, 0.80, 0.75),
}


def judged(figures, metric="rmse", **summary):
    return table({**REFERENCES, **figures}, metric, **summary).by(metric)


def only(judgement, label):
    (one,) = judgement.line(label)
    return one


# ---- the table -----------------------------------------------------------------------------------


def test_a_table_holds_what_has_finished_and_says_what_is_missing():
    figures = {
        ("dpals", 1.0): (0.9, 1.1, 0.8),
        ("dpals", 4.0): (0.5, math.nan, None),
    }
    draws = table(figures)
    first, second = draws.measured("rmse")
    assert first.draws == (0.9, 1.1, 0.8)
    assert first.seeds == (0, 1, 2)
    assert second.draws == (0.5,)
    assert second.seeds == (0,)
    (missing,) = draws.missing
    assert missing.spec.seed == 2
    assert draws.measured("recall_at_20") == []


def test_draws_are_compared_where_all_have_one():
    first = Measured("A", "dpals", 1.0, {}, (0.1, 0.2, 0.3), (0, 1, 2))
    second = Measured("B", "bmf", None, {}, (3.0, 1.0), (3, 1))
    assert shared_draws(first, second) == [(0.2, 1.0)]
    assert shared_draws(first) == [(0.1,), (0.2,), (0.3,)]


def proven(rmse):
    """What a finished run says."""
    return {
        "metrics": {"rmse": rmse},
        "guarantee": "PROVEN",
        "unit": "user",
    }


def test_released_draws_have_no_raw_figures_of_private_data():
    private = table({("spectral", 2.0): (0.9, 0.8)}, public=False)
    first, _ = private.rows
    released = private.released({first.point.key: 0.95})
    assert released.measured("rmse") == []
    (noisy,) = released.measured("noisy_rmse")
    assert noisy.draws == (0.95,)
    public = table({("spectral", 2.0): (0.9,)})
    assert public.released({}).rows == public.rows


# ---- the scale -----------------------------------------------------------------------------------


def test_the_floor_is_the_better_of_the_global_mean_and_the_own_mean():
    assert judged({}).floor.algorithm == "user-mean"
    many_newcomers = {("user-mean", None): (1.15, 1.15, 1.15)}
    assert judged(many_newcomers).floor.algorithm == "global-mean"


def test_there_is_no_scale_while_one_of_both_means_is_unknown():
    alone = {
        ("global-mean", None): (1.1,),
        ("bmf", None): (0.8,),
        ("spectral", 2.0): (0.9,),
    }
    judgement = table(alone).by("rmse")
    assert judgement.floor is None
    assert judgement.share(only(judgement, "Spectral")) is None
    planned = table(
        {
            **alone,
            ("user-mean", None): (None,),
        }
    ).by("rmse")
    assert planned.floor is None


def test_several_data_sets_have_no_scale_in_common():
    points = []
    for top_items in (None, 20):
        for method in ("global-mean", "user-mean", "bmf"):
            points.append(point(method, None, 0, top_items=top_items))
    summaries = [{"metrics": {"rmse": 0.8}} for _ in points]
    both = Draws.of(points, summaries)
    assert not both.has_one_scale
    assert both.by("rmse").floor is None
    assert both.by("rmse").best_known is None
    assert len(both.measured("rmse")) == 6
    assert Draws.of(points[:3], summaries[:3]).by("rmse").floor is not None


def test_the_floor_of_lists_is_an_arbitrary_order():
    figures = {
        ("global-mean", None): (0.05,),
        ("user-mean", None): (0.2,),
        ("ease", None): (0.4,),
    }
    judgement = table(figures, "recall_at_20").by("recall_at_20")
    assert judgement.floor.algorithm == "global-mean"
    assert judgement.best_known.algorithm == "ease"


def test_the_floor_of_samples_is_their_average_which_every_run_has():
    draws = table({("bmf", None): (0.2, 0.3)}, "objective")
    for row in draws.rows:
        row.metrics["trivial_objective"] = 0.5 + row.point.spec.seed / 10
    floor = draws.by("objective").floor
    assert floor.draws == (0.5, 0.6)
    assert floor.seeds == (0, 1)


def test_judged_by_people_ratings_have_their_floor_in_every_run_and_smaller_is_better():
    figures = {
        ("bmf", None): (0.8, 0.6),
        ("dpals", 2.0): (0.9,),
        ("spectral", 2.0): (0.85, 0.95),
    }
    draws = table(figures, "person_rmse")
    for row in draws.rows:
        row.metrics["trivial_person_rmse"] = 1.0
    judgement = draws.by("person_rmse")
    assert judgement.floor.draws == (1.0, 1.0)
    assert judgement.best_known.label == "Bayesian MF"
    shares = judgement.shares(only(judgement, "Spectral"))
    assert shares.draws == pytest.approx((0.75, 0.125))
    assert [one.label for one in judgement.at(2.0)] == ["DPALS", "Spectral"]


def test_runs_with_and_without_item_features_have_one_scale():
    plain = point("dpals", 2.0, 0, item_features="none")
    with_features = point("dpals", 2.0, 0, item_features="public")
    summaries = [{"metrics": {"rmse": 0.8}}] * 2
    assert Draws.of([plain, with_features], summaries).has_one_scale


def test_runs_that_were_stored_without_their_floor_have_no_share():
    figures = {("bmf", None): (0.8,), ("spectral", 2.0): (0.9,)}
    judgement = table(figures, "person_rmse").by("person_rmse")
    assert judgement.floor is None
    assert judgement.share(only(judgement, "Spectral")) is None
    of_ratings = table({("bmf", None): (0.8,)})
    assert of_ratings.by("person_rmse").measured == []


def test_a_share_is_how_far_each_draw_goes_from_the_floor_to_the_best_known():
    judgement = judged({("spectral", 2.0): (0.90, 0.85, 0.95)})
    shares = judgement.shares(only(judgement, "Spectral"))
    assert shares.draws == pytest.approx((0.5, 0.75, 0.2))
    assert shares.median == pytest.approx(0.5)


def test_a_share_takes_the_draws_that_all_three_have():
    judgement = judged({("spectral", 2.0): (None, 0.85)})
    assert judgement.shares(only(judgement, "Spectral")).draws == pytest.approx((0.75,))


def test_there_is_no_share_where_sharing_is_worth_less_than_a_hundredth():
    almost = {
        ("bmf", None): (0.9901, 0.9901, 0.9901),
        ("spectral", 2.0): (0.995, 0.995, 0.995),
    }
    judgement = judged(almost)
    assert not judgement.is_sharing_worth
    assert judgement.share(only(judgement, "Spectral")) is None
    enough = judged(
        {
            **almost,
            ("bmf", None): (0.9899, 0.9899, 0.9899),
        }
    )
    assert enough.is_sharing_worth
    assert enough.share(only(enough, "Spectral")) is not None


def test_where_the_best_known_gains_nothing_in_one_draw_medians_are_compared():
    judgement = judged(
        {
            ("bmf", None): (0.80, 1.05, 0.80),
            ("spectral", 2.0): (0.9, 0.9, 0.95),
        }
    )
    shares = judgement.shares(only(judgement, "Spectral"))
    assert shares.draws == pytest.approx(((1.0 - 0.9) / (1.0 - 0.8),))


def test_als_is_the_best_known_of_ratings_in_parts(monkeypatch):
    only_als = {
        ("als", None): (0.8,),
        ("user-mean", None): (1.0,),
        ("global-mean", None): (1.1,),
    }
    assert not table(only_als).by("rmse").has_best_known
    monkeypatch.setattr(
        "dpmf_core.runs.draws.is_in_parts", lambda data: data == "cinema-small"
    )
    assert table(only_als).by("rmse").has_best_known


def test_a_table_without_references_has_no_scale():
    judgement = table({("spectral", 2.0): (0.9,)}).by("rmse")
    (one,) = judgement.measured
    assert judgement.floor is None
    assert judgement.best_known is None
    assert judgement.share(one) is None
    assert judgement.cost(one) is None


# ---- what it costs -------------------------------------------------------------------------------


def test_noise_method_and_not_sharing_are_three_costs_that_add_up_as_printed():
    judgement = judged(
        {
            ("spectral", 2.0): (0.9004, 0.90, 0.90),
            ("spectral without noise", None): (0.8404, 0.84, 0.84),
        }
    )
    cost = judgement.cost(only(judgement, "Spectral"))
    assert cost.noise == 0.06
    assert cost.method == 0.04
    assert cost.not_sharing == 0.2
    assert cost.total == 0.1
    close = PrivacyCost.of(RMSE, [(0.9014, 0.9008, 0.9002, 1.0)])
    assert close.noise == 0.0
    assert close.method == 0.001
    assert close.total == 0.001


def test_of_a_metric_where_more_is_better_the_costs_are_losses():
    cost = PrivacyCost.of(RECALL, [(0.20, 0.30, 0.36, 0.10)])
    assert cost.noise == 0.1
    assert cost.method == 0.06
    assert cost.not_sharing == 0.26


def test_a_method_is_compared_with_itself_without_noise_at_the_same_parameters():
    draws = table(REFERENCES)
    own = point("spectral", 2.0, 0, parameters={"rank": 4})
    usual = point("spectral without noise", None, 0)
    same = point("spectral without noise", None, 0, parameters={"rank": 4})
    summaries = [
        {
            "metrics": {"rmse": figure},
            "guarantee": "PROVEN",
            "unit": "user",
        }
        for figure in (0.9, 0.81, 0.82)
    ]
    more = Draws.of([own, usual, same], summaries)
    judgement = Draws((*draws.rows, *more.rows)).by("rmse")
    assert judgement.cost(only(judgement, "Spectral")).without_noise == 0.82


# ---- ranks ---------------------------------------------------------------------------------------

RIVALS = {
    ("spectral", 1.0): (0.90, 0.91, 0.90),
    ("private-bias", 1.0): (0.95, 0.96, 0.95),
    ("spectral", 5.0): (0.85, 0.86, 0.85),
    ("private-bias", 5.0): (0.94, 0.95, 0.94),
}


def of_two(first, second, epsilon=1.0):
    """Spectral and DPALS at an epsilon, with these errors."""
    return judged({("spectral", epsilon): first, ("dpals", epsilon): second})


def test_the_best_method_at_an_epsilon_has_the_smallest_median():
    judgement = judged(RIVALS)
    assert judgement.epsilons == (1.0, 5.0)
    assert judgement.best(1.0).label == "Spectral"
    assert [best.epsilon for best in judgement.best_line] == [1.0, 5.0]
    assert judgement.best(2.0) is None
    assert of_two((0.9,), (0.8,)).best(1.0).label == "DPALS"


def test_methods_are_ordered_by_the_share_that_is_printed():
    """The medians of the errors alone would have it the other way."""
    figures = {
        ("spectral", 1.0): (0.86, 0.70, 0.85),
        ("dpals", 1.0): (0.855, 0.855, 0.80),
    }
    judgement = judged(figures)
    first, second = judgement.at(1.0)
    assert first.label == "DPALS"
    assert second.label == "Spectral"
    assert first.median > second.median
    assert judgement.share(first) == pytest.approx(0.725)
    assert judgement.share(second) == pytest.approx(0.7)
    assert judgement.front == [first]
    without_references = table(figures).by("rmse")
    assert without_references.best(1.0).label == "Spectral"


def test_no_method_is_best_before_all_planned_there_have_finished():
    judgement = judged(
        {
            **RIVALS,
            ("dpals", 5.0): (0.7, 0.7, None),
        }
    )
    assert judgement.best(5.0) is None
    assert judgement.epsilons == (1.0,)


def test_epsilons_of_unfinished_methods_are_planned():
    judgement = judged(
        {
            **RIVALS,
            ("dpals", 5.0): (0.7, None),
            ("dpals", 10.0): (None,),
        }
    )
    assert judgement.planned_epsilons == (1.0, 5.0, 10.0)


def test_what_is_not_proven_or_follows_another_rule_is_not_ranked():
    unproven = judged({**RIVALS, ("input-perturbation", 1.0): (0.1, 0.1, 0.1)})
    assert unproven.best(1.0).label == "Spectral"
    of_a_rating = judged(RIVALS, unit="value of a rating")
    assert of_a_rating.ranked == []
    own_rule = point("dpals", 1.0, 0, calibration="source")
    judgement = Draws.of([own_rule], [proven(0.1)]).by("rmse")
    assert judgement.ranked == []
    assert judgement.measured[0].caution


def test_nothing_is_best_by_raw_errors_of_private_data():
    judgement = judged(RIVALS, public=False)
    assert judgement.best(1.0) is None
    assert judgement.epsilons == ()
    assert len(judgement.ranked) == 4


def test_a_difference_that_may_be_chance_is_none():
    judgement = of_two((0.90, 0.93, 0.91), (0.91, 0.92, 0.93))
    best, other = judgement.at(1.0)
    assert judgement.no_different(best) == [other]
    assert judgement.better(other) is None


def test_the_recommended_method_is_named_if_another_is_not_measurably_better():
    close = {
        ("sgld", 1.0): (0.90, 0.93, 0.91),
        ("spectral", 1.0): (0.901, 0.929, 0.912),
    }
    judgement = judged(close)
    assert judgement.at(1.0)[0].label == "SGLD"
    assert judgement.best(1.0).label == "Spectral"
    clear = judged(
        {
            **close,
            ("spectral", 1.0): (0.901, 0.931, 0.911),
        }
    )
    assert clear.best(1.0).label == "SGLD"  # by little, but in each draw
    far = judged(
        {
            **close,
            ("spectral", 1.0): (0.85, 1.02, 0.94),
        }
    )
    assert far.best(1.0).label == "SGLD"  # perhaps by chance, but by 3% of the floor


# by medians DPALS, private biases, Spectral; only the last two differ in every draw alike
CROSSED = {
    ("dpals", 1.0): (0.89, 0.899, 0.96),
    ("private-bias", 1.0): (0.9, 0.9, 0.9),
    ("spectral", 1.0): (0.905, 0.905, 0.905),
}


def test_the_recommended_method_is_not_named_if_any_other_is_clearly_better():
    assert judged(CROSSED).best(1.0).label == "DPALS"


def test_a_better_method_need_not_be_the_best():
    judgement = judged(CROSSED)
    assert judgement.better(only(judgement, "Spectral")).label == "Private biases"
    assert judgement.better(only(judgement, "Private biases")) is None


def test_a_table_shows_no_raw_figures_in_a_notebook():
    assert "0.9" not in repr(judged({("spectral", 1.0): (0.9,)}, public=False).table)


def test_a_difference_beyond_chance_makes_a_method_better():
    judgement = of_two((0.90, 0.93, 0.91), (0.95, 0.981, 0.96))
    best, other = judgement.at(1.0)
    assert judgement.no_different(best) == []
    assert judgement.better(other) == best
    assert judgement.better(best) is None


def test_one_draw_tells_nothing_apart():
    judgement = of_two((0.5,), (0.9,))
    best, other = judgement.at(1.0)
    assert judgement.no_different(best) == [other]


def test_more_is_better_for_lists():
    figures = {
        ("spectral", 1.0): (0.3, 0.3),
        ("dpals", 1.0): (0.4, 0.4),
    }
    assert table(figures, "recall_at_20").by("recall_at_20").best(1.0).label == "DPALS"


def test_the_front_holds_what_is_better_than_all_at_smaller_epsilons():
    judgement = judged(
        {
            **RIVALS,
            ("spectral", 9.0): (0.86, 0.87, 0.86),
        }
    )
    assert [(one.label, one.epsilon) for one in judgement.front] == [
        ("Spectral", 1.0),
        ("Spectral", 5.0),
    ]


@pytest.mark.parametrize(
    ("errors", "share"), [((1.1, 1.1, 1.1), -0.5), ((0.7, 0.7, 0.625), 1.5)]
)
def test_a_share_may_lie_beyond_both_ends_of_the_scale(errors, share):
    judgement = judged({("spectral", 2.0): errors})
    assert judgement.share(only(judgement, "Spectral")) == pytest.approx(share)
