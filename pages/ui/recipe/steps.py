"""The fields of preprocessing steps that have several: numbers beside each other instead of a text to type."""

from collections.abc import Iterable

import streamlit as st

from pages.ui.kit.text import plain
from svmcore.preprocess import Parameter, parse_step, written

NARROW = 115  # pixels below which a number of three digits would be cut beside the buttons of its field


def fields(key: str, steps: Iterable[str]) -> None:
    """The numbers of those of the steps that have several; a change is written into the widget `key` of the steps."""
    for at, text in enumerate(steps):
        try:
            name, step, values = parse_step(text)
        except ValueError:
            continue  # said elsewhere
        if len(step.parameters) < 2:
            continue
        keys = [f"{key}_{at}_{wanted.name}" for wanted in step.parameters]
        for own, wanted, value in zip(keys, step.parameters, values, strict=True):
            st.session_state[own] = bool(value) if wanted.is_switch else value
        with st.expander(f"{step.title}: fields of {plain(text)}"):
            st.caption(f"{step.help} {step.source}.  \n${step.formula}$")
            grid = st.grid(2, min_column_width=NARROW)
            for own, wanted in zip(keys, step.parameters, strict=True):
                _draw(wanted, own, grid.cell(), on_change=_write, args=(key, at, name, keys))


def _draw(wanted: Parameter, key: str, where, **how) -> None:
    label, help = wanted.name.capitalize(), f"{wanted.label[0].upper()}{wanted.label[1:]}."
    if wanted.is_switch:
        where.checkbox(label, key=key, help=help, **how)
        return
    kind = int if wanted.whole else float
    step = 1 if wanted.whole else 0.05
    where.number_input(label, kind(wanted.low), kind(wanted.high), step=step, key=key, help=help, **how)


def _write(key: str, at: int, name: str, keys: list[str]) -> None:
    """Callback: the step's text with its new numbers, in the place of the old one."""
    steps = list(st.session_state[key])
    steps[at] = written(name, [float(st.session_state[own]) for own in keys])
    st.session_state[key] = steps
