"""The base of models that do not change."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A model that does not change and refuses fields that it does not have."""

    model_config = ConfigDict(frozen=True, extra="forbid")
