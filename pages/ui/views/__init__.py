"""The views that the pages know; one more is an object of a file here and a line below."""

from pages.ui.kit.view import METHODS, TASKS
from pages.ui.views import classify, detect, methods

TASKS |= {"classify": classify.VIEW, "detect": detect.VIEW}
METHODS |= {
    "cross-training": methods.EDITING,
    "editing": methods.EDITING,
    "reduced": methods.REDUCED,
    "vsv": methods.VIRTUAL,
    "vsv-search": methods.SEARCHED,
}
