"""An hour with one table: its account against a composition that is written here.

Stored runs, named ledgers, killed and cancelled runs, a removed account, a file, a frame and
another file come in random order. The test keeps a list of noise multipliers for each account, and
composes them by Theorem 8 of Balle & Wang 2018 to 30 digits.
"""

import random
import shutil

import mpmath
import numpy as np
import pandas as pd
import pytest

import dpmf
from dpmf_core.base.errors import Cancelled
from dpmf_core.privacy import Noise, accounts
from dpmf_core.runs import execution
from dpmf_core.runs.specification import RunSpec
from tests.support.gaussian import exact_delta

DELTA = 1e-5
EPSILONS = (0.3, 0.5, 1.0)
BIAS = "private-bias"
EVENTS = 20


def solved(function, low, high):
    """The root of a decreasing function, by bisection."""
    for _ in range(120):
        middle = (low + high) / 2
        if function(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(30):
        yield


def square_of(epsilon):
    """mu^2 of a run that costs epsilon at DELTA."""
    low = mpmath.mpf("1e-4")
    high = mpmath.mpf(20)
    mu = solved(lambda mu: DELTA - exact_delta(mu, epsilon), low, high)
    return mu**2


def epsilon_of(squares):
    mu = mpmath.sqrt(sum(squares))
    if not mu:
        return 0.0

    def excess(epsilon):
        return exact_delta(mu, epsilon) - DELTA

    return float(solved(excess, mpmath.mpf(0), mpmath.mpf(90)))


class Hour:
    """What happens to one table, and what each account should hold of it."""

    def __init__(self, folder, seed):
        self.folder = folder
        self.random = random.Random(seed)
        rng = np.random.default_rng(7)
        rows = []
        for u in range(30):
            for i in range(u % 8):
                stars = int(rng.integers(1, 6))
                rows.append((u, f"f{i}", stars))
        self.frame = pd.DataFrame(rows, columns=["user", "item", "rating"])
        self.frame.to_csv(folder / "a.csv", index=False)
        reverse = self.frame.iloc[::-1]
        reverse.to_csv(folder / "b.tsv", sep="\t", index=False)
        self.paths = [f"{folder / name}?bounds=1,5" for name in ("a.csv", "b.tsv")]
        self.ledgers = [None, folder / "one.ledger", folder / "two.ledger"]
        # squares of mu by the name of a draw, so that each draw counts once in an account
        self.held = {ledger: {} for ledger in self.ledgers}
        self.stored = {}  # the name of the draw and its square, by file and epsilon
        self.n_draws = 0

    def new_draw(self):
        self.n_draws += 1
        return self.n_draws

    def fit_file(self):
        """A stored run is drawn once, and enters every account under which it is shown."""
        path = self.random.choice(self.paths)
        epsilon = self.random.choice(EPSILONS)
        ledger = self.random.choice(self.ledgers)
        dpmf.fit(path, BIAS, epsilon=epsilon, delta=DELTA, ledger=ledger)
        if (path, epsilon) not in self.stored:
            self.stored[path, epsilon] = self.new_draw()
        draw = self.stored[path, epsilon]
        self.held[ledger][draw] = square_of(epsilon)

    def sweep_file(self):
        path = self.random.choice(self.paths)
        ledger = self.random.choice(self.ledgers)
        dpmf.sweep(path, [BIAS], epsilons=EPSILONS, delta=DELTA, ledger=ledger)
        for epsilon in EPSILONS:
            if (path, epsilon) not in self.stored:
                self.stored[path, epsilon] = self.new_draw()
            draw = self.stored[path, epsilon]
            self.held[ledger][draw] = square_of(epsilon)

    def fit_without_storing(self):
        path = self.random.choice(self.paths)
        epsilon = self.random.choice(EPSILONS)
        ledger = self.random.choice(self.ledgers)
        dpmf.fit(path, BIAS, epsilon=epsilon, delta=DELTA, ledger=ledger, keep=False)
        self.held[ledger][self.new_draw()] = square_of(epsilon)

    def fit_frame(self):
        epsilon = self.random.choice(EPSILONS)
        ledger = self.random.choice(self.ledgers)
        mixed = self.frame.sample(frac=1, random_state=self.n_draws)
        dpmf.fit(
            mixed, BIAS, epsilon=epsilon, delta=DELTA, bounds=(1, 5), ledger=ledger
        )
        self.held[ledger][self.new_draw()] = square_of(epsilon)

    def cancel(self):
        """Before anything is drawn, so it costs nothing."""
        spec = self.spec(self.random.choice(EPSILONS))
        with pytest.raises(Cancelled):
            execution.run(spec, stopped=lambda: True)
        self.held[None][self.new_draw()] = sum(self.drawn_squares)

    def kill(self):
        """The account is put back to what it was at the first draw, as after a kill."""
        epsilon = self.random.choice(EPSILONS)
        account = dpmf.account(self.paths[0])
        copy = self.folder / "at the kill"
        self.at_draw = lambda: shutil.copy(account.file, copy)
        execution.run(self.spec(epsilon))
        self.at_draw = None
        shutil.copy(copy, account.file)
        self.held[None][self.new_draw()] = square_of(epsilon)

    def forget(self):
        """The account in the data folder is removed, with all that is joined to it."""
        dpmf.account(self.paths[0]).forget()
        dpmf.account(self.paths[1]).forget()
        dpmf.account(self.frame, bounds=(1, 5)).forget()
        self.held[None].clear()

    def spec(self, epsilon):
        return RunSpec.of(
            dataset=self.paths[0], algorithm=BIAS, epsilon=epsilon, delta=DELTA
        )

    at_draw = None

    def open_release(self, noise, leaf, size):
        if self.at_draw is not None:
            take, self.at_draw = self.at_draw, None
            take()
        self.drawn_squares.append(mpmath.mpf(leaf.noise_multiplier) ** -2)

    def shown(self, ledger):
        """The total of each way to the account."""
        yield dpmf.account(self.paths[0], ledger).total
        yield dpmf.account(self.paths[1], ledger).total
        yield dpmf.account(self.frame, ledger, bounds=(1, 5)).total


@pytest.mark.parametrize("seed", range(3))
def test_the_account_of_an_hour_of_many_actions_is_exact(seed, tmp_path, monkeypatch):
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "home"))
    monkeypatch.delenv("DPMF_CATALOGUE", raising=False)
    monkeypatch.delenv(accounts.LEDGER)
    monkeypatch.setenv(accounts.PROCESS_KEY, f"hour {seed}")
    hour = Hour(tmp_path, seed)
    really_open = Noise._open

    def open_release(noise, leaf, size):
        hour.open_release(noise, leaf, size)
        return really_open(noise, leaf, size)

    monkeypatch.setattr(Noise, "_open", open_release)
    kinds = (
        "fit_file",
        "sweep_file",
        "fit_without_storing",
        "fit_frame",
        "cancel",
        "kill",
    )
    for _ in range(EVENTS):
        hour.drawn_squares = []
        kind = hour.random.choice((*kinds, "forget"))
        getattr(hour, kind)()
        for ledger in hour.ledgers:
            expected = epsilon_of(hour.held[ledger].values())
            for whole in hour.shown(ledger):
                assert whole.epsilon == pytest.approx(expected, rel=1e-7), (
                    kind,
                    ledger,
                )
    assert hour.n_draws > 5
    assert max(map(len, hour.held.values())) > 3
