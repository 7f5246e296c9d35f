"""Sentences about the table of measured draws: what is kept, costs, is better and is enough."""

from dataclasses import replace

import pytest

from dpmf_core.evaluation.registry import METRICS
from dpmf_core.runs import conclusions
from dpmf_core.runs.conclusions import Reference
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.measurements import Measured
from tests.support.tables import point, table

REFERENCES = {
    ("global-mean", None): (1.10, 1.10, 1.10),
    ("user-mean", None): (1.00, 1.00, 1.00),
    ("bmf", None): (0.80, 0.80, 0.80),
}


def judged(figures, **summary):
    return table({**REFERENCES, **figures}, **summary).by("rmse")


def of_spectral(judgement):
    (one,) = judgement.line("Spectral")
    return one


def kept(*draws):
    judgement = judged({("spectral", 2.0): draws})
    return conclusions.kept_words(judgement, of_spectral(judgement))


def test_what_is_kept_is_said_of_what_sharing_is_worth():
    assert kept(0.84, 0.82, 0.85) == (
        "keeps 80% of what sharing ratings is worth (75% to 90% over 3 draws)"
    )
    assert kept(0.84) == "keeps 80% of what sharing ratings is worth"
    assert kept(0.84, 0.84, 0.84).endswith("(in each of 3 draws)")


def test_below_the_floor_it_is_worse_than_no_model():
    assert (
        kept(1.02)
        == "is worse than no model: each person's own mean alone has RMSE 1.000"
    )
    assert kept(1.0004) == "keeps 0% of what sharing ratings is worth"


def test_at_the_best_known_it_does_as_well():
    assert kept(0.79) == (
        "does at least as well as Bayesian MF, the best known method without privacy"
    )


def test_a_share_between_measured_points_is_about_so_much():
    words = conclusions.share_words(judged({}), 0.5, about="about ")
    assert words == "keeps about 50% of what sharing ratings is worth"
    assert conclusions.share_figure(0.5, "about ") == "about 50% kept"


def test_a_figure_below_the_floor_is_no_percentage():
    assert conclusions.share_figure(-0.02) == "Worse than no model"
    assert conclusions.share_figure(-0.002) == "0% kept"
    assert conclusions.share_figure(0.87) == "87% kept"


def test_where_sharing_is_worth_nothing_measurable_there_is_no_percentage():
    judgement = judged(
        {
            ("bmf", None): (0.995,),
            ("spectral", 2.0): (0.999,),
        }
    )
    words = conclusions.kept_words(judgement, of_spectral(judgement))
    assert words == "has RMSE 0.999; sharing is worth nothing measurable here"
    assert "%" not in words


def test_where_no_draw_is_shared_with_the_references_nothing_is_said_of_sharing():
    assert kept(None, None, None, 0.9) == "has RMSE 0.900"


def test_another_reference_than_the_best_known_has_other_words():
    only_als = {
        **REFERENCES,
        ("als", None): (0.8,),
        ("spectral", 2.0): (0.9,),
    }
    del only_als[("bmf", None)]
    judgement = table(only_als).by("rmse")
    assert conclusions.kept_words(judgement, of_spectral(judgement)) == (
        "keeps 50% of what ALS gains over each person's own mean"
    )


def test_both_ends_of_the_scale_are_named():
    assert conclusions.scale_words(judged({})) == (
        "0% is each person's own mean (RMSE 1.000); 100% is Bayesian MF, the best known method"
        " without privacy (0.800)."
    )
    newcomers = judged({("user-mean", None): (1.2,)})
    assert conclusions.floor_words(newcomers) == "the mean of all ratings"
    lists = table(
        {
            ("global-mean", None): (0.1,),
            ("ease", None): (0.4,),
        },
        "recall_at_20",
    )
    assert conclusions.floor_words(lists.by("recall_at_20")) == "a random order"


def test_noise_method_and_not_sharing_are_priced():
    judgement = judged(
        {
            ("spectral", 2.0): (0.9,),
            ("spectral without noise", None): (0.79,),
        },
    )
    cost = judgement.cost(of_spectral(judgement))
    assert conclusions.cost_words(judgement, cost) == (
        "RMSE is 0.100 more than with Bayesian MF, the best known method without privacy: 0.110"
        " from noise and settings chosen for it, −0.010 from the method. Not sharing at all would"
        " cost 0.200."
    )


RIVALS = {
    ("spectral", 2.0): (0.84, 0.85, 0.84),
    ("dpals", 2.0): (0.90, 0.91, 0.90),
}


