"""Invariant SVM Lab: page config, the run picker, and the pages."""

from pathlib import Path

import streamlit as st
from streamlit import net_util

from pages.classroom import addresses
from pages.ui.kit import menu, parameters, present, roles, short_links

# To refuse the websocket of a foreign page Streamlit asks an address outside for its own, for up to 2 s in which nobody
# is served. This answers in its place, with one that is allowed in any case.
net_util._external_ip = "0.0.0.0"

# Two classes and the line between them. Drawn here: a named icon would be asked of a server on the internet.
ICON = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M5 29 27 3" stroke="#75726a"
stroke-width="3"/><circle cx="8" cy="10" r="6" fill="#d55e00"/><circle cx="24" cy="22" r="6" fill="#0072b2"/></svg>"""

# Present mode gives the whole width to the page.
SIDEBAR = "collapsed" if present.presenting() else 240

LOOK = {"page_icon": ICON, "layout": "wide", "initial_sidebar_state": SIDEBAR}
st.set_page_config("Invariant SVM Lab", **LOOK)

LETTERS, OF_A_RUN = {}, []  # what `g` and then the letter goes to; titles of pages whose tab names the run they show
HEADS = {}  # title of a page -> what it is for, below its title

NOBODYS = "."  # the first page has the address of the app, and must have one besides: one that no browser asks for


def entry(file, letter, title, icon, help, of_a_run=False, beside="", about="", headed=True):
    """A page as menu.toml has it, and the letter that leads to it."""
    assert LETTERS.setdefault(letter, title) == title, f"{title}: {letter} goes to {LETTERS[letter]}"
    OF_A_RUN.extend([title] * of_a_run)
    HEADS.update({title: about} if headed else {})
    how = {"default": True, "url_path": NOBODYS} if file == "playground" else {}
    return st.Page(f"pages/{file}.py", title=title, icon=f":material/{icon}:", help=help, **how)


def may_open(page):
    return roles.may_open("playground" if page.url_path in ("", NOBODYS) else page.url_path)


LISTED = menu.listed(Path(__file__).parent / "pages/menu.toml")
MENU = {title: [entry(file, **about) for file, about in pages.items()] for title, pages in LISTED["menu"].items()}
TABS = {about["beside"]: entry(file, **about) for file, about in LISTED["tabs"].items()}  # beside a page of this title
STUDIES = [entry(file, **about) for file, about in LISTED["studies"].items()]

for style in ("contrast", "menu", "print"):
    st.html(Path(__file__).parent / f"pages/ui/kit/{style}.css")
# What whoever looks may not open does not exist for them, by any address or message.
MENU = {heading: opened for heading, pages in MENU.items() if (opened := [*filter(may_open, pages)])}
TABS, STUDIES = {title: page for title, page in TABS.items() if may_open(page)}, [*filter(may_open, STUDIES)]
PAGES = [*(page for pages in MENU.values() for page in pages), *TABS.values(), *STUDIES]
page = st.navigation([*PAGES, *menu.nowhere(PAGES)], position="hidden")
if page not in PAGES and (meant := menu.titled(page.url_path, PAGES)):
    st.switch_page(meant, query_params={name: st.query_params.get_all(name) for name in st.query_params})
there = short_links.read(page.url_path)  # to a page that this reader may not open, as any other address
if there and (linked := next((one for one in PAGES if one.url_path == there[0]), None)):
    st.switch_page(linked, query_params=there[1])
if roles.arrives() and page == PAGES[0] and not st.query_params:
    st.switch_page("pages/classroom.py")  # the address that students type is that of the app
st.set_page_config(f"{page.title} · Invariant SVM Lab", **LOOK)  # the tab's title, now that the page is known

from pages.ui.play import opening  # noqa: E402

shown_run = st.sidebar.container(key="shown_run")  # the run picker's place, above everything
shown_run.html("<i></i>")  # the browser leaves no room for a place that is empty
parameters.begin(page.title)
unknown = st.container(key="unknown")  # what the address has that the page has not: known when it has been drawn
menu.draw(MENU, STUDIES, page)
with present.switch():
    if roles.teacher() and page in PAGES:
        short_links.share(page.url_path, addresses.urls())
menu.shortcuts(LETTERS, page.title)
menu.unlisted(TABS.values())
for one in PAGES:
    if one.title in TABS and page in (one, TABS[one.title]):
        menu.tabs((one, TABS[one.title]))


def draw():
    if page.title in HEADS:
        menu.head(page.title, HEADS[page.title])
    page.run()


first = page == PAGES[0]
if first:
    opening.hand_over_old_link()
    if not opening.ready():
        draw()  # without the library, and stops

# After the navigation: the first import of the library takes seconds, and the menu should stand by then.
opening.imported()
import pages.ui.views  # noqa: E402, F401  (makes them known)
from pages.classroom import together  # noqa: E402
from pages.lessons import banner, course  # noqa: E402
from pages.ui.kit import collector, state, text, walk  # noqa: E402
from pages.ui.run import picker  # noqa: E402
from pages.ui.why import dialog  # noqa: E402
from svmcore.lab import jobs  # noqa: E402
from svmcore.lab.store import runs  # noqa: E402

state.keep_runs_in(runs)
roles.know(together.KNOWN)


def name_tab():
    if run := state.current_run():
        st.set_page_config(f"{page.title} · {text.short(run.title, 40)} · Invariant SVM Lab", **LOOK)


walk.forget()
state.guarded(lambda: course.arrive(page))
if first:  # its picture before everything else: the preset takes half of the processor's time
    state.guarded(lambda: banner.draw(page))
    state.guarded(draw)
if roles.teacher() and jobs.ensure_preset() and first:
    st.rerun()
state.guarded(lambda: picker.run_picker(shown_run, page.url_path))
if page.title in OF_A_RUN:
    state.guarded(name_tab)
try:
    if not first:
        state.guarded(lambda: banner.draw(page))
        state.guarded(draw)
    state.guarded(dialog.show_requested)
finally:  # also below a page that stops early
    if page in PAGES:
        with unknown:
            parameters.say_wrong()
state.tell()
collector.settle()
