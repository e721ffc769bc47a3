"""Compare: two or more runs on the same test examples: what one fixes and what it breaks, and whether by chance."""

import streamlit as st

from pages.ui.compare import barriers, curves, empty, galleries, laid, pairs, tables
from pages.ui.kit import present

VIEWS = {"pair": "Two of them", "all": "All together"}


def examples(found, those):
    """The examples on which runs differ, two by two or all together; what the address is to say."""
    said, every = {}, pairs.all_pairs(those.answers.wrong)
    if len(those.runs) > 2:
        pairs.matrix(those, every)
        laid.choose(found, "view", list(VIEWS), "pair")
        said["view"] = st.segmented_control(
            "Look at", list(VIEWS), required=True, format_func=VIEWS.get, key=laid.key("view"),
            help="Fixed and broken by one run against the reference, or where all agree and where one stands alone.",
        )  # fmt: skip
    if said.get("view") == "all":
        return said | galleries.sets(those, found)
    other = pairs.against(those, found)
    pairs.verdict(those, other, every)
    return said | {"against": those.runs[other].id} | galleries.pair(those, other, found)


st.title("Compare")
found = laid.asked()
with present.form("Runs"), st.container(horizontal=True, vertical_alignment="top"):
    chosen = laid.pick(found)
    those, reasons = laid.lay(chosen, found)
reference = those and those.runs[those.reference]
barriers.draw(reasons, reference)
said = {"compare": [run.id for run in chosen]}
if those is None or len(those.runs) < 2:
    empty.suggest(chosen)
else:
    places = present.parts(["In numbers", "Fixed and broken", "ROC", "What differs"])
    with places[0]:
        tables.numbers(those)
    with places[1]:
        said |= examples(found, those)
    with places[2]:
        said["roc"] = curves.roc(those, found)
    with places[3]:
        tables.differences(those)
        tables.exports(those)
    said["asks"] = st.session_state.get(laid.key("asks"))
laid.write(**said, reference=reference and reference.id)
