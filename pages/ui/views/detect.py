"""detect: objects in pictures, looked at on a page of their own."""

from pages.ui.kit.view import Look, View
from pages.ui.run import trained
from pages.ui.run.report import detection

HOME = Look("detect", "See what it finds", "Detect", ":material/my_location:")


def _link(run, status) -> None:
    if status.state != "done":  # then it stands among the ways on
        trained.to_home(run)


VIEW = View(
    form=HOME,
    home=HOME,
    told="Its windows are on the page *Detect*.",
    vectors=HOME,
    pictures=_link,
    looks=lambda run, others: [HOME],
    report={"Detection": detection.detection},
)
