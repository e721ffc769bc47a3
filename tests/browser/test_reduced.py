"""Reduced sets in a browser: a machine is reduced and watched, its answers and vectors clicked, a digit drawn for it,
and what is taken away answers alike."""

import csv
import re

import numpy as np
import onnxruntime
import pytest
from playwright.sync_api import expect

from data import load as load_data
from svmcore import load
from tests.browser.steps import preset, run_id, settle, tiles, visit

DONE = 90_000


def taken(page, label):
    """The file behind an entry of Export."""
    with page.expect_download() as download:
        page.get_by_test_id("stPopoverBody").get_by_role("button", name=label).click()
    return download.value.path()


@pytest.mark.ci
def test_a_machine_is_reduced_looked_at_drawn_for_and_taken_away(server, tab):
    of = preset(server)
    visit(tab, f"{server.url}/reduced?run={of}&n_vectors=99999&sizes=1")
    expect(tab.get_by_text(re.compile("n_vectors = 99999; allowed: 1 to"))).to_be_visible()
    tab.get_by_label("Vectors", exact=True).fill("40")
    tab.keyboard.press("Enter")
    tab.wait_for_url(re.compile("n_vectors=40"))
    settle(tab)
    tab.get_by_role("button", name=re.compile("Start|Queue")).focus()
    tab.keyboard.press("Enter")
    changed = tab.get_by_text(re.compile("of 1,000 predictions changed"))
    expect(changed).to_be_visible(timeout=DONE)
    settle(tab)
    run = run_id(tab)
    assert run != of

    dialog = tab.get_by_role("dialog")
    for key, at in (
        ("reduce_changed", 0),
        ("reduce_z", 1),
    ):  # a constructed vector opens nothing, a support vector beside it does
        tiles(tab, key).nth(at).click()
        expect(dialog.get_by_text("Each row is a vector of the reduced set")).to_be_visible()
        settle(tab)
        tab.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        settle(tab)
    assert tiles(tab, "reduce_z").first.is_disabled()  # which is no example

    visit(tab, f"{server.url}/draw?run={run}&runs={run}&runs={of}")
    box = tab.locator("canvas").first.bounding_box()
    at = [(box["x"] + box["width"] * x, box["y"] + box["height"] * y) for x, y in ((0.5, 0.2), (0.5, 0.5), (0.5, 0.8))]
    tab.mouse.move(*at[0])
    tab.mouse.down()
    for point in at[1:]:
        tab.mouse.move(*point, steps=5)
    tab.mouse.up()
    expect(tab.get_by_text("Predictions: 1 · 1")).to_be_visible()

    visit(tab, f"{server.url}/runs?run={run}")
    tab.get_by_role("button", name=re.compile("Export")).first.click()
    told = list(csv.DictReader(taken(tab, "All predictions").read_text().splitlines()))
    rows, answers = (np.array([row[name] for row in told], int) for name in ("index", "predicted"))
    images = load_data("mnist-5k").X_train[rows]
    machine = load(taken(tab, "Machine (npz)").rename(server.home / "taken.npz"))
    assert np.array_equal(machine.predict(images), answers)
    other = onnxruntime.InferenceSession(taken(tab, "Machine (ONNX)"), providers=["CPUExecutionProvider"])
    asked = {"X": images.reshape(len(images), -1).astype(np.float32)}
    assert np.array_equal(other.run(["label"], asked)[0], answers)
    assert "reduced to 40" in taken(tab, "Report").read_text()
    assert "'n_vectors': 40" in taken(tab, "Script").read_text()
