"""The module that carries parameters between address, session and widgets, driven on pages of a few lines."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.kit.parameters import address as the_address
from pages.ui.kit.parameters import widgets

ROOT = Path(__file__).parents[1]
LOOP = re.compile(r'bind="query-params"|query_params\.from_dict|in the address; allowed')


def page(draw, /, **query):
    """The page that a function draws, at an address, after its first run."""
    app = AppTest.from_function(draw, default_timeout=30)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def address(app):
    return {name: text if isinstance(text, str) else text[-1] for name, text in dict(app.query_params).items()}


def said(app):
    return [warning.value.replace("\\", "") for warning in app.warning]


def bound():
    import streamlit as st

    from pages.ui.kit import parameters

    options = st.session_state.get("options", ["red", "green", "blue"])
    st.text(parameters.choice("colour", options, label="Colour"))


def noted():
    import streamlit as st

    from pages.ui.kit import parameters

    options = st.session_state.get("options", ["r", "g", "b"])
    st.text(parameters.choice("colour", options, label="Colour", key="dye", format_func=str.upper))


def switch():
    from pages.ui.kit import parameters

    parameters.flag("dark", label="Dark", key="dark", persist_state="session")


def form():
    import streamlit as st

    from pages.ui.kit.parameters import Form
    from svmcore.lab.fields import Field, choice, numeric

    fields = {
        "size": Field("size", numeric(1, 9, whole=True), 3, "Size"),
        "way": Field("way", choice({"near": 1, "far": 2}), "near", "Way"),
    }
    form = Form.of("shape", fields)
    form.seed(lambda: {name: field.default for name, field in fields.items()})
    values = form.draw_all(fields.values())
    form.warn()
    form.write(values)
    st.text(str(values))


@pytest.mark.parametrize(("draw", "key", "asked"), [(bound, "colour", "green"), (noted, "dye", "g")])
def test_a_choice_comes_from_the_address_and_goes_back_there(draw, key, asked):
    app = page(draw, colour=asked)
    assert app.text[0].value == asked
    other = app.segmented_control(key=key).options[-1]
    app.segmented_control(key=key).set_value(other[:1].lower() + other[1:]).run()
    assert app.text[0].value == {"colour": "blue", "dye": "b"}[key]
    assert draw is bound or address(app) == {"colour": "b"}  # the browser writes what is bound
    assert not app.warning


@pytest.mark.parametrize(("draw", "key", "asked"), [(bound, "colour", "green"), (noted, "dye", "g")])
def test_a_choice_that_is_reported_as_empty_stays_what_it_was(draw, key, asked):
    app = page(draw, colour=asked)
    app.segmented_control(key=key).set_value(None).run()
    assert not app.exception
    assert app.text[0].value == asked


@pytest.mark.parametrize(("draw", "first"), [(bound, "red"), (noted, "r")])
def test_what_cannot_be_is_said_and_the_first_shown(draw, first):
    app = page(draw, colour="pink*")
    assert app.text[0].value == first
    (warning,) = said(app)
    assert warning.startswith("colour=pink* in the address; allowed: ")
    assert warning.endswith(f"Showing {first}.")


@pytest.mark.parametrize(("draw", "options"), [(bound, ["blue", "red"]), (noted, ["b", "r"])])
def test_what_is_not_offered_any_more_goes_without_a_word(draw, options):
    """As when another run is shown: the address still says what the widget itself had put there."""
    app = page(draw, colour={bound: "green", noted: "g"}[draw])
    app.session_state["options"] = options
    app.run()
    assert app.text[0].value == options[0]
    assert not app.warning


def test_an_address_is_left_as_it_is_until_another_is_chosen():
    for text in ("r", "pink*"):
        app = page(noted, colour=text).run()
        assert address(app) == {"colour": text}
        assert len(app.warning) == (text == "pink*")
    app.segmented_control(key="dye").set_value("G").run()
    assert address(app) == {"colour": "g"}
    assert not app.warning
    assert address(page(noted)) == {}


def test_the_way_back_in_the_browser_is_followed():
    app = page(noted)
    app.segmented_control(key="dye").set_value("B").run()
    del app.query_params["colour"]
    app.run()
    assert app.text[0].value == "r"


def test_a_form_is_its_address():
    app = page(form, size="7", way="far")
    assert app.text[0].value == "{'way': 'far', 'size': 7}"
    app.number_input(key="shape_size").set_value(3).run()
    assert address(app) == {"way": "far"}
    again = page(form, **address(app))
    assert again.text[0].value == app.text[0].value


def test_an_address_that_lags_behind_a_click_does_not_take_it_back():
    app = page(form, size="7")
    app.number_input(key="shape_size").set_value(8).run()
    app.query_params["size"] = "7"  # what the browser still had when the second click was sent
    app.selectbox(key="shape_way").set_value("far").run()
    assert app.text[0].value == "{'way': 'far', 'size': 8}"
    assert address(app) == {"size": "8", "way": "far"}
    app.query_params["size"] = "7"  # the way back in the browser, by no click
    app.run()
    assert app.text[0].value == "{'way': 'far', 'size': 7}"


def picked():
    """A choice that no widget holds, as the run that is shown."""
    import streamlit as st

    from pages.ui.kit import parameters

    if given := parameters.asked("animal", ["animal"]):
        st.session_state["animal"] = given["animal"][-1]
    if st.button("Dog", key="dog"):
        st.session_state["animal"] = "dog"
    if st.button("Dog, then cat", key="two"):  # as a run is shown, and then another one that the page can show
        parameters.write("animal", ["animal"], {"animal": "dog"})
        st.session_state["animal"] = "cat"
    parameters.write("animal", ["animal"], {"animal": st.session_state.get("animal", "cat")})
    st.text(st.session_state.get("animal", "cat"))
    st.button("Again", key="again")


def test_a_click_that_comes_with_the_address_of_before_another_one_does_not_take_it_back(monkeypatch):
    app = page(picked, animal="cow")
    app.button(key="dog").click().run()
    app.query_params["animal"] = "cow"  # what the browser still had when the second click was sent
    app.button(key="again").click().run()
    assert (app.text[0].value, address(app)) == ("dog", {"animal": "dog"})
    app.run()  # the browser has it
    app.query_params["animal"] = "cow"  # the way back
    app.run()
    assert app.text[0].value == "cow"


def test_the_address_from_before_two_changes_in_one_answer_takes_neither_back():
    app = page(picked, animal="cow")
    app.button(key="two").click().run()
    for before in ("cow", "dog", "cow"):
        app.query_params["animal"] = before
        app.button(key="again").click().run()
        assert (app.text[0].value, address(app)) == ("cat", {"animal": "cat"})


def begun_anew():
    """A run is started and shown, and the page begins itself anew: the address is that of the run, here."""
    import streamlit as st

    from pages.ui.kit import parameters

    def start():
        st.session_state["animal"] = "dog"
        parameters.write("animal", ["animal"], {"animal": "dog"})
        st.rerun()

    if not st.session_state.get("fragment"):  # which is drawn without the page around it
        parameters.begin("A page")
    if given := parameters.asked("animal", ["animal"]):
        st.session_state["animal"] = given["animal"][-1]
    parameters.write("animal", ["animal"], {"animal": st.session_state.get("animal", "cat")})
    st.button("Start a dog", key="called_back", on_click=start)
    if st.button("Start a dog", key="drawn"):
        start()
    st.text(st.session_state.get("animal", "cat"))


@pytest.mark.parametrize("fragment", [False, True])
@pytest.mark.parametrize("key", ["drawn", "called_back"])
def test_a_page_that_begins_itself_anew_does_not_take_the_address_for_the_browsers(key, fragment, monkeypatch):
    context = SimpleNamespace(context_info=object())
    monkeypatch.setattr(the_address, "get_script_run_ctx", lambda **how: context)
    app = page(begun_anew, animal="cow")
    app.session_state["fragment"] = fragment
    context.context_info = object()
    app.button(key=key).click().run()
    for sent, shown in (("cow", "dog"), ("dog", "dog"), ("cow", "cow")):  # before it has heard, after it, a way back
        context.context_info = object()
        app.query_params["animal"] = sent
        app.run()
        assert (app.text[0].value, address(app)) == (shown, {"animal": shown})


def by_history(app, monkeypatch):
    context = SimpleNamespace(is_history_navigation=True)
    monkeypatch.setattr(the_address, "get_script_run_ctx", lambda **how: context)


def on_another_page(app, monkeypatch):
    app.session_state["parameters"] = {"title": "Another"}


def after_long(app, monkeypatch):
    now = the_address.time.monotonic()
    monkeypatch.setattr(the_address.time, "monotonic", lambda: now + 60)


@pytest.mark.parametrize("moved", [by_history, on_another_page, after_long])
def test_who_moves_to_the_address_of_before_comes_to_it_although_the_browser_never_said_that_it_has_the_new_one(
    moved, monkeypatch
):
    app = page(picked, animal="cow")
    app.button(key="dog").click().run()
    app.query_params["animal"] = "cow"
    app.run()
    assert app.text[0].value == "dog"
    moved(app, monkeypatch)
    app.query_params["animal"] = "cow"
    app.run()
    assert app.text[0].value == "cow"


def test_what_a_form_s_address_has_wrong_is_said_until_a_widget_is_changed():
    app = page(form, size="70", way="far")
    assert "size = 70; allowed: a whole number from 1 to 9" in said(app)[0]
    assert app.text[0].value == "{'way': 'far', 'size': 3}"
    app.run()
    assert app.warning
    app.number_input(key="shape_size").set_value(4).run()
    assert not app.warning


def test_a_switch_with_a_key_of_its_own_stays_when_a_link_to_the_same_page_takes_it_out_of_the_address():
    app = page(switch, dark="true")
    assert (app.toggle[0].value, address(app)) == (True, {"dark": "true"})
    app.query_params.clear()
    app.run()
    assert (app.toggle[0].value, address(app)) == (True, {"dark": "true"})
    app.toggle[0].set_value(False).run()
    assert not app.toggle[0].value
    assert not address(app)
    app = page(switch, dark="perhaps")
    assert not app.toggle[0].value
    assert "allowed: true or false" in said(app)[0]


def test_no_page_has_a_loop_of_its_own():
    """What binds a widget to the address, writes several of its parameters at once or says what of it cannot be."""
    kit = ROOT / "pages/ui/kit"
    own = [path for path in (ROOT / "pages").rglob("*.py") if path.parent != kit / "parameters"]
    found = {str(path.relative_to(ROOT)) for path in own if LOOP.search(path.read_text("utf-8"))}
    assert not found


def test_every_widget_that_is_declared_is_drawn_somewhere_and_the_other_way_round():
    sources = "\n".join(path.read_text("utf-8") for path in (ROOT / "pages").rglob("*.py"))
    drawn = set(re.findall(r'parameters\.\w+\(\s*"([a-z_]+\.\w+)"', sources))
    computed = set(re.findall(r'parameters\.\w+\(\s*f"([a-z_]+)\.\{', sources))
    known = {f"{table}.{name}" for table, names in widgets.DECLARED.items() for name in names}
    assert drawn <= known
    assert {name for name in known if f'"{name}"' not in sources and name.partition(".")[0] not in computed} == set()
    assert all(settings["label"] for names in widgets.DECLARED.values() for settings in names.values())
