"""Memory that nothing uses any more goes back to the system."""

import gc

import pyarrow as pa

from dpmf_core.runs import memory

# Arrow's own pool keeps what threads that have ended allocated; this one's can be given back
pa.set_memory_pool(pa.system_memory_pool())


def give_back() -> None:
    """As far as the libraries can; takes a while."""
    gc.unfreeze()  # else a session that was open when everything was frozen would stay for ever
    gc.collect()
    gc.freeze()
    memory.give_back()
