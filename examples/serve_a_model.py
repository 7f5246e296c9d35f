"""A released model behind HTTP: `pip install fastapi uvicorn`, then `MODEL=model uvicorn
serve_a_model:app`, where `model` is a folder that `model.save("model")` or `fit --save model` wrote.

The server holds what was released. People send their own ratings with the question; these are used
for the answer and kept nowhere.
"""

import os
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Query
from pydantic import BaseModel, ConfigDict, Field

from dpmf import load_model
from dpmf_core.base.errors import BadInput


class Question(BaseModel):
    """ratings: by item id, within the model's bounds. k: how many items are asked for."""

    model_config = ConfigDict(extra="forbid")

    ratings: dict[str, float] = Field(default={}, max_length=10_000)
    k: int = Field(default=10, ge=1, le=1000)


def make_app(folder: str) -> FastAPI:
    """An app that serves the model in a folder. Raises BadInput where there is none."""
    model = load_model(folder)
    app = FastAPI(title="A released recommender")

    @app.get("/model")
    def describe() -> dict[str, Any]:
        """What the model promises the people who trained it, and which ratings it takes."""
        return {
            "items": len(model.item_ids),
            "bounds": model.recommender.bounds,
            "privacy": model.guarantee.words,
            "epsilon": model.epsilon,
            "delta": model.record.delta,
        }

    @app.post("/recommend")
    def answer(question: Question) -> list[dict[str, Any]]:
        """The best items that the person has not rated, best first."""
        try:
            best = model.recommend(k=question.k, own=question.ratings)
        except BadInput as error:
            raise HTTPException(422, str(error)) from None
        return best[["item", "rating"]].to_dict("records")

    @app.get("/similar")
    def similar(
        item: str, k: Annotated[int, Query(ge=1, le=1000)] = 10
    ) -> list[dict[str, Any]]:
        """The items whose factors point most nearly the same way."""
        try:
            neighbours = model.similar_items(item, k)
        except BadInput as error:
            raise HTTPException(422, str(error)) from None
        return neighbours.to_dict("records")

    return app


if "MODEL" in os.environ:
    app = make_app(os.environ["MODEL"])
