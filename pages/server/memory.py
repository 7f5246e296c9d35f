"""Memory that nothing uses any more goes back to the system."""

import ctypes
import gc

import pyarrow as pa

# Arrow's own pool keeps what threads that have ended allocated; this one's can be given back
pa.set_memory_pool(pa.system_memory_pool())


def give_back() -> None:
    """As far as the libraries can; takes a while."""
    gc.unfreeze()  # else a session that was open when everything was frozen would stay for ever
    gc.collect()
    gc.freeze()
    _trim()


def _trim() -> None:
    """The C library keeps freed memory for itself unless it is asked."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of the GNU C library
    if trim is not None:
        trim(0)
