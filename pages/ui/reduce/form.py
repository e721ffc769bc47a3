"""The settings of a reduction, from the fields of its method: form, address and recipe agree.

The address has every setting that is not the usual one, spelled as in a recipe (`n_vectors=800&reduction=rho`).
"""

import streamlit as st

from pages.ui.kit import state, words
from pages.ui.kit.parameters import Form
from pages.ui.recipe import config
from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.recipe.recipe import Recipe, RecipeError
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.registry.methods.reduced import reduction_of
from svmcore.lab.registry.reducing import reducer
from svmcore.lab.registry.tasks import task_of

FIELDS = {field.name: field for field in METHODS["reduced"].fields if field.shown}
TURNED_FIRST = ("n_vectors", "sizes", "allowed")  # by a reader; the others unfold


def _form(of) -> Form:
    """The form for the machine of the run `of`, which cannot have more vectors than that."""

    def refuse(name, value):
        if name == "n_vectors" and value is not None and value > (n := _most(of)):
            raise RecipeError(name, value, f"1 to {n}, as many as the machine has")

    return Form.of("reduction", FIELDS, refuse)


def form(of) -> Recipe | None:
    """The settings for a reduction of the machine of the run `of`, and the recipe that they spell; None, and why on
    screen, where they are not possible."""
    own, here = _form(of), {"persist_state": None}
    shown = {name: own.draw(FIELDS[name], **here | _own(name, of)) for name in TURNED_FIRST}
    with st.expander("How", icon=":material/tune:"):
        shown |= {name: own.draw(field, **here) for name, field in FIELDS.items() if name not in TURNED_FIRST}
    own.write(shown)
    try:
        recipe = titled(reduction_of(of.recipe, **shown), of)
        reducer(recipe).check(of.machine(), of.result["n_train"])
        return recipe
    except ValueError as error:
        st.error(words.plain(error), icon=":material/block:")
        return None


def _own(name: str, of) -> dict:
    """What the machine says of a setting."""
    if name != "n_vectors":
        return {}
    n = _most(of)
    return {
        "max_value": n,
        "placeholder": f"{max(1, n // 10):,}, a tenth",
        "help": f"{FIELDS[name].help} From 1 to {n:,}, as many as the machine has.",
    }


def _most(of) -> int:
    """How many vectors the machine has; of several parts the one that has the fewest."""
    return max(1, task_of(of.recipe).vectors(of.result))


def titled(recipe: Recipe, of) -> Recipe:
    """The recipe with a name that says what it reduces."""
    m = recipe.option("n_vectors")
    to = "a tenth" if m is None else f"{m:,} vectors"
    return recipe.replace(title=f"{words.short(of.title, 90)}, reduced to {to}")


def start(recipe: Recipe, of) -> None:
    """Callback: queue the reduction and look at it."""
    with config.asking():
        run_id = config.submit(recipe, parent=of.id)
        state.show_run(run_id)
        config.tell_started(run_id, "The reduction")
    st.rerun()


def start_button(recipe: Recipe, of) -> None:
    """What it will need, and Start."""
    help = "Reduces in the background; the page may be left or closed meanwhile."
    config.start_button(estimate(recipe), "reduce_start", start, (recipe, of), help)


def seed(of) -> None:
    """Fill the widgets from an address that this form did not write; what cannot be is said and left out."""
    own = _form(of)
    own.seed(lambda: {name: field.default for name, field in FIELDS.items()})
    own.warn()
