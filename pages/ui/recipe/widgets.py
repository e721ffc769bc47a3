"""The widget that a field of the registry or a number of a kernel asks for."""

import dataclasses

import streamlit as st

from svmcore.lab.registry.fields import Field

KEEP = {"persist_state": "session"}


def draw(field: Field, key: str, where=st, **how):
    """The widget of a field in `where`, a column say; `how` overrides its settings. The value that it shows."""
    kind = field.kind
    st.session_state.setdefault(key, field.default)
    settings = {"label": field.label, "help": field.help, "key": key} | KEEP
    if kind.widget == "choice":
        named = {"format_func": lambda word: kind.title(kind.choices[word])} if kind.title else {}
        return where.selectbox(**settings | {"options": list(kind.choices)} | named | how)
    if kind.widget == "flag":
        return where.checkbox(**settings | how)
    if kind.widget == "number":
        return where.number_input(**settings | _range(field) | how)
    return where.text_input(**settings | how)


def _range(field: Field) -> dict:
    number, step = (int, 1) if field.kind.whole else (float, 0.1)
    found = {"min_value": number(field.kind.low), "max_value": number(field.kind.high), "step": field.step or step}
    found |= {} if field.kind.whole else {"format": "%g"}
    return found | ({"value": None, "placeholder": field.opens} if field.default is None else {})


def draw_number(field: dataclasses.Field, key: str, where=st):
    """The widget of a kernel's number or flag, with the words that the kernel gives it."""
    words, kind = field.metadata, type(field.default)
    value = st.session_state.setdefault(key, field.default)
    st.session_state[key] = kind(value)
    settings = {"label": words.get("label", field.name), "help": words.get("help"), "key": key} | KEEP
    if kind is bool:
        return where.checkbox(**settings)
    limits = {f"{end}_value": words.get(name) for end, name in (("min", "low"), ("max", "high"))}
    limits = {name: kind(limit) for name, limit in limits.items() if limit is not None}
    return where.number_input(
        **settings, **limits, step=words.get("step") or kind(1), **({} if kind is int else {"format": "%g"})
    )
