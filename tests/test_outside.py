"""No answer leaves the machine: a foreign page that opens the websocket is refused without a question to anyone."""

import socket

import pytest
from streamlit import net_util
from streamlit.web.server import server_util
from streamlit.web.server.starlette import starlette_websocket

from tests.driven import open_page, whole_app  # noqa: F401  (a fixture for every test here)

FOREIGN = ("http://evil.example", "https://127.0.0.1.evil.example:8501", "null", "http://", "file://")


@pytest.fixture
def asked(monkeypatch):
    """The addresses that Streamlit, as it starts, asks."""
    found = []
    monkeypatch.setattr(net_util, "_external_ip", None)
    monkeypatch.setattr(net_util, "_make_blocking_http_get", lambda url, timeout=5: found.append(url))
    monkeypatch.setattr(socket, "create_connection", lambda *args, **kwargs: found.append(args))
    return found


def test_without_the_app_streamlit_would_ask(asked):
    """If it does not any more, app.py need not answer in its place."""
    assert not server_util.is_url_from_allowed_origins("http://evil.example")
    assert asked


def test_a_foreign_page_is_refused_without_a_question(home, asked):
    open_page("lessons")
    for origin in FOREIGN:
        assert not starlette_websocket._is_origin_allowed(origin, "127.0.0.1:8501"), origin
    assert starlette_websocket._is_origin_allowed("http://127.0.0.1:8501", "127.0.0.1:8501")
    assert not asked
