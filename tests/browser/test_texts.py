"""A dataset and a run whose texts are hostile, in a real browser: nothing is fetched, nothing becomes an element."""

import numpy as np
import pytest

from data import catalogue
from data.dataset import Arrays
from svmcore.kernels import RBF
from svmcore.lab.recipe import Recipe
from tests import damage
from tests.browser.conftest import ROOT, running_app

IMAGE, TAG = "![p](http://evil.example/1.png)", "<img src=http://evil.example/2.png><a href=http://evil.example>x</a>"
PAGES = ("datasets", "errors", "jitters", "runs", "support_vectors", "train", "methods")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory, chromium):
    """The app over a home with such a set and such a run; (server, set, run id)."""
    home = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SVMLAB_HOME", str(home))
        rng = np.random.default_rng(0)
        y = np.array([IMAGE, TAG, "plain"])[np.arange(90) % 3]
        X = rng.integers(0, 256, (90, 8, 8)).astype(np.uint8)
        entry = catalogue.keep(f"{IMAGE} {TAG}", Arrays(X, y, X[:30], y[:30]))
        recipe = Recipe(dataset=entry.name, preprocess=("unit-norm",), kernel=RBF(1.0), C=1.0, n_train=60)
        run = damage.finished(recipe, f"{IMAGE} {TAG}"[:120])
    with running_app(ROOT, home) as server:
        yield server, entry.name, run.id


@pytest.mark.ci
def test_nothing_is_fetched(hostile, tab):
    server, name, run_id = hostile
    asked = []
    tab.on("request", lambda request: asked.append(request.url))
    for page in PAGES:
        tab.goto(f"{server.url}/{page}?run={run_id}&set={name}&dataset={name}&view=About&digit={name}/train/1")
        tab.get_by_test_id("stSkeleton").first.wait_for(state="detached")
        tab.get_by_text("evil.example").first.wait_for(state="attached")
        tab.locator("[data-test-script-state=notRunning]").wait_for(state="attached")
        assert tab.locator("img[src*=evil]").count() == 0, page
    assert asked
    assert not [url for url in asked if url.split("?")[0].find("evil") >= 0]
