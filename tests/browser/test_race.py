"""Digestion's tape in a browser: it opens on both solvers done, is scrubbed and played without a server."""

from playwright.sync_api import expect

from tests.browser.steps import visit


def race(tab):
    return tab.locator(".race").evaluate(
        """(root) => ({
          frame: +root.dataset.frame,
          sentence: root.querySelector(".sentence").textContent,
          axes: [...root.querySelectorAll(".side svg")].map((svg) => svg.textContent),
          counts: [...root.querySelectorAll(".count")].map((node) => +node.textContent.replace(",", "")),
          spilled: [...root.querySelectorAll(".over")].map((node) => node.getBoundingClientRect().width),
        })"""
    )


def test_support_vectors_swell_and_the_cache_spills_without_digestion_alone(server, tab):
    visit(tab, f"{server.url}/digestion")
    expect(tab.locator(".race svg").first).to_be_visible(timeout=90_000)
    done = race(tab)
    assert done["sentence"].count(", done") == 2
    assert abs(done["counts"][0] - done["counts"][1]) < 5
    assert all("kernel evaluations" in told and "support vectors" in told for told in done["axes"])

    slider = tab.locator(".race .tape input")
    slider.fill("120")
    amid = race(tab)
    assert amid["frame"] == 120
    assert amid["counts"][1] > amid["counts"][0] + 100
    assert amid["spilled"][0] == 0 < amid["spilled"][1]
    tab.get_by_label("To the first step").click()
    assert race(tab)["counts"] == [0, 0]
    tab.get_by_label("Play the tape").click()
    tab.wait_for_function("""() => [...document.querySelectorAll(".st-key-race *")].some((host) =>
      +host.shadowRoot?.querySelector(".race")?.dataset.frame > 10)""")
    tab.get_by_label("Pause the tape").click()
    assert 10 < race(tab)["frame"] < 240
