"""Addresses: one text for a file with its facts, however these were declared."""

import numpy as np
import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.data.addresses import address_of, file_of, join, split
from dpmf_core.data.facts import FACTS, value

SAME = {
    "numbers": ("r.csv", {"bounds": (1, 5.0)}, "r.csv?bounds=1,5"),
    "an array": ("r.csv", {"bounds": np.array([0.5, 5])}, "r.csv?bounds=0.5,5"),
    "text": ("r.csv", {"bounds": ".5, 5"}, "r.csv?bounds=0.5,5"),
    "after the path": ("r.csv?bounds=1.0,5", {}, "r.csv?bounds=1,5"),
    "both": (
        "r.csv?bounds=1,5",
        {"bounds": (1, 5), "missing": 0},
        "r.csv?bounds=1,5&missing=0",
    ),
    "another order": ("r.csv?user=a&bounds=1,5", {}, "r.csv?bounds=1,5&user=a"),
    "no column": ("r.csv", {"rating": ""}, "r.csv?rating="),
    "truth": ("r.csv", {"multiline": True}, "r.csv?multiline=true"),
    "signs": ("r.csv", {"user": "Who? & when"}, "r.csv?user=Who%3F+%26+when"),
    "large": ("r.csv", {"bounds": (0, 1234567.5)}, "r.csv?bounds=0,1234567.5"),
    "an id": ("cinema", {}, "cinema"),
    "a shape": (
        "cinema?users=2000&items=200&density=0.05&bounds=1,5",
        {},
        "cinema?users=2000&items=200&density=0.05&bounds=1,5",
    ),
    "a database": (
        "sqlite:///r.db?mode=ro&table=t",
        {"bounds": (1, 5)},
        "sqlite:///r.db?bounds=1,5&table=t&mode=ro",
    ),
}


@pytest.mark.parametrize(("data", "facts", "address"), SAME.values(), ids=SAME)
def test_facts_have_one_address(data, facts, address):
    assert address_of(data, facts) == address
    assert address_of(address, facts) == address
    place, declared = split(address)
    assert join(place, declared) == address


REFUSED = {
    "twice": ("r.csv?bounds=1,5", {"bounds": (1, 4)}, "declared twice: 1,5 and 1,4"),
    "twice after the path": ("r.csv?bounds=1,5&bounds=1,4", {}, "declared twice"),
    "another name": ("r.csv", {"bound": (1, 5)}, "Did you mean 'bounds'"),
    "another name with a fact": ("r.csv?densty=2", {"bounds": (1, 5)}, "densty"),
    "an id": ("cinema", {"bounds": (1, 5)}, "data set with an id"),
    "a wrong value": ("r.csv", {"users": 0}, "at least 1"),
}


@pytest.mark.parametrize(("data", "facts", "words"), REFUSED.values(), ids=REFUSED)
def test_other_facts_are_refused(data, facts, words):
    with pytest.raises(BadInput, match=words):
        address_of(data, facts)


def test_a_files_own_name_may_have_a_question_mark(tmp_path):
    file = tmp_path / "what?.csv"
    file.touch()
    assert split(str(file)) == (str(file), {})
    assert split(address_of(str(file), {"bounds": (1, 5)})) == (
        str(file),
        {"bounds": "1,5"},
    )


def test_an_address_longer_than_a_name_may_be_is_split():
    leave = ",".join(f"a column with a long name {number}" for number in range(40))
    place, declared = split(address_of("wide.csv", {"leave": leave}))
    assert place == "wide.csv"
    assert declared == {"leave": leave}


def test_a_shown_address_has_no_folder():
    address = join(
        "/home/me/r.csv", {"item_table": "/home/me/f.csv", "stop_words": "/x/y.txt"}
    )
    assert file_of(address) == "r.csv?item_table=f.csv&stop_words=y.txt"


@pytest.mark.parametrize("name", FACTS)
def test_every_fact_says_what_it_declares_and_its_rule(name):
    fact = FACTS[name]
    assert len(fact.help) > 15
    assert fact.help.endswith(".")
    if fact.words and name != "leave":  # any text names columns
        with pytest.raises(BadInput) as refusal:
            value({name: "#"}, name)
        assert fact.words in str(refusal.value)
