"""Several parameters that together make up one value."""

from collections.abc import Callable, Collection, Iterable, Mapping

import streamlit as st

from pages.ui.kit.parameters.address import LINK_OFF, asked, judge, refusal, touched, write
from pages.ui.kit.parameters.widgets import draw
from pages.ui.kit.text import plain

NUMBER = 150  # pixels below which a number would be cut beside the buttons of its field


class Form:
    """Parameters that together are one value: of an address that this form did not write, or of what its widgets show.

    name      begins the keys of its widgets
    names     () -> its parameters of the address
    read      ({name: texts}) -> the value that an address asks for, and what was wrong with it
    spell     (value) -> {name: text or texts} for the address
    spread    (value) -> {name of a widget: what it shows}
    """

    def __init__(self, name: str, names: Callable, read: Callable, spell: Callable, spread: Callable):
        self.name, self.names, self.read, self.spell, self.spread = name, names, read, spell, spread

    @classmethod
    def of(cls, name: str, fields: Mapping) -> "Form":
        """The form of some Fields, whose value is {name: value}."""

        def read(given):
            shown, wrong = {name: field.default for name, field in fields.items()}, []
            for name, texts in given.items():
                try:
                    shown[name] = fields[name].check(fields[name].read(texts[-1]))
                except ValueError as error:
                    wrong.append(str(error))
            return shown, wrong

        def spell(shown):
            return {n: fields[n].show(value) for n, value in shown.items() if value != fields[n].default}

        return cls(name, lambda: list(fields), read, spell, dict)

    def key(self, name: str) -> str:
        """Key of one of its widgets."""
        return f"{self.name}_{name}"

    @property
    def base(self):
        """What it was filled with; None before."""
        return st.session_state.get(self.key("form"))

    def asked(self) -> dict[str, list[str]]:
        """What the address asks for; see `asked`. What of it cannot be, `seed` or `warn` says."""
        return asked(self.name, self.names(), judged=False)

    def seed(self, first: Callable, unless: Callable = lambda given: False) -> None:
        """Fill the widgets from the address, `unless` what it asks for is there; with `first()` at the beginning, and
        when they are gone since another page was looked at."""
        given = self.asked()
        another = unless(given)
        if not another:  # else what cannot be in it is for the page to say
            judge(*self.names())
        if given and not another:
            self.fill(*self.read(given))
        elif self.base is None or self.key(next(iter(self.spread(self.base)))) not in st.session_state:
            self.fill(first())

    def fill(self, value, wrong: Iterable[str] = ()) -> None:
        """Put a value into the widgets; `wrong`: what is to be said of the address that it came from."""
        self.keep(value)
        st.session_state.update({self.key(name): shown for name, shown in self.spread(value).items()})
        st.session_state.update({self.key("wrong"): list(wrong), f"shown_{self.name}": {}})

    def keep(self, value) -> None:
        """Take this for what the form was filled with, and leave the widgets alone."""
        st.session_state[self.key("form")] = value

    def warn(self, apart: bool = False) -> None:
        """What the address had wrong, until a widget is changed; in one box, or each thing `apart`."""
        if touched(self.name):
            st.session_state[self.key("wrong")] = []
        wrong = list(map(plain, st.session_state[self.key("wrong")]))
        for said in wrong if apart else ():
            st.warning(said, icon=LINK_OFF)
        if wrong and not apart:
            st.warning("\n\n".join(wrong), title="Ignored in the address", icon=LINK_OFF)

    def add_wrong(self, name: str, text: str, allowed) -> None:
        """Something that the address has wrong, and only what is made of it can tell; `allowed` as in `read`."""
        st.session_state[self.key("wrong")].append(refusal(name, text, allowed))

    def write(self, value) -> None:
        """Make the address spell what the form shows."""
        write(self.name, self.names(), self.spell(value), map(self.key, self.spread(value)))

    def clear(self, but: Collection[str] = ()) -> None:
        """Take the form out of the address, and what was wrong with it. but: parameters that are another's now."""
        st.session_state[self.key("wrong")] = []
        write(self.name, [name for name in self.names() if name not in but], {})

    def draw(self, field, owner: str = "", where=st, **how):
        """The widget of a Field in `where`; its value. owner: whose field it is, if several have one of this name."""
        return draw(field, self.key(f"{owner}_{field.name}" if owner else field.name), where, **how)

    def draw_row(self, fields: Iterable, widths: Iterable[float] = (1, 1)) -> dict:
        """The widgets of the fields beside each other; their values by name."""
        places = zip(fields, st.columns(widths), strict=True)
        return {field.name: self.draw(field, where=place) for field, place in places}

    def draw_all(self, fields: Iterable, owner: str = "", **how) -> dict:
        """The widgets of the fields that have one, two numbers in a row where it is wide; their values by name."""
        shown = [field for field in fields if field.shown]
        numbers = [field for field in shown if field.kind.widget == "number"]
        values = {field.name: self.draw(field, owner, **how) for field in shown if field not in numbers}
        grid = st.grid(2, min_column_width=NUMBER)
        for field in numbers:
            values[field.name] = self.draw(field, owner, grid.cell(), **how)
        return values
