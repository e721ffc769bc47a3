"""A reader's own table with wrong labels: uploaded, found, mended, retrained, compared, taken away, by keyboard."""

import re

import numpy as np
import onnxruntime
import pytest
from playwright.sync_api import expect

from data import verdicts
from tests.browser.steps import expect_state, settle, start, upload, visit

DONE = 120_000
NAMES = ("bolt", "nut")
CENTRES, SPREAD = ((5.0, 2.6), (3.2, 4.4)), (0.6, 0.55)
N, WRONG = 200, 20
TRAINING, TEST = 20, 10  # suspects that the reader looks at
EXAMPLE = re.compile(r"example (\d+)")


def table(seed):
    """A CSV of screws by width and height, the classes they are of (N,), and the rows with another one in the file."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=N)
    X = np.array(CENTRES)[y] + rng.normal(size=(N, 2)) * SPREAD
    wrong = rng.choice(N, WRONG, replace=False)
    given = y.copy()
    given[wrong] = 1 - y[wrong]
    lines = [f"{width:.3f},{height:.3f},{NAMES[c]}" for (width, height), c in zip(X, given)]
    return "\n".join(["width,height,kind", *lines]), X.round(3), y, set(wrong.tolist())


def enter(tab, target):
    """Press Enter on what has the focus."""
    target.focus()
    tab.keyboard.press("Enter")


def judge(tab, number, wrong):
    """Judge the first suspects of a list by key: a label that is wrong is the one that is said, any other is kept."""
    expect(tab.get_by_test_id("stProgress")).to_contain_text("0 of")
    settle(tab)
    for done in range(1, number + 1):
        row = int(EXAMPLE.search(tab.get_by_text(re.compile("^T(raining|est) example")).inner_text())[1])
        tab.keyboard.press("a" if row in wrong else "k")
        expect(tab.get_by_test_id("stProgress")).to_contain_text(f"{done} of")
        settle(tab)


def taken(tab, button):
    """The file that a download button hands out, by the keyboard."""
    with tab.expect_download() as download:
        enter(tab, button)
    return download.value.path()


@pytest.mark.ci
def test_wrong_labels_are_found_and_mended(server, tab):
    text, X, y, wrong = table(25)
    visit(tab, f"{server.url}/datasets?set=new")
    upload(tab, {"parts.csv": text.encode()})
    tab.locator(".st-key-own_title input").fill("Wrong labels")  # no other test has a set of this name
    enter(tab, tab.get_by_role("button", name=re.compile("Save$")))
    expect(tab.get_by_role("heading", name="Wrong labels")).to_be_visible()
    enter(tab, tab.get_by_role("link", name="Train on this dataset"))
    expect(tab).to_have_url(re.compile("/train.*dataset=own%3Awrong-labels|/train.*dataset=own:wrong-labels"))
    settle(tab)
    start(tab)
    expect_state(tab, "done")
    expect(tab.get_by_text("all examples but a fifth")).to_be_visible()

    enter(tab, tab.get_by_role("link", name="See the errors"))
    enter(tab, tab.get_by_role("link", name="Review likely label errors"))
    expect(tab.get_by_role("heading", name="Labels", level=1)).to_be_visible()
    expect(
        tab.get_by_text("If you correct test labels where this machine disagrees")
    ).to_be_visible()  # its errors are test examples
    judge(tab, TEST, wrong)
    enter(tab, tab.locator(".st-key-doubted").get_by_role("radio", name="Training"))
    enter(tab, tab.locator(".st-key-label_folds button").first)
    expect(tab.get_by_text("Out of folds")).to_be_visible(timeout=DONE)
    judge(tab, TRAINING, wrong)
    expect(tab.get_by_text(re.compile(f"{WRONG} relabelled"))).to_be_visible()

    tab.keyboard.press("t")
    expect(tab.get_by_text("On the revision:")).to_be_visible(timeout=DONE)
    before, after = map(int, re.findall(r"(\d+) of 40 wrong", tab.get_by_text("On the revision:").inner_text()))
    assert after <= before - 4  # a fifth of the examples is held out
    settle(tab)
    enter(tab, tab.locator("summary", has_text="Export or import labels"))
    csv = taken(tab, tab.get_by_test_id("stDownloadButton").get_by_role("button", name="Labels (CSV)")).read_text()
    said = verdicts.headed(csv.encode()).splitlines()
    assert {int(line.split(",")[3]) for line in said if ",label," in line} == wrong
    enter(tab, tab.get_by_role("link", name="Compare the two"))
    expect(tab.get_by_text("test examples have different labels")).to_be_visible()
    settle(tab)  # a page that is still at work would write its address once more
    tab.go_back()
    expect(tab.get_by_role("heading", name="Labels", level=1)).to_be_visible()
    settle(tab)

    enter(tab, tab.get_by_role("link", name="Export the machine"))
    enter(tab, tab.get_by_role("button", name=re.compile("Export$")))
    machine = taken(tab, tab.get_by_role("button", name="Machine (ONNX)"))
    session = onnxruntime.InferenceSession(machine, providers=["CPUExecutionProvider"])
    label, _ = session.run(None, {"X": X.astype(np.float32)})
    assert np.mean(label == np.array(NAMES)[y]) > 0.97
