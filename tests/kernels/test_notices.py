"""Who asks is told when a kernel is compiled, and not when it is called again."""

import numba

from dpmf_core.kernels import compilation, notices


def test_compiling_is_told_once() -> None:
    assert compilation.compile_kernel is not None  # which hears of what is compiled
    told: list[str] = []

    @numba.njit
    def double(x: float) -> float:
        return 2 * x

    with notices.on_compiling(lambda: told.append("compiling")):
        assert double(3.0) == 6.0
        assert told
        count = len(told)
        assert double(4.0) == 8.0
    double(1)  # compiled anew for another type, where nobody listens
    assert len(told) == count