def test_a_better_proven_method_is_named_with_the_difference():
    judgement = judged(RIVALS)
    best, other = judgement.at(2.0)
    assert conclusions.better_words(judgement, other) == (
        "A better proven method is known at this ε: Spectral keeps 80%, 30 points more."
    )
    assert conclusions.better_words(judgement, best) == ""
    assert conclusions.no_difference_words(judgement, best) == ""


def test_a_better_method_that_is_worse_than_no_model_has_no_percentage():
    judgement = judged(
        {
            ("spectral", 2.0): (1.1, 1.11),
            ("dpals", 2.0): (1.2, 1.21),
        }
    )
    assert conclusions.better_words(judgement, judgement.at(2.0)[1]) == (
        "A better proven method is known at this ε: Spectral has RMSE 1.105."
    )


def test_no_difference_is_found_in_the_draws_that_both_have():
    judgement = judged(
        {
            ("spectral", 2.0): (0.84, 0.86),
            ("dpals", 2.0): (0.85, 0.85, 0.85),
        }
    )
    assert conclusions.no_difference_words(judgement, judgement.line("DPALS")[0]) == (
        "No difference from Spectral was found in 2 draws."
    )


def test_one_draw_cannot_show_a_difference():
    judgement = judged(
        {
            ("spectral", 2.0): (0.8,),
            ("dpals", 2.0): (0.9,),
        }
    )
    assert conclusions.no_difference_words(judgement, judgement.at(2.0)[0]) == (
        "One draw cannot show a difference from DPALS."
    )


def test_a_difference_that_may_be_chance_is_said_to_be_none():
    judgement = judged(
        {
            **RIVALS,
            ("dpals", 2.0): (0.83, 0.86, 0.85),
        }
    )
    best, other = judgement.at(2.0)
    assert conclusions.no_difference_words(judgement, best) == (
        "No difference from DPALS was found in 3 draws."
    )
    assert conclusions.better_words(judgement, other) == ""


def test_the_best_at_an_epsilon_is_said_in_one_sentence_and_ties_in_another():
    judgement = judged(
        {
            ("spectral", 2.0): (0.9, 0.91, 0.89),
            ("dpals", 2.0): (0.90, 0.93, 0.89),
        }
    )
    assert conclusions.best_words(judgement, 2.0) == (
        "At ε = 2, Spectral keeps 50% of what sharing ratings is worth (45% to 55% over 3 draws)."
        " No difference from DPALS was found in 3 draws."
    )
    assert conclusions.best_words(judgement, 1.0) == ""
    private = judged({("spectral", 2.0): (0.9,)}, public=False)
    assert conclusions.best_words(private, 2.0) == ""


def test_a_table_is_concluded_at_each_epsilon_unless_its_data_are_private():
    figures = {
        ("spectral", 2.0): (0.9,),
        ("spectral", 5.0): (0.84,),
    }
    first, second, scale = conclusions.conclusions_of(judged(figures))
    assert first.startswith("At ε = 2, Spectral keeps 50%")
    assert second.startswith("At ε = 5, Spectral keeps 80%")
    assert scale.startswith("0% is each person's own mean")
    assert conclusions.conclusions_of(judged(figures, public=False)) == []


def test_the_scale_is_named_where_nothing_is_ranked():
    (scale, reason) = conclusions.conclusions_of(
        judged({("spectral", 2.0): (0.9,)}, unit="rating")
    )
    assert scale.startswith("0% is each person's own mean")
    assert "is not ranked" in reason


def test_a_table_without_both_means_says_what_the_share_needs():
    alone = {
        ("global-mean", None): (1.1,),
        ("bmf", None): (0.8,),
        ("spectral", 2.0): (0.9,),
    }
    assert conclusions.conclusions_of(table(alone).by("rmse")) == [
        "At ε = 2, Spectral has RMSE 0.900.",
        "The share kept needs global-mean and user-mean among the algorithms.",
    ]


def test_the_best_of_a_grid_is_named_with_its_place():
    summary = {
        "guarantee": "PROVEN",
        "unit": "user",
        "epsilon": 2.0,
        "public": True,
    }
    points = [
        replace(point("dpals", 2.0, 0, rank=rank), grid={"rank": rank, "steps": 2})
        for rank in (2, 4)
    ]
    summaries = [{**summary, "metrics": {"rmse": figure}} for figure in (0.9, 0.8)]
    words = conclusions.best_words(Draws.of(points, summaries).by("rmse"), 2.0)
    assert words == "At ε = 2, DPALS with rank = 4 and steps = 2 has RMSE 0.800."


def test_what_is_not_ranked_has_a_reason():
    judgement = judged({("spectral", 2.0): (0.9,)}, unit="rating")
    assert conclusions.not_ranked_words(judgement) == [
        "Spectral is not ranked: its ε protects one rating."
    ]


