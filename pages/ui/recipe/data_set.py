"""The choice of a data set on a page: shown by its title, named by its id in the address, `?set=`."""

from collections.abc import Sequence

from data import catalogue
from pages.ui.kit import parameters, words


def field(names: Sequence[str], usual: str, help: str, width: int = 220) -> str:
    """Draw the field; the chosen one of the data sets `names`, at first the address's, or `usual`."""
    titles = {entry.name: entry.title for entry in catalogue.entries()}
    return parameters.choice(
        "set",
        "Data set",
        names,
        usual,
        widget="selectbox",
        always=True,
        format_func=lambda name: words.short(titles[name], 40),
        width=width,
        help=help,
    )
