"""Parameters: what a reader can share, carried between the address, the session and the widgets.

    address  --read-->  value  --seed-->  widget  --draw-->  value  --write-->  address

A parameter is a Field of the registry, or as much as a widget needs of one, with a place in the address. Pages declare
theirs and draw them here; nothing else of `pages` knows this loop.

    choice, several, number,
    flag, text, tabs          one parameter and its widget. Where options are their own labels Streamlit binds the
                              widget to the address, and an address that lags behind a click does no harm; where they
                              are called otherwise, what is chosen is written there
    Form                      several that make up one value, as a recipe: all from the address, or all from what the
                              widgets show
    read, asked, write, say   the address alone, where the widget is the page's own

What cannot be in an address is said aloud and left out: by what is drawn, which knows what can be now, or else, at the
end of the page, by what its parameters can be at all (`own`). What was put there by a widget itself is no news.
"""

from pages.ui.kit.parameters.address import (
    LINK_OFF,
    asked,
    begin,
    judge,
    own,
    read,
    refusal,
    say,
    say_wrong,
    taken,
    write,
)
from pages.ui.kit.parameters.form import Form
from pages.ui.kit.parameters.widgets import choice, flag, number, one_of, settings_of, several, shown, tabs, text

__all__ = [
    "LINK_OFF", "Form", "asked", "begin", "choice", "flag", "judge", "number", "one_of", "own", "read", "refusal",
    "say", "say_wrong", "settings_of", "several", "shown", "tabs", "taken", "text", "write",
]  # fmt: skip
