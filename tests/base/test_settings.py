"""Settings: from a profile, a file, the environment; wrong ones are sentences."""

import re

import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.base.settings import CLASS, PROFILES, Settings, read

pytestmark = pytest.mark.usefixtures("data_folder")


@pytest.mark.parametrize("name", list(PROFILES))
def test_a_profile_gives_its_values(name, monkeypatch):
    monkeypatch.setenv("DPMF_PROFILE", name)
    assert {key: getattr(read(), key) for key in PROFILES[name]} == PROFILES[name]


def test_the_environment_goes_before_the_file_and_the_file_before_the_profile(
    data_folder, monkeypatch
):
    (data_folder / "settings.toml").write_text(
        'profile = "class"\nlargest_audit = 7\nlargest_sweep = 8\noperators = ["a@b.c"]\n'
    )
    monkeypatch.setenv("DPMF_LARGEST_SWEEP", "9")
    monkeypatch.setenv("DPMF_DATA_SETS", "cinema, news")
    now = read()
    assert now.largest_audit == 7
    assert now.largest_sweep == 9
    assert now.largest_search == CLASS["largest_search"]
    assert now.operators == ("a@b.c",)
    assert now.data_sets == ("cinema", "news")


@pytest.mark.parametrize(
    "text",
    [
        "largest_audi = 3", "largest_audit = 0", 'largest_audit = "many"', 'profile = "clas"',
        "profile = [1]", "largest_audit", "\x00",
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_by_its_name(data_folder, text):
    (data_folder / "settings.toml").write_text(text)
    with pytest.raises(BadInput, match=re.escape(str(data_folder / "settings.toml"))):
        read()


def test_a_wrong_variable_and_a_named_file_that_is_not_there_are_refused(
    data_folder, monkeypatch
):
    monkeypatch.setenv("DPMF_MOST_RUNS", "-1")
    with pytest.raises(BadInput, match="DPMF_MOST_RUNS"):
        read()
    monkeypatch.setenv("DPMF_SETTINGS", str(data_folder / "none.toml"))
    with pytest.raises(BadInput, match="DPMF_SETTINGS"):
        read()


@pytest.mark.parametrize("name", ["hosts", "embed_in"])
def test_a_refused_address_is_told_what_the_setting_takes(name, monkeypatch):
    monkeypatch.setenv(f"DPMF_{name.upper()}", "*")
    with pytest.raises(BadInput) as refused:
        read()
    sentence = str(refused.value)
    assert Settings.model_fields[name].description.replace("\n", " ") in sentence
    assert "'*'" in sentence
    assert "pattern" not in sentence


def test_a_file_that_anybody_may_write_is_refused(data_folder):
    (data_folder / "settings.toml").write_text('operators = ["attacker@example.org"]\n')
    (data_folder / "settings.toml").chmod(0o666)
    with pytest.raises(BadInput):
        read()
