"""Two classes have an area under the ROC curve beside their errors; runs of before it are read as they are."""

import json

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from svmcore.kernels import Poly
from svmcore.lab import Recipe, execute, train
from svmcore.lab.store import reading
from svmcore.lab.store.reading import Damaged
from svmcore.lab.tasks import classify

DIGITS = Recipe(dataset="digits-8x8", classes=(3, 8), n_train=90, n_test=50, kernel=Poly(3, 1.0, 1.0), C=0.01)


def test_the_area_is_that_of_the_machine_on_the_test_examples():
    outcome = execute(DIGITS)
    expected = roc_auc_score(outcome.test.y_true == 8, outcome.test.decision[:, 0])
    assert outcome.result["roc_area"] == expected
    one = execute(DIGITS.replace(classes=(8,), n_test=60))
    assert one.result["roc_area"] == roc_auc_score(one.test.y_true == 1, one.test.decision[:, 0])


def test_folds_have_the_mean_of_their_areas(monkeypatch):
    judged, real = [], classify._answered
    monkeypatch.setattr(classify, "_answered", lambda *a: judged.append(real(*a)) or judged[-1])
    found = train.validate(DIGITS.replace(folds=3)).figures["validation"]
    assert len(judged) == 3
    areas = [roc_auc_score(test.y_true == 8, test.decision[:, 0]) for test in judged]
    assert found["roc_area"] == pytest.approx(np.mean(areas))


def test_several_classes_have_none():
    assert "roc_area" not in execute(DIGITS.replace(classes=(1, 3, 8))).result


def test_a_result_is_read_with_and_without_it_and_not_with_another_thing(tmp_path):
    result = json.loads(json.dumps(execute(DIGITS).result))
    validation = {
        "folds": [1, 2],
        "seconds": 1.0,
        "n_test": 90,
        "errors": 3,
        "error_rate": 0.03,
        "interval": [0.0, 0.1],
    }

    def read(**changes):
        path = tmp_path / "result.json"
        changed = {name: value for name, value in (result | changes).items() if value is not None}
        path.write_text(json.dumps(changed), encoding="utf-8")
        return reading.read_json(path, reading.result)

    assert read()["roc_area"] == result["roc_area"]
    assert "roc_area" not in read(roc_area=None)
    assert read(validation=validation | {"roc_area": 0.9})["validation"]["roc_area"] == 0.9
    assert "roc_area" not in read(validation=validation)["validation"]
    for wrong in ({"roc_area": 1.5}, {"roc_area": "high"}, {"validation": validation | {"roc_area": -1}}):
        with pytest.raises(Damaged, match="roc_area"):
            read(**wrong)