@pytest.mark.parametrize(
    ("summary", "reason"),
    [
        ({"unit": "value of a rating"}, "its ε protects one value of a rating"),
        ({"unit": "user"}, "its proof rests on conditions of its own"),
        ({"guarantee": "UNPROVEN"}, "no proof"),
    ],
)
def test_a_conditional_proof_is_not_called_none(summary, reason):
    figures = {("input-perturbation", 2.0): (0.9,)}
    judgement = judged(figures, **{"guarantee": "CONDITIONAL", **summary})
    assert conclusions.not_ranked_words(judgement) == [
        f"Input perturbation is not ranked: {reason}."
    ]


def test_the_difference_in_points_is_that_of_the_printed_shares():
    assert conclusions.points_words(0.865, 0.854) == "1 point"
    assert conclusions.points_words(0.8749, 0.854) == "2 points"
    assert conclusions.points_words(0.85, 0.85) == "0 points"


def line(*points):
    return [Measured("A", "dpals", epsilon, {}, draws) for epsilon, draws in points]


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.2, ("ε = 1", ", the smallest measured")),
        (0.5, ("ε ≈ 2", ", 1.4 to 2.8 over draws")),
        (0.7, ("ε = 4", ", 2.8 to more than 4 over draws")),
        (0.9, ("no ε up to 4", "; the best is 70%, at ε = 4")),
    ],
)
def test_the_epsilon_that_is_enough_is_said_with_its_uncertainty(share, expected):
    along = line((1.0, (0.3, 0.2, 0.4)), (4.0, (0.7, 0.6, 0.8)))
    assert conclusions.needed_words(along, share) == expected


def test_between_measured_points_both_sides_are_said():
    judgement = judged({})
    along = line((1.0, (0.3,)), (4.0, (0.7,)))
    assert conclusions.kept_at_words(judgement, along, 2.0) == (
        "keeps 30% to 70% of what sharing ratings is worth (measured at ε = 1 and 4)"
    )
    assert conclusions.kept_at_words(judgement, along, 4.0) == (
        "keeps 70% of what sharing ratings is worth (measured at ε = 4)"
    )
    assert conclusions.kept_at_words(judgement, along, 9.0) == ""


def test_between_points_below_the_floor_it_is_worse_than_no_model():
    judgement = judged({})
    along = line((1.0, (-0.9,)), (4.0, (-0.2,)), (9.0, (0.4,)))
    assert conclusions.kept_at_words(judgement, along, 2.0) == (
        "is worse than no model (measured at ε = 1 and 4)"
    )
    assert conclusions.kept_at_words(judgement, along, 5.0) == (
        "keeps at most 40% of what sharing ratings is worth (measured at ε = 4 and 9)"
    )
    assert conclusions.needed_words(along[:2], 0.8) == (
        "no ε up to 4",
        "; the best is worse than no model, at ε = 4",
    )


def test_figures_have_lines_of_the_method_without_noise_the_best_known_and_the_floor():
    judgement = judged(
        {
            ("spectral", 2.0): (0.9,),
            ("spectral without noise", None): (0.79,),
        }
    )
    lines = conclusions.reference_lines(judgement, of_spectral(judgement))
    assert [(one.reference, one.value, one.label) for one in lines] == [
        (Reference.WITHOUT_NOISE, 0.79, "Spectral without noise 0.790"),
        (Reference.BEST_KNOWN, 0.8, "best known, Bayesian MF: 0.800"),
        (Reference.FLOOR, 1.0, "each person's own mean 1.000"),
    ]
    assert len(conclusions.reference_lines(judgement)) == 2


def test_lines_of_shares_have_the_same_names_and_there_are_none_where_sharing_is_worth_nothing():
    figures = {
        ("spectral", 2.0): (0.9,),
        ("spectral without noise", None): (0.75,),
    }
    judgement = judged(figures)
    own = of_spectral(judgement)
    of_metric = conclusions.reference_lines(judgement, own)
    of_shares = conclusions.reference_lines(judgement, own, of_shares=True)
    assert [one.label for one in of_shares] == [one.label for one in of_metric]
    assert [one.value for one in of_shares] == [pytest.approx(1.25), 1.0, 0.0]
    judgement = judged({**figures, ("bmf", None): (0.999,)})
    assert not conclusions.reference_lines(judgement, own, of_shares=True)


def test_a_share_that_rounds_to_nothing_has_no_sign():
    assert conclusions.share_text(-0.004) == "0%"
    assert conclusions.share_text(-0.006) == "-1%"
    assert METRICS["rmse"].digits == 3
