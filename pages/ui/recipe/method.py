"""The choice of a method in a recipe's form, and the fields that belong to it."""

import streamlit as st

from pages.ui.kit.parameters import Form
from pages.ui.recipe.jitter_set import PRESETS
from svmcore.lab.recipe.recipe import FIELDS
from svmcore.lab.registry.method import JITTERS_DEFAULT
from svmcore.lab.registry.methods import METHODS


def draw(form: Form, task: str, images: bool = True) -> dict:
    """Draw the fields; values by name, of one of the methods that solve the task, with images or without them."""
    solve = [name for name, method in METHODS.items() if method.made and task in method.tasks]
    allowed = [name for name in solve if images or not METHODS[name].needs_images]
    name = form.draw(FIELDS["method"], options=allowed)
    method, jitters = METHODS[name], ""
    if method.help:
        st.caption(method.help)
    if method.uses_jitters:
        jitters = form.draw(
            FIELDS["jitters"],
            widget="selectbox",
            options=list(dict.fromkeys([*PRESETS, st.session_state.get(form.key("jitters"), JITTERS_DEFAULT)])),
            accept_new_options=True,
            help="Transformations that do not change the class. Choose a set or type one; the Jitters page shows it.",
        )
    return {"method": name, "jitters": jitters} | form.draw_all(method.fields, name)
