"""Train, then measure what it brought, as one piece of work that is priced before it begins."""

from collections.abc import Callable
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from dpmf_core.base.errors import checked
from dpmf_core.base.progress import Tell, ignore
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs import execution, measured_fall
from dpmf_core.runs.data_access import open_anywhere
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import DataSpec, RunSpec


class MeasuredTraining(BaseModel):
    """A run, and the measurement of its fall of the error.

    Parameters
    ----------
    spec
        The run.
    epsilon
        Of the measurement, on private data.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    spec: RunSpec
    epsilon: float

    @classmethod
    def parse(cls, **parts: Any) -> Self:
        """A checked specification. Raises BadInput with the first problem."""
        return checked(cls, "the measured training", parts)

    @property
    def data(self) -> DataSpec:
        return self.spec.data

    @property
    def charges(self) -> list[Charge]:
        """The charges of the run and of the measurement, before anything is drawn."""
        return measured_fall.charges(self.spec, open_anywhere(self.data), self.epsilon)

    def check(self) -> None:
        """Raise BadInput if the run cannot be measured."""
        measured_fall.require_measurable(
            self.spec, open_anywhere(self.data), self.epsilon
        )

    def measure(
        self, report: Tell = ignore, stopped: Callable[[], bool] = lambda: False
    ) -> Run:
        """The run with its measurement in `record.fall`.

        Raises BadInput if it cannot be measured or a budget does not allow both; then nothing was
        drawn. Raises Cancelled when `stopped` returns true.
        """
        measured_fall.require_affordable(self.spec, self.epsilon)
        trained = execution.run(self.spec, report=report, stopped=stopped)
        return measured_fall.with_measurement(trained, self.epsilon)
