"""What people come with, and nothing but the address: within the time that they would give it, on a projector and on a
phone."""

import io
import json
import os
import re
import time
from contextlib import contextmanager

import numpy as np
import pytest
from openpyxl import Workbook
from playwright.sync_api import expect

from tests.browser.steps import OUTCOME, SCREENS, expect_state, go_to, preset, press, settle, tiles, upload
from tests.browser.uploads import png, spotted, zipped


def on(*screens):
    """For a task on these screens."""
    return pytest.mark.parametrize("tab", [pytest.param(SCREENS[name], id=name) for name in screens], indirect=True)


RADIUS = 6  # pixels of a spot


@contextmanager
def within(seconds):
    """As long as a reader would wait at a machine of their own; longer in proportion where others are at work too."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds * max(1, os.getloadavg()[0] / os.cpu_count())


@pytest.fixture
def reader(server, tab):
    """Somebody who has opened the app's address, as it is where nobody has trained anything since."""
    tab.goto(f"{server.url}/?run={preset(server)}")
    settle(tab)
    return tab


def excel_export(n=240):
    """A workbook as an office keeps it: a serial number, numbers of unlike scale, words, a label; xlsx."""
    rng = np.random.default_rng(3)
    book, kinds = Workbook(), ("good", "scrap")
    book.active.append(("Nr", "Weight g", "Gap mm", "Shift", "Result"))
    for k in range(n):
        bad = k % 3 == 0
        weight, gap = rng.normal(1240 + 30 * bad, 25), rng.normal(0.4 + 0.1 * bad, 0.08)
        book.active.append((k + 1, round(weight, 1), round(gap, 3), ("early", "late")[k % 2], kinds[bad]))
    book.save(content := io.BytesIO())
    return content.getvalue()


def coco_folder(n=6, side=128):
    """A zip of pictures with bright spots, and COCO's JSON of their boxes."""
    rng = np.random.default_rng(5)
    files, images, boxes = {}, [], []
    for k in range(n):
        places = [(20 + 42 * (c % 3) + int(rng.integers(8)), 20 + 42 * (c // 3) + int(rng.integers(8)))
                  for c in rng.permutation(9)[:4].tolist()]  # fmt: skip
        files[f"images/{k}.png"] = png(spotted(k, places, side, RADIUS))
        images.append({"id": k, "file_name": f"{k}.png", "width": side, "height": side})
        boxes += [{"id": len(boxes) + i, "image_id": k, "category_id": 1, "bbox": [x - 8, y - 8, 16, 16]}
                  for i, (x, y) in enumerate(places)]  # fmt: skip
    told = {"images": images, "annotations": boxes, "categories": [{"id": 1, "name": "spot"}]}
    return zipped(files | {"annotations/instances_default.json": json.dumps(told).encode()})


def hand_in(reader, name, content):
    """From wherever it is, to the own data that a file holds."""
    go_to(reader, "Datasets")
    reader.get_by_role("button", name="Add your own").click()
    settle(reader)
    upload(reader, {name: content})


@on("projector", "phone")
def test_why_a_digit_is_wrong(reader):
    with within(30):
        go_to(reader, "Errors")
        tiles(reader, "errors_gallery").first.click()
        dialog = reader.get_by_role("dialog")
        expect(dialog).to_contain_text(re.compile("predicted", re.IGNORECASE))
        bar = reader.locator(".st-key-why_waterfall button.toggle").first
        expect(bar).to_be_visible()
        box, screen = bar.bounding_box(), reader.viewport_size
        assert box["y"] + box["height"] < screen["height"]


@on("projector")
def test_from_an_excel_table_to_its_errors(reader):
    with within(120):
        hand_in(reader, "week 12.xlsx", excel_export())
        expect(reader.get_by_text("The labels are in column 'Result'")).to_be_visible()
        press(reader, "FormSubmitter-own_keep-Save")
        reader.get_by_role("link", name="Train on this dataset").click()
        settle(reader)
        press(reader, "start")
        expect_state(reader, "done", 60)
        expect(reader.get_by_text(OUTCOME).first).to_be_visible()
        reader.get_by_test_id("stMain").get_by_role("link", name="errors").first.click()
        expect(reader.get_by_role("heading", name="Errors", level=1)).to_be_visible()
        settle(reader)


@pytest.mark.ci
@on("phone")
def test_from_a_folder_of_coco_to_its_curve(reader):
    with within(300):
        hand_in(reader, "spots.zip", coco_folder())
        press(reader, "FormSubmitter-pictures_keep-Save")
        reader.get_by_test_id("stMain").get_by_role("link", name="Detect").click()
        expect(reader.get_by_role("heading", name="Detect", level=1)).to_be_visible()
        settle(reader)
        press(reader, "detect_start")
        expect_state(reader, "done", 200)
        expect(reader.locator(".st-key-froc .js-plotly-plot").last).to_be_visible()
