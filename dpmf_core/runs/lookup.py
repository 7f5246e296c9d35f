"""What the store already holds of a run, so that nothing is computed twice."""

from dpmf_core.runs import data_access
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec, run_key
from dpmf_core.runs.store import DamagedRun, Store


def find_stored_run(spec: RunSpec, store: Store) -> Run | None:
    """The run, or None where it is not there or is damaged. Raises BadInput of its data."""
    try:
        return store.get(run_key(spec, data_access.identified_data(spec.data)))
    except DamagedRun:
        return None
