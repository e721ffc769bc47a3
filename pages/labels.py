"""Labels: examples whose label the machines doubt, judged by key, and what training on the data set so judged gives."""

import streamlit as st

from pages.ui.example import evidence
from pages.ui.kit import parameters, present
from pages.ui.label import ask, gives, judge, listed, start, target
from pages.ui.run.trained import another_run, trained_run

st.title("Labels")
present.about(
    "Is it the machine that is wrong, or the label? A machine that has not seen an example's label doubts it where "
    "its own answer is another one. Judge what it doubts, or give the labels that it asks for; the data set is not "
    "changed, your verdicts lie beside it."
)
run = trained_run()
if run:
    another_run(run, "labels")
    lists = listed.LISTS
    with present.form("What is judged"), st.container(horizontal=True, vertical_alignment="bottom"):
        kind = parameters.choice(
            "doubted",
            "List",
            lists,
            format_func=lambda name: lists[name].title,
            wrap=True,
            help="  \n".join(f"**{one.title}**: {one.help}" for one in lists.values()),
        )
        to = target.field(run)
        way = ask.field(to) if kind == "next" and to is not None else ""
    if to is not None and kind == "next":
        ask.draw(run, to, way)
        gives.files(to)
    elif to is not None:
        chosen = lists[kind]
        if chosen.warning:
            st.warning(chosen.warning, icon=":material/warning:")
        above = st.container()
        doubts = chosen.find(run) if chosen.find else start.by_a_way(run)
        if doubts == []:
            st.success(chosen.none, icon=":material/check:")
        judge.judge(judge.Judging(run, evidence.data_of(run), tuple(doubts or ()), to, kind))
        if not chosen.find:
            with present.below(above):
                start.missing(run)
        gives.files(to)
