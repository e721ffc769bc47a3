"""The views that the pages know; one more is a file here and a line below."""

from pages.ui.kit.view import METHODS, TASKS
from pages.ui.views import classify, detect, editing, reduced, searched, virtual

TASKS |= {"classify": classify.VIEW, "detect": detect.VIEW}
METHODS |= {
    "cross-training": editing.VIEW,
    "editing": editing.VIEW,
    "reduced": reduced.VIEW,
    "vsv": virtual.VIEW,
    "vsv-search": searched.VIEW,
}
