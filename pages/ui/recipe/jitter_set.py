"""A jitter set as a text field, with sets to start from and the words of the language."""

import streamlit as st

from pages.ui.kit import parameters, words
from svmcore.jitter import FAMILIES, JitterSet

PRESETS = {
    "box:1": "3 × 3 shifts (MNIST, Table 10)",
    "vsv2": "13 shifts (VSV2)",
    "plus:1": "4 shifts (USPS, Table 1)",
    "box:2": "5 × 5 shifts (Table 10)",
    "rot:-10,10": "Rotations by 10 degrees",
    "thick:0.5": "Thicker and thinner lines",
    "box:1*thick:0.5": "Shifts and line thickness",
    "vsv2+rot:-8,8+thick:0.5": "Shifts, rotations, thickness",
    "elastic:0.7,3,8": "Elastic distortions",
    "random:24": "Random shifts, rotations and distortions",
}


def check(text: str) -> None:
    """Of an address: ValueError for a text that is not in the language."""
    JitterSet.parse(text)


def field(image_shape: tuple[int, ...], key: str = "jitter_set", usual: str = "box:1") -> JitterSet | None:
    """The jitter set in the field `key`; None, with the error on screen, for a text outside the language."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = parameters.text(f"jitters.{key}", usual)
        st.menu_button(
            "Presets", list(PRESETS), format_func=lambda name: f"{name} · {PRESETS[name]}", key=f"{key}_preset",
            icon=":material/auto_awesome_motion:",
            on_click=lambda: st.session_state.update({key: st.session_state[f"{key}_preset"]}),
            help="Jitter sets of the paper, and others.",
        )  # fmt: skip
        with st.popover("Language", icon=":material/help:"):
            st.markdown("\n".join(f"- `{family.usage}` {family.help}" for family in FAMILIES.values()))
    try:
        return JitterSet.parse(text, image_shape)
    except ValueError as error:
        st.error(words.plain(error), title="Not a jitter set", icon=":material/block:")
        return None
