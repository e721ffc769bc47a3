"""A reader's own data: sets unlike digits are kept and trained on, broken files are refused with helpful words. Of
photographs of many sizes, and of feature vectors with pictures, errors are explained by the pictures as they were."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.steps import OUTCOME, expect_state, go_to, press, run_id, settle, start, tiles, upload, visit
from tests.browser.uploads import GOOD, embedded, npz, photographs, zipped


@pytest.mark.ci
@pytest.mark.parametrize("name", GOOD)
def test_an_uploaded_set_is_shown_kept_and_trained_on(server, tab, name):
    files, classes, shape = GOOD[name]
    visit(tab, f"{server.url}/datasets?set=new")
    upload(tab, files)
    title = tab.locator(".st-key-own_title input")
    expect(title).to_be_visible()
    title.fill(f"Set of {name}")
    press(tab, "FormSubmitter-own_keep-Save")

    expect(tab.get_by_role("heading", name=f"Set of {name}")).to_be_visible()
    expect(tab.get_by_text(f"{shape} · {classes} classes").last).to_be_visible()
    tab.get_by_role("link", name="Train on this dataset").click()
    settle(tab)
    start(tab)
    expect_state(tab, "done", 90)
    expect(tab.get_by_text(OUTCOME).first).to_be_visible()
    for page in ("Support vectors", "Errors"):
        go_to(tab, page)
        expect(tab.get_by_role("heading", name=page, level=1)).to_be_visible()
        settle(tab)
        tab.go_back()
        settle(tab)


def read(tab, server, files):
    """Upload files and wait until they have been read."""
    visit(tab, f"{server.url}/datasets?set=new")
    upload(tab, files)
    expect(tab.locator(".st-key-own_title input")).to_be_visible()
    settle(tab)


def train(tab, title):
    """Keep what was read under this title, and train on it with what is proposed."""
    tab.locator(".st-key-own_title input").fill(title)
    press(tab, "FormSubmitter-own_keep-Save")
    expect(tab.get_by_role("heading", name=title)).to_be_visible()
    tab.get_by_role("link", name="Train on this dataset").click()
    settle(tab)
    start(tab)
    expect_state(tab, "done", 90)
    expect(tab.get_by_text(OUTCOME).first).to_be_visible()


def explain_an_error(tab):
    """Open the first error; the dialog, and the height and width of its picture in pixels of its own."""
    way = tab.get_by_role("link", name="See the errors")
    expect(way).to_have_attribute("href", re.compile(run_id(tab)))  # not the last run's, which may still stand there
    way.click()
    expect(tab.get_by_role("heading", name="Errors", level=1)).to_be_visible()
    settle(tab)
    tiles(tab, "errors_gallery").first.click()
    dialog = tab.get_by_role("dialog")
    expect(dialog.locator(".st-key-why_waterfall button.toggle").first).to_be_visible()
    settle(tab)
    picture = dialog.get_by_test_id("stImage").locator("img").first
    expect(picture).to_be_visible()
    return dialog, picture.evaluate("img => [img.naturalHeight, img.naturalWidth]")


@pytest.mark.ci
def test_photographs_of_many_sizes_go_from_a_zip_to_why_one_is_wrong(server, tab):
    sizes, files = photographs()
    read(tab, server, {"photographs.zip": zipped(files)})
    form = tab.get_by_test_id("stForm")
    expect(form).to_contain_text(f"The images have {len(set(sizes))} sizes")
    expect(tiles(tab, "own_ways")).to_have_count(18)  # six under each way
    tab.locator("[class*=st-key-own_size_] input").fill("24x32")
    tab.keyboard.press("Enter")
    expect(form).to_contain_text("brought to 24 x 32: fit and pad")
    settle(tab)
    train(tab, "Photographs of two kinds")

    dialog, (height, width) = explain_an_error(tab)
    assert any(height % h == 0 and (w * height, w * width) == (h * width, w * width) for h, w in sizes)
    dialog.get_by_role("button", name="As used in training").click()
    trained = tab.get_by_alt_text("The example as it is used in training")
    expect(trained).to_be_visible()
    across, down = trained.evaluate("img => [img.naturalWidth, img.naturalHeight]")
    assert across * 24 == down * 32


@pytest.mark.ci
def test_feature_vectors_with_images_go_from_an_npz_to_why_one_is_wrong(server, tab):
    read(tab, server, {"embedded.npz": npz(**embedded())})
    expect(tab.get_by_text("90 examples · 8 features · 3 classes").last).to_be_visible()
    expect(tiles(tab, "own_preview")).to_have_count(60)
    train(tab, "Embedded spots")

    dialog, size = explain_an_error(tab)
    assert size == [160, 160]
    dialog.get_by_text("Features", exact=True).click()
    expect(dialog.get_by_test_id("stDataFrame")).to_be_visible()
