"""Errata of Vallet, Friedman & Berkovsky 2014: what its claim is not."""

from dpmf_core.audit.membership_inference import Audit, AuditSpec
from dpmf_core.papers.erratum import (
    Attack,
    Comparison,
    Erratum,
    Reading,
    Status,
    attack_could_show,
    attack_shows,
)

V14 = "Vallet et al. 2014"


def _attack_reading(audit: Audit) -> Comparison:
    return Comparison(
        Reading("ratings that the server keeps", 0.0, "{:.0f} ratings"),
        attack_shows(audit),
        (attack_could_show(audit),),
    )


ERRATA = (
    Erratum(
        id="vallet-retention",
        title="Not kept is not hidden",
        source=V14,
        place="Introduction; section 3",
        status=Status.ERROR,
        statement="Users' ratings and factors are not kept, which protects their privacy.",
        holds="It protects what a thief or a court finds on the server later, and that is what the"
        " source sets out to do. It claims no differential privacy, and there is none: item"
        " factors move by exact ratings and give them away.",
        section="Retention and privacy",
        means=Attack(
            AuditSpec(algorithm="no-retention", runs=400, parameters={"variant": "new"}),
            _attack_reading,
        ),
        stored_figures=("0 ratings", "ε ≥ 3.26"),
        settings="Variant new, δ = 1e-5; 400 trainings on a small simulated world, half of them"
        " with one user more; 95% confidence.",
    ),
)
