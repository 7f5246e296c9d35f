"""A pytest plugin that chooses the algorithms for the tests of `contract`.

It is loaded if dpmf is installed; otherwise use `-p dpmf_core.testing.plugin`.
"""

import pytest

OPTION = "--dpmf-algorithm"


def pytest_addoption(parser: pytest.Parser) -> None:
    words = "an algorithm for `--pyargs dpmf_core.testing.contract`; repeatable"
    group = parser.getgroup("dpmf")
    group.addoption(
        OPTION,
        action="append",
        default=[],
        metavar="ID",
        help=words,
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each test of a contract its algorithms, with their kinds of data."""
    if metafunc.cls is None or "case" not in metafunc.fixturenames:
        return
    from dpmf_core.testing.contract import Contract, cases_of
    from dpmf_core.testing.homes import case_name

    if not issubclass(metafunc.cls, Contract):
        return
    named_here = metafunc.cls.algorithm
    if named_here is None:
        algorithms = metafunc.config.getoption(OPTION)
    else:
        algorithms = [named_here]
    try:
        cases = [case for algorithm in algorithms for case in cases_of(algorithm)]
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    metafunc.parametrize("case", cases, ids=case_name)
