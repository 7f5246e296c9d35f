"""What is computed and shown is what the golden files say.

`python -m pytest tests/golden --renew` writes them anew and prints what changed.
"""

import platform
from contextlib import nullcontext

import pytest

from dpmf_core.algorithms import REGISTRY
from dpmf_core.runs.specification import RunSpec
from tests.golden import files
from tests.golden.pages import OTHER_VIEWS, SMALL, VIEWS, view
from tests.golden.records import BUDGETS, records
from tests.pages.conftest import fresh_store
from tests.pages.driving import engine_run

# pages that show what of the stored runs suits them; how many another page had computed on the side
# depends on the machine
WITH_OWN_STORE = [(page, OTHER_VIEWS[page]) for page in ("compare", "topics")]
# figures of pages come from runs that amplify how a processor rounds; see tests/conftest.py
ON_ONE_PROCESSOR = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"),
    reason="linear algebra rounds otherwise",
)


def golden_name(page, link):
    if link:
        return f"{page}-other"
    return page


def check(name, value, config, capsys):
    """Compares a value with its golden file, or writes it anew where that is wanted."""
    old = files.read(name)
    lines = list(files.differences(old, value))
    if config.getoption("renew"):
        with capsys.disabled():
            print("".join(f"\n{name}: {line}" for line in lines))
        if lines:
            files.write(name, value)
    else:
        assert not lines, f"{name}: renew it with a reason\n" + "\n".join(lines)


@pytest.mark.parametrize("kind", REGISTRY.values(), ids=lambda kind: kind.id)
def test_records(kind, pytestconfig, capsys):
    check(f"records/{kind.id}.json", records(kind), pytestconfig, capsys)


@ON_ONE_PROCESSOR
@pytest.mark.parametrize(
    ("page", "link"),
    VIEWS,
    ids=[golden_name(page, link) for page, link in VIEWS],
)
def test_pages(page, link, tmp_path, pytestconfig, capsys):
    name = f"pages/{golden_name(page, link)}.json"
    if (page, link) in WITH_OWN_STORE:
        own_store = fresh_store(tmp_path)
    else:
        own_store = nullcontext()
    with own_store:
        check(name, {"link": link} | view(page, link), pytestconfig, capsys)


@ON_ONE_PROCESSOR
def test_the_page_of_runs(tmp_path, pytestconfig, capsys):
    """On a store of two runs."""
    with fresh_store(tmp_path):
        for budget in BUDGETS.values():
            engine_run(RunSpec.of(**SMALL, algorithm="private-bias", **budget))
        check("pages/runs.json", view("runs", {}), pytestconfig, capsys)


def test_no_golden_file_is_left_over():
    expected = {"pages/runs.json"}
    for name in REGISTRY:
        expected.add(f"records/{name}.json")
    for page, link in VIEWS:
        expected.add(f"pages/{golden_name(page, link)}.json")
    stored = files.FOLDER.rglob("*.json")
    assert {str(path.relative_to(files.FOLDER)) for path in stored} == expected


def test_a_difference_is_found_and_rounding_is_none():
    old = {"metrics": {"rmse": 0.9, "n": 3}, "epsilon": {"exact": 1.0}, "words": ["a"]}
    same = {
        "metrics": {"rmse": 0.9001, "n": 3},
        "epsilon": {"exact": 1.0},
        "words": ["a"],
    }
    assert not list(files.differences(old, same))
    changes = [
        {"metrics": {"rmse": 0.91, "n": 3}},
        {"metrics": {"rmse": 0.9, "n": 4}},
        {"metrics": {"rmse": 0.9}},
        {"epsilon": {"exact": 1.0 + 1e-6}},
        {"words": ["b"]},
        {"words": ["a", "b"]},
        {"words": None},
    ]
    for change in changes:
        assert len(list(files.differences(old, old | change))) == 1
