"""The other side of benchmarks.sgd and .roads, run by an interpreter that has scikit-surprise:
fits one fold, prints its RMSE and seconds as JSON.
"""

import json
import sys
import time

from surprise import SVD, Dataset, Reader, SlopeOne, accuracy
from surprise.model_selection import PredefinedKFold


def main() -> None:
    base, test, model_or_factors, seed = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    data = Dataset.load_from_folds([(base, test)], Reader("ml-100k"))
    train, held_out = next(PredefinedKFold().split(data))
    model = (
        SlopeOne()
        if model_or_factors == "slope-one"
        else SVD(n_factors=int(model_or_factors), random_state=seed)
    )
    began = time.perf_counter()
    model.fit(train)
    seconds = time.perf_counter() - began
    print(
        json.dumps({"rmse": accuracy.rmse(model.test(held_out), verbose=False), "seconds": seconds})
    )


main()
