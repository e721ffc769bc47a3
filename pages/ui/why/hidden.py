"""Hidden parts: how f changes when a square of the picture is hidden, for several runs side by side.

Blue parts speak for the class, orange ones against it. A cross marks a square without which the prediction is another.
"""

from pages.ui.figures.frame import show
from pages.ui.figures.maps import hidden_map
from pages.ui.kit import parameters
from pages.ui.why import holds
from pages.ui.why.answer import Shown, answer, deciding, form_pictures, is_image, value
from svmcore.explain.hidden import FILLS, Hidden, least_side, occlusion
from svmcore.lab.store.runs import Run
from svmcore.model import Machine, answers

SIDE, FILL = "hide", "hide_by"  # in the address: pixels of a square's side, what it becomes
PARAMS = (*holds.PARAMS, SIDE, FILL)
SHARE = 6  # the shorter side of the picture is about six squares long


def panel(run: Run, machine: Machine, shown: Shown) -> None:
    """Draw the maps with the choice of runs, class, size of the square, and of what hides it."""
    if not is_image(shown):
        return
    shape = shown.dataset.image_shape
    least, most = least_side(*shape[:2]), min(shape[:2])
    picture = form_pictures(shown, shown.X.reshape(1, -1))[0]
    picture = picture if picture.ndim == 2 else picture.mean(axis=2).astype(picture.dtype)

    def square() -> tuple[int, str]:
        side = parameters.number(
            SIDE, "Square, pixels", least, most, max(least, round(most / SHARE)), 1, key="why_hide", width=130,
            help="The side of the part that is hidden.",
        )  # fmt: skip
        fill = parameters.choice(
            FILL, "Becomes", FILLS, widget="selectbox", key="why_hide_by", format_func=FILLS.get, width=190,
            help="What hidden pixels become: the background, as a jitter brings it in, or the mean of the picture.",
        )  # fmt: skip
        return side, fill

    def draw(other: Run, made: Hidden, c: int, largest: float, key: str) -> None:
        flips = made.middle[answers(made.each) != answers(made.f)]
        show(hidden_map(value(made.change, c), largest, picture, flips, other.title), key)

    holds.maps(
        run, machine, answer(run, machine, shown), "hidden",
        lambda made, other, *asked: occlusion(made, deciding(other), shown.X, shape, *asked),
        lambda made: made.change, draw,
        lambda whose, scale: f"What hiding a square takes from f of {whose}, in the mean over the squares that cover "
        f"a pixel: blue parts speak for it, orange ones against it, {scale}. Cross: a square without which the "
        "prediction changes.",
        square,
    )  # fmt: skip
