"""dpmf: what differential privacy costs a matrix factorisation.

>>> import dpmf
>>> run = dpmf.fit("cinema-small", "spectral", epsilon=1.0, keep=False)
>>> f"{run.record.epsilon.exact:.2f}"
'1.00'
"""

from typing import TYPE_CHECKING, Any

import dpmf_core

if TYPE_CHECKING:
    from dpmf_core import *  # noqa: F403

__all__ = dpmf_core.__all__
__version__ = dpmf_core.__version__


def __getattr__(name: str) -> Any:
    return getattr(dpmf_core, name)


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})


if __name__ == "__main__":  # from a clone, in any folder: python path/to/dpmf.py fit ...
    import sys

    from dpmf_core.__main__ import start

    sys.exit(start())
