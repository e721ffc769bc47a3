"""The settings of a reduction, from the fields of its method: form, address and recipe agree.

The address has every setting that is not the usual one, spelled as in a recipe (`n_vectors=800&reduction=rho`).
"""

from dataclasses import replace

import streamlit as st

from pages.ui.kit import state, words
from pages.ui.kit.parameters import Form
from pages.ui.recipe import starting
from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.recipe.recipe import Recipe, RecipeError
from svmcore.lab.registry.fields import Field
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.registry.methods.reduced import reduction_of
from svmcore.lab.registry.reducing import reducer
from svmcore.lab.registry.tasks import task_of

FIELDS = {field.name: field for field in METHODS["reduced"].fields if field.shown}
TURNED_FIRST = ("n_vectors", "sizes", "allowed")  # by a reader; the others unfold


def _fields(of) -> dict[str, Field]:
    """Those for the machine of the run `of`: it has no more vectors than it has; of several parts the one that has the
    fewest."""
    size, most = FIELDS["n_vectors"], max(1, task_of(of.recipe).vectors(of.result))

    def check(name, value):
        if size.kind.check(name, value) > most:
            raise RecipeError(name, value, f"1 to {most}, as many as the machine has")
        return int(value)

    kind, tenth = size.kind._replace(check=check, high=most), f"{max(1, most // 10):,}, a tenth"
    help = f"{size.help} From 1 to {most:,}, as many as the machine has."
    return FIELDS | {"n_vectors": replace(size, kind=kind, opens=tenth, help=help)}


def form(of) -> Recipe | None:
    """The settings for a reduction of the machine of the run `of`, and the recipe that they spell; None, and why on
    screen, where they are not possible."""
    fields, here = _fields(of), {"persist_state": None}
    own = Form.of("reduction", fields)
    shown = {name: own.draw(fields[name], **here) for name in TURNED_FIRST}
    with st.expander("How", icon=":material/tune:"):
        shown |= {name: own.draw(field, **here) for name, field in fields.items() if name not in TURNED_FIRST}
    own.write(shown)
    try:
        recipe = titled(reduction_of(of.recipe, **shown), of)
        reducer(recipe).check(of.machine(), of.result["n_train"])
        return recipe
    except ValueError as error:
        st.error(words.plain(error), icon=":material/block:")
        return None


def titled(recipe: Recipe, of) -> Recipe:
    """The recipe with a name that says what it reduces."""
    m = recipe.option("n_vectors")
    to = "a tenth" if m is None else f"{m:,} vectors"
    return recipe.replace(title=f"{words.short(of.title, 90)}, reduced to {to}")


def start(recipe: Recipe, of) -> None:
    """Callback: queue the reduction and look at it."""
    with starting.asking():
        run_id = starting.submit(recipe, parent=of.id)
        state.show_run(run_id)
        starting.tell_started(run_id, "The reduction")
    st.rerun()


def start_button(recipe: Recipe, of) -> None:
    """What it will need, and Start."""
    starting.start_button(estimate(recipe), "reduce_start", start, (recipe, of), "Reduces")


def seed(of) -> None:
    """Fill the widgets from an address that this form did not write; what cannot be is said and left out."""
    own = Form.of("reduction", _fields(of))
    own.seed(lambda: {name: field.default for name, field in FIELDS.items()})
    own.warn()
