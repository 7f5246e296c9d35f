"""The documentation as a site, and the tutorial."""

import re
import subprocess
import sys
from typing import get_args

import pytest

import dpmf
from dpmf import privacy
from dpmf_core.runs.specification import PARAMETERS
from tests.docs.markdown import ROOT, blocks
from tests.docs.test_commands import MU, _run
from tests.support.gaussian import epsilon_of

LOADED = re.compile(
    r"<(?:script|img|iframe)[^>]* src=\"?(https?:[^\" >]+)|<link[^>]* href=\"?(https?:)"
)


@pytest.mark.slow
def test_the_site_is_built_and_loads_nothing_from_elsewhere():
    """mkdocs itself refuses a link that leads nowhere."""
    command = [sys.executable, "docs/build_site.py"]
    process = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr[-3000:]
    pages = list((ROOT / "build" / "site").rglob("*.html"))
    assert len(pages) > 12
    names = [page.name for page in pages if LOADED.search(page.read_text("utf-8"))]
    assert names == []
    reference = (ROOT / "build" / "site" / "reference" / "python.html").read_text(
        "utf-8"
    )
    headings = set(re.findall(r'<h[3-5] id="([^"]+)"', reference))
    for name in set(dpmf.__all__) - {"privacy"}:
        thing = next(iter(get_args(getattr(dpmf, name))), getattr(dpmf, name))
        assert f"{thing.__module__}.{thing.__qualname__}" in headings, name
    accounting = (ROOT / "build" / "site" / "reference" / "privacy.html").read_text(
        "utf-8"
    )
    shown = re.findall(r"^ +dpmf\.privacy\.(\w+)$", accounting, re.M)
    assert set(shown) == set(privacy.__all__)
    of_fit = reference.split('id="dpmf_core.api.training.fit"')[1].split("<h3")[0]
    usual = (
        "epsilon",
        "delta",
        "bounds",
        "split",
        "seed",
        "relation",
        "noise",
        "parameters",
    )
    for name in usual:  # a row with a type and words
        row = rf"<td>\s*<code>{name}</code>\s*</td>\s*<td>\s*<code>.+?</code>\s*</td>\s*<td>"
        assert re.search(row, of_fit, re.S), name
    assert all(
        f"<code>{name}</code>" in reference for name in PARAMETERS.keys() - {"dataset"}
    )
    inherited = ("fit", "predict", "recommend", "score", "forget_people", "charge_of")
    place = dpmf.PrivateRecommender.__module__ + ".PrivateRecommender"
    assert {f"{place}.{name}" for name in inherited} <= headings


@pytest.mark.slow
def test_the_tutorial_runs_as_it_is_and_again(tmp_path):
    code = "\n".join(blocks(ROOT / "docs" / "TUTORIAL.md", "python"))
    for times in (1, 2):
        output = _run(tmp_path, tmp_path / "data", "-c", code)
        assert "PROVEN" in output
        assert "NONE" in output
        spent = epsilon_of([MU[2]] * times, 1e-5)
        assert f"drawn so far: {spent:.2f} per user" in output
        assert "epsilon 2.00 at delta 5e-05" in output
        assert (tmp_path / "first-model" / "MODEL_CARD.md").exists()
