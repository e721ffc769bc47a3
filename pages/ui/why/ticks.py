"""Which training examples of a run are ticked: to be taken out, or to be given another label.

The address has them by their rows of the dataset's X_train: `take_out=12,55`, and `another=97:3` once for each.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.ui.example import evidence
from pages.ui.kit import parameters
from pages.ui.kit.gallery import Tile, open_digit
from pages.ui.kit.parameters.address import LINK_OFF
from pages.ui.kit.words import plain, short
from svmcore.lab.analyses.without import Change
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

PARAMS = ("take_out", "another")
MOST = 200  # ticked at a time: what an address has room for
CLICKS = {"why": "explain", "out": "exclude", "label": "relabel"}
KEY = "ticked_examples"  # of the session: (run id, Ticks)


class Ticks(NamedTuple):
    """Rows of X_train that are taken out, and rows with the name of the class that they are given."""

    out: tuple[int, ...] = ()
    labels: tuple[tuple[int, str], ...] = ()

    @property
    def rows(self) -> list[int]:
        """All of them."""
        return [*self.out, *(row for row, _ in self.labels)]

    def note(self, row: int) -> str:
        """`out`, `→ 3`, or nothing."""
        return "out" if row in self.out else f"→ {short(name, 9)}" if (name := dict(self.labels).get(row)) else ""

    def marked(self, tile: Tile, row: int) -> Tile:
        """A tile of this row, as it is drawn where the row is ticked."""
        note = self.note(row)
        return tile._replace(note=note, label=f"{tile.label}, ticked: {note}") if note else tile

    def toggled(self, rows: Iterable[int], name: str = "") -> "Ticks":
        """With these rows ticked, to be relabelled as `name` or excluded; a single row ticked so is unticked."""
        rows = list(rows)
        gone = len(rows) == 1 and (rows[0] in self.out if not name else (rows[0], name) in self.labels)
        out = [row for row in self.out if row not in rows]
        labels = [(row, given) for row, given in self.labels if row not in rows]
        if not gone:
            out, labels = (out, labels + [(row, name) for row in rows]) if name else (out + rows, labels)
        return Ticks(tuple(out), tuple(labels))

    def change(self, run: Run, machine: Machine) -> Change:
        """The same by positions in the run's training set, and places of the classes."""
        index, names = run.train_index(), evidence.class_names(run, machine)
        at = dict(zip(index.tolist(), range(len(index))))
        labels = sorted((at[row], names.index(name)) for row, name in self.labels)
        return Change(tuple(sorted(at[row] for row in self.out)), tuple(labels))


def read(run: Run, machine: Machine) -> Ticks:
    """What is ticked of a run; the address says so from then on, and what it had wrong is said aloud."""
    kept_of, ticks = st.session_state.get(KEY, ("", Ticks()))
    if given := parameters.asked(KEY, PARAMS):
        ticks = _parsed(given, run, machine)
    elif kept_of != run.id:
        ticks = Ticks()
    keep(run.id, ticks)
    return ticks


def keep(run_id: str, ticks: Ticks) -> None:
    """Let these be ticked, in the session and in the address."""
    ticks = Ticks(ticks.out[:MOST], ticks.labels[: max(MOST - len(ticks.out), 0)])
    st.session_state[KEY] = run_id, ticks
    out, another = ",".join(map(str, ticks.out)), [f"{row}:{name}" for row, name in ticks.labels]
    parameters.write(KEY, PARAMS, {"take_out": out or [], "another": another})


def a_click(run: Run, machine: Machine) -> Callable[[str], None]:
    """What a click on an example of a gallery does, by the reader's choice: its callback."""
    does = parameters.choice("why.click", CLICKS, format_func=CLICKS.__getitem__)
    if does == "why":
        return open_digit
    given = ""
    if does == "label":
        given = parameters.choice("why.given", evidence.class_names(run, machine))
    return partial(toggle, run.id, given)


def toggle(run_id: str, name: str, ref: str) -> None:
    """Callback of a gallery: tick the example of a reference, or let it be."""
    kept_of, ticks = st.session_state.get(KEY, ("", Ticks()))
    ticks = ticks if kept_of == run_id else Ticks()
    keep(run_id, ticks.toggled([int(ref.rsplit("/", 1)[1])], name))


def _parsed(given: dict[str, list[str]], run: Run, machine: Machine) -> Ticks:
    """What an address asks for, without what cannot be."""
    trained, names = set(run.train_index().tolist()), evidence.class_names(run, machine)
    out, labels, wrong = [], [], []
    for text in [one for texts in given.get("take_out", []) for one in texts.split(",") if one]:
        row = _row(text)
        out.append(row) if row in trained and row not in out else wrong.append(("take_out", text))
    for text in given.get("another", []):
        number, _, name = text.partition(":")
        row = _row(number)
        known = row in trained and row not in out and row not in dict(labels) and name in names
        labels.append((row, name)) if known else wrong.append(("another", text))
    for name, text in wrong[:3]:
        wanted = "a training example of this run that is not ticked already"
        wanted += ", and one of the run's classes, as in 97:3" if name == "another" else ""
        said = f"{name}={plain(short(text, 40))} in the address is ignored: it must be {wanted}."
        st.warning(said, icon=LINK_OFF)
    if len(out) + len(labels) > MOST:
        st.warning(f"The address ticks {len(out) + len(labels):,} examples; the first {MOST} are used.", icon=LINK_OFF)
    return Ticks(tuple(out), tuple(labels))


def check_rows(text: str) -> None:
    """Of an address: ValueError for what are no numbers of examples."""
    if any(_row(one) < 0 for one in text.split(",") if one):
        raise ValueError("write numbers of training examples: 12,97")


def check_labels(text: str) -> None:
    """Of an address: ValueError for what is no number of an example with a class."""
    number, _, name = text.partition(":")
    if _row(number) < 0 or not name:
        raise ValueError("write a training example and its class: 97:3")


def _row(text: str) -> int:
    """-1 for what is no row."""
    return int(text) if text.isdecimal() and len(text) < 12 else -1


def rows_of(positions: np.ndarray, run: Run) -> np.ndarray:
    """Rows of X_train of positions in the run's training set."""
    return run.train_index()[positions]
