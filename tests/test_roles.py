"""Roles: what a student may not do is refused where it is done, whatever a browser sends; else nothing is."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from streamlit import config
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState

from data import catalogue, load, permission, pictures, revisions, transfers
from data.dataset import Arrays
from data.permission import Forbidden
from data.verdicts import Verdict
from pages.classroom import __main__ as serving
from pages.classroom import addresses, session, together
from pages.classroom import pictures as pictures_of_class
from pages.lessons import course
from pages.lessons.course import LESSONS
from pages.lessons.parts import recipe_of
from pages.lessons.plane import Plane
from pages.ui.kit import roles
from svmcore.kernels import RBF
from svmcore.lab import jobs
from svmcore.lab.jobs import analyses
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import presets, runs
from tests.driven import finished, open_page, sent_with_a_look, whole_app  # noqa: F401  (a fixture)
from tests.homes import lend_compiled
from tests.phones import Phone

ROOT = Path(__file__).parent.parent
PAGES = {path.stem for path in (ROOT / "pages").glob("*.py")}
SMALL = Recipe(dataset="toy-moons", n_train=40, n_test=40, preprocess=(), kernel=RBF(0.5), C=1.0, title="Small")


@pytest.fixture
def nobody():
    """Nothing is allowed to anybody."""
    permission.answer_with(lambda action, what: False)
    yield
    permission.answer_with(None)


def test_lessons_lead_to_pages_that_students_may_open():
    led_to = {view.page for lesson in LESSONS for step in lesson.steps for view in (step.ask, step.look)}
    assert led_to <= set(roles.PAGES) <= PAGES
    assert not {"train", "datasets", "runs", "photograph", "notes"} & set(roles.PAGES)


def _changes(run):
    base = load("mnist-5k")
    verdict = Verdict("train", 0, int(base.y_train[0]), "keep")
    X, y = np.zeros((4, 2), np.float32), np.arange(4) % 2
    return {
        "submit": lambda: jobs.submit(SMALL),
        "cancel": lambda: jobs.cancel(run.id),
        "pause": lambda: jobs.pause(run.id),
        "resume": lambda: jobs.resume(run.id),
        "move": lambda: jobs.move(run.id, "first"),
        "analyse": lambda: analyses.COUNTS.start(run.id),
        "stop an analysis": lambda: analyses.COUNTS.stop(run.id),
        "rename": lambda: run.rename("mine"),
        "tag": lambda: run.tag(["mine"]),
        "delete": lambda: run.delete(),
        "restore": lambda: runs.restore(run.id),
        "keep a preset": lambda: presets.keep("mine", SMALL),
        "remove a preset": lambda: presets.remove("mine"),
        "upload": lambda: catalogue.keep("mine", Arrays(X, y, X[:0], y[:0])),
        "delete a dataset": lambda: catalogue.forget("own:mine"),
        "upload pictures": lambda: pictures.own._SHELF.keep("mine", {}, {}, False),
        "delete pictures": lambda: pictures.forget("own:mine"),
        "label": lambda: revisions.add("mnist-5k@mine", base, [verdict]),
        "delete labels": lambda: revisions.forget("mnist-5k@mine"),
        "download": lambda: transfers.start("mnist", lambda report: None),
        "open a class": lambda: session.begin(0),
        "end a class": lambda: session.end(),
    }


CHANGES = list(_changes(None))


@pytest.mark.parametrize("what", CHANGES)
def test_each_change_asks_before_it_happens(home, nobody, what):
    permission.answer_with(None)
    run = finished(SMALL)
    permission.answer_with(lambda action, what: False)
    before = sorted((path, path.stat().st_mtime_ns) for path in home.rglob("*"))
    with pytest.raises(Forbidden):
        _changes(run)[what]()
    assert sorted((path, path.stat().st_mtime_ns) for path in home.rglob("*")) == before


def test_students_see_what_is_shown_to_them(home):
    theirs, other = finished(SMALL), finished(SMALL.replace(n_train=50))
    one = session.begin(0)
    one.show(theirs.id)
    lesson = recipe_of(LESSONS[0].machines[0], 0)
    known = together.KNOWN
    assert known.run(theirs)
    assert not known.run(other)
    assert known.dataset("mnist-5k")
    assert not known.dataset("own:mine")
    assert not known.dataset("toy-moons@mine")
    assert lesson.digest() in known.trains()
    assert SMALL.digest() not in known.trains()
    session.end()
    assert not known.run(theirs)
    assert not known.trains()


def test_lists_hold_only_what_may_be_seen(home):
    run = finished(SMALL)
    catalogue.keep("mine", Arrays(np.eye(4, dtype=np.float32), np.arange(4) % 2, np.zeros((0, 4)), np.zeros(0, int)))
    revisions.add("mnist-5k@mine", base := load("mnist-5k"), [Verdict("train", 0, int(base.y_train[0]), "keep")])
    presets.keep("mine", SMALL)
    for shown in (True, False):
        permission.answer_with(lambda action, what, shown=shown: shown)
        names = {entry.name for entry in catalogue.entries()}
        assert bool(runs.everything()) is bool(runs.newest_first()) is shown
        assert ("own:mine" in names, "mnist-5k@mine" in names) == (shown, shown)
        assert ("mine" in presets.own_recipes()) is shown
    with pytest.raises(runs.UnknownRun):
        runs.get(run.id)
    for name in ("own:mine", "mnist-5k@mine"):
        with pytest.raises(LookupError):
            catalogue.entry(name)
    permission.answer_with(None)
    assert runs.get(run.id)


def test_what_is_drawn_is_judged_by_the_machine():
    line, rings = (together.drawn(kind, 7) for kind in ("line", "rings"))
    straight, _ = together.right(line, 7)
    ringed, _ = together.right(rings, 7)
    assert session.fits(line, straight)
    assert session.fits(rings, ringed)
    asked = session.Asked(line, {"a": straight, "b": [0.0, 0.9, 0.1, 0.9]}, right=straight)
    assert together.share_right(session.Asked(line, {"a": straight}, right=straight)) == 1
    assert 0.5 < together.share_right(asked) < 1
    level = [-1.0, 0.0, 1.0, 0.0]  # separates the colours as well, elsewhere
    assert all(together.side(level, np.array([[x, y]]))[0] == sign for x, y, sign in line.points)
    assert 0.2 < together.share_right(session.Asked(line, {"a": level}, right=straight)) < 0.8
    asked = session.Asked(rings, {"a": ringed, "b": [n for n in range(60) if n not in ringed][:1]}, right=ringed)
    assert together.share_right(asked) == 0.5
    asked = session.Asked(session.Question("number", "?", high=1000), {"a": 40, "b": 20, "c": 161}, right=40)
    assert together.share_right(asked) == pytest.approx((1 + 21 / 41 + 41 / 162) / 3)
    assert "<span>200</span>" in pictures_of_class.shown(asked)  # the scale ends where the answers do, not at 1,000
    machine = Plane.of({}, 7).machine
    ends = np.array(straight).reshape(2, 2)
    np.testing.assert_allclose(ends @ machine.w + machine.bias, 0, atol=1e-3 * np.linalg.norm(machine.w))


def test_a_question_of_the_teachers_own_is_text_and_has_one_right_choice():
    question = together.own("What is *C*?\n a price\n\n* ![p](http://evil.example/1.png)\n")
    assert question.choices[1].startswith(r"\!\[p\]")
    assert together.right(question, 0) == (1, "")
    drawn = pictures_of_class.shown(session.Asked(question, {"a": 1}, right=1))
    assert "<span>![p](http://evil.example/1.png) ✓</span>" in drawn
    for typed in ("", "What?", "What?\na\nb", "What?\n*a\n*b", "What?\n*a", "What?\n*a" + 9 * "\nb"):
        assert together.own(typed) is None


def test_more_support_vectors_than_examples_can_be_answered(home):
    run = finished(
        Recipe(
            dataset="digits-8x8", n_train=60, n_test=60, preprocess=("unit-norm",), C=2.0, method="vsv", jitters="box:1"
        )
    )
    machine = run.machine()
    kept = len({*zip(machine.parent.tolist(), machine.jitter.tolist(), strict=True)})  # virtual ones, too
    assert kept > 60
    question = together.of_run(run)["support vectors"]
    number, because = together.right(question, 0)
    assert number == kept
    assert question.low <= kept <= question.high
    assert f"{question.high:,}" not in because  # a limit of what can be typed, not of what can be
    assert "of 60" in together.right(together.of_run(run)["errors"], 0)[1]


def test_a_question_that_is_open_on_the_board_stays_with_its_answers(home):
    question = session.Question("rings", "?", points=((0.5, -0.25, 1), (0.0, 1.0, -1)))
    one = session.begin(0)
    who = one.join("Ada")
    one.ask(question)
    one.answer(who, 0, [1])
    for again in (one, session.Class(one.path)):  # also once it is read from its folder
        again.ask(question)
        assert len(again.asked) == 1
        assert list(again.current.answers) == [who]
    one.reveal([0], "")
    one.ask(question)
    assert len(one.asked) == 2


def test_the_form_follows_the_board_although_a_browser_that_looks_again_sends_what_it_showed_before(home, monkeypatch):
    for name in ("in_class", "teacher"):
        monkeypatch.setattr(roles, name, lambda: True)
    one = session.begin(0)
    app = open_page("classroom")

    def press(key):
        app.button(key=key).click().run()
        assert not app.exception

    press("class_ask")
    for number in (2, 3):
        press("class_reveal")
        before = sent_with_a_look(app)
        press("class_next")
        app._run(before)
        assert one.current.question.text == together.of_step(course.At(course.LESSONS[0], number, 0)).text
        assert [box.value for box in app.selectbox if box.key.startswith(("class_lesson", "class_step"))] == [
            course.LESSONS[0].name, number,
        ]  # fmt: skip
        assert app.button(key="class_ask").disabled, "it is on the board"


@pytest.mark.parametrize("answer", [-1, 3, True, 1.0, "1", None, [0], {}, 10**30])
def test_an_answer_that_a_question_has_not_is_refused(home, answer):
    one = session.begin(0)
    one.ask(session.Question("choice", "?", ("a", "b", "c")))
    who = one.join("Ada")
    assert not one.answer(who, 0, answer)
    assert not one.answer("0" * 16, 0, 1)
    assert not one.answer(who, 1, 1)
    assert one.answer(who, 0, 2)
    again = session.Class(one.path)  # as another process reads it
    assert again.people == one.people
    assert again.current.answers == {who: 2}
    assert again.csv().splitlines() == ["question,student,answer,correct", "1. ?,Ada,c,"]
    one.reveal(1, "so")
    assert not one.answer(who, 0, 1)
    for _ in range(session.MAX_PEOPLE - 1):
        one.join("Ada")
    with pytest.raises(session.Full):
        one.join("Ada")
    assert len(set(one.people.values())) == session.MAX_PEOPLE
    session.delete(one)
    assert not list((home / "class").iterdir())
    assert session.now() is None


def test_a_class_whose_folder_is_deleted_has_ended_and_a_full_disk_is_said(home, monkeypatch):
    one = session.begin(0)
    who = one.join("Ada")
    one.ask(session.Question("choice", "?", ("a", "b")))
    with monkeypatch.context() as full:
        full.setattr(os, "write", lambda handle, data: 0)
        for does in (lambda: one.join("Bob"), lambda: one.answer(who, 0, 1), lambda: one.reveal(0, ""),
                     lambda: session.begin(0)):  # fmt: skip
            with pytest.raises(session.Full, match="No space left"):
                does()
    assert (list(one.people), one.current.answers, one.current.right) == ([who], {}, None)
    assert session.now() is one
    shutil.rmtree(one.path)
    assert session.now() is None
    with pytest.raises(session.Full, match="was deleted"):
        one.join("Bob")
    session.delete(one)
    assert one not in session.kept()


def test_deleting_one_shown_run_leaves_the_data_of_another(home):
    X = np.random.default_rng(0).normal(size=(80, 2)).astype(np.float32)
    catalogue.keep("mine", Arrays(X, (X[:, 0] > 0).astype(int), X[:0], np.zeros(0, int)))
    gone, kept = finished(SMALL), finished(SMALL.replace(dataset="own:mine"))
    one = session.begin(0)
    for run in (gone, kept):
        one.show(run.id)
    gone.delete()
    assert together.KNOWN.dataset("own:mine")
    assert not together.KNOWN.dataset("own:other")


def test_addresses_follow_the_networks_of_the_computer(monkeypatch):
    from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

    networks = ["192.0.2.7", "10.42.0.1"]
    monkeypatch.setattr(addresses, "of_this_machine", lambda: list(networks))
    monkeypatch.setattr(addresses, "_room", dict(addresses._room))
    before = config.get_option("server.allowedHosts")
    try:
        assert addresses.urls() == []  # outside a class
        addresses.open_to([], ["lab.local"], 8080)
        assert addresses.urls()[1:] == ["http://192.0.2.7:8080", "http://10.42.0.1:8080"]
        networks[:] = ["198.51.100.3"]
        assert addresses.urls() == ["http://lab.local:8080", "http://198.51.100.3:8080"]
        hosts = ("198.51.100.3:8080", "lab.local:8080", "127.0.0.1:8501", "192.0.2.7:8080", "evil.example")
        assert [is_host_allowed(host) for host in hosts] == [True, True, True, False, False]
        addresses.open_to(["192.0.2.9"], [], 80)
        assert addresses.urls() == ["http://192.0.2.9"]
    finally:
        config.set_option("server.allowedHosts", before)


def test_a_second_class_on_the_same_ports_is_told_while_the_first_one_starts():
    first = serving._listening("127.0.0.1", 0)
    with first, pytest.raises(OSError, match="cannot be used"):
        serving._listening("127.0.0.1", first.getsockname()[1])


# A server, and students that send what they like


@contextmanager
def served(home, *options):
    """The class's command: the addresses of the teacher and of the students, and its process."""
    command = [sys.executable, "-m", "pages.classroom", "--port=0", "--room=0", "--address=127.0.0.1", "--no-browser"]
    environment = os.environ | {"SVMLAB_HOME": str(lend_compiled(home))}
    process = subprocess.Popen(
        [*command, *options], cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        found = [process.stdout.readline().split()[-1] for _ in range(2)]
        teacher, students = found[0].removesuffix("/classroom"), found[1]
        deadline = time.monotonic() + 120
        while answer(f"{teacher}/_stcore/health")[0] != 200:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield teacher, students, process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


class Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirection."""

    def redirect_request(self, *_):
        return None


def answer(url, method="GET", follow=True):
    """(status, content, headers) of a request."""
    request = urllib.request.Request(url, method=method, data=b"x" if method != "GET" else None)
    opener = urllib.request.build_opener(*([] if follow else [Stay]))
    try:
        with opener.open(request, timeout=10) as reply:
            return reply.status, reply.read(), reply.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read(), error.headers
    except OSError:
        return 0, b"", {}


@pytest.fixture(scope="module")
def a_class(tmp_path_factory):
    home = tmp_path_factory.mktemp("class")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SVMLAB_HOME", str(home))
        finished(SMALL)
    with served(home) as addresses:
        yield *addresses, home


def visit(coroutine):
    """What it comes to, by a thread of its own: that of a browser's tests has a loop already."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, asyncio.wait_for(coroutine, 200)).result()


async def pages_of(url, page="classroom", **how):
    async with Phone(url, page, **how) as phone:
        return set(phone.pages), phone.title(), phone


def listening(pid):
    """Addresses, in hexadecimal, on which a process listens."""
    inodes = set()
    for handle in Path(f"/proc/{pid}/fd").iterdir():
        try:
            inodes.add(os.readlink(handle).removeprefix("socket:[").removesuffix("]"))
        except OSError:
            continue
    rows = [
        line.split() for kind in ("tcp", "tcp6") for line in Path(f"/proc/{pid}/net/{kind}").read_text().splitlines()
    ]
    return sorted(row[1].partition(":")[0] for row in rows if row[3] == "0A" and row[9] in inodes)


@pytest.mark.ci
@pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="needs /proc")
def test_only_the_class_listens_beyond_loopback(tmp_path):
    from tests.browser.conftest import running_app

    loopback, every = "0100007F", "00000000"
    with running_app(ROOT, tmp_path / "alone") as server:
        assert listening(server.process.pid) == [loopback]
    with served(tmp_path / "class", "--address=") as (_, _, process):
        assert listening(process.pid) == [every, loopback]


@pytest.mark.parametrize("page", ["train", "runs", "datasets", "photograph", "paper"])
def test_a_page_of_the_teacher_does_not_exist_for_students(a_class, page):
    teacher, students, *_ = a_class
    assert page in visit(pages_of(teacher))[0] - visit(pages_of(students))[0]
    assert visit(pages_of(students, page))[1] == "No such page"
    (a_class[3] / "links.jsonl").write_text(json.dumps({"page": page, "query": {}}))
    assert visit(pages_of(students, "1"))[1] == "No such page"
    assert page in visit(pages_of(teacher, "1"))[2].pages


def test_no_page_can_be_opened_by_its_number(a_class):
    """Of the pages' hashes, which are the same on every computer, those of the teacher lead students to none."""
    teacher, students, *_ = a_class

    async def tried():
        async with Phone(teacher, "classroom") as told, Phone(students, "classroom") as phone:
            for page in sorted(set(told.pages) - set(phone.pages)):
                phone.hash, phone.page = told.pages[page], ""
                await phone.rerun()
                assert phone.title() in ("Playground", "Class", "No such page"), page
                phone.page = page
                await phone.rerun()
                assert phone.title() in ("Playground", "Class", "No such page"), page

    visit(tried())


FORGED = [
    {"X-SVMLab-Door": "guessed"},
    {"x-svmlab-door": ""},
    {"X-Forwarded-For": "127.0.0.1", "Forwarded": "for=127.0.0.1;host=127.0.0.1", "X-Real-Ip": "127.0.0.1"},
    {"X-Forwarded-Host": "127.0.0.1:8501", "X-Forwarded-Port": "8501", "X-Forwarded-Proto": "http"},
    {"Cookie": "_streamlit_user=teacher; teacher=1"},
]


@pytest.mark.parametrize("headers", FORGED, ids=lambda headers: next(iter(headers)))
def test_no_header_makes_a_teacher(a_class, headers):
    _, students, *_ = a_class
    pages, title, phone = visit(pages_of(students, headers=headers))
    assert "train" not in pages
    assert title == "Class"
    assert "Close the class" not in phone.labels()


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1.evil.example"])
def test_a_foreign_page_is_not_let_in(a_class, origin):
    from websockets.exceptions import InvalidStatus

    with pytest.raises(InvalidStatus):
        visit(pages_of(a_class[1], headers={"Origin": origin}))


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/_stcore/upload_file/SESSION/file", "PUT"), ("/_stcore/upload_file/SESSION/file", "DELETE"),
        ("/_stcore/upload_file/SESSION/file", "POST"), ("/_stcore/metrics", "GET"), ("/_stcore/stats", "GET"),
        ("/_stcore/agent/openapi.json", "GET"), ("/_stcore/agent/interact", "POST"), ("/_stcore/agent/mcp", "POST"),
        ("/_stcore/script-health-check", "GET"), ("/app/static/app.py", "GET"), ("/auth/login", "GET"),
        ("/train", "POST"), ("/", "PUT"),
    ],
)  # fmt: skip
def test_what_is_served_to_students_alone(a_class, path, method):
    _, students, *_ = a_class
    session_id = visit(pages_of(students))[2].session
    assert session_id
    assert answer(students + path.replace("SESSION", session_id), method)[0] in (403, 405)


def test_an_address_of_two_parts_leads_to_its_last(a_class):
    for door in a_class[:2]:
        for path, leads in (("/a/lessons", "/lessons"), ("/a//evil.example", "/evil.example"), ("/a/b/", "/")):
            status, _, headers = answer(door + path, follow=False)
            assert (status, headers["location"]) == (307, leads)
        assert answer(f"{door}/lessons/_stcore/health", follow=False)[0] != 307  # a browser asks that first


@pytest.mark.parametrize("path", ["/static/%2e%2e/%2e%2e/app.py", "/media/..%2f..%2fapp.py", "/component/../../app.py",
                                  "/static//etc/passwd", "/..%2fapp.py", "/%2e%2e/app.py"])  # fmt: skip
def test_no_file_of_the_machine_is_served(a_class, path):
    host, port = a_class[1].removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 10) as raw:
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        reply = b"".join(iter(lambda: raw.recv(65536), b""))
    assert b"st.navigation" not in reply
    assert b"root:" not in reply


def test_messages_that_are_no_click_are_dropped(a_class):
    _, students, *_ = a_class

    async def sent():
        async with Phone(students, "classroom") as phone:
            for message in ("clear_cache", "load_git_info", "set_run_on_save", "debug_shutdown_runtime"):
                await phone.send(**{message: True})
            await phone.send(debug_disconnect_websocket=True)
            await phone.rerun()
            assert phone.title() == "Class"
            await phone.send(rerun_script=ClientState(query_string="x" * (2 << 20)))
            await asyncio.sleep(1)
            assert phone.closed
        async with Phone(students, "classroom") as phone:
            assert phone.title() == "Class"

    visit(sent())


def test_forged_widgets_of_the_teacher_do_nothing(a_class):
    """Every button of the teacher's, with the words under which it is known, pressed from a student's session; a run
    that is not shown, by its address."""
    teacher, students, _, home = a_class
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SVMLAB_HOME", str(home))
        run = next(run for run in runs.everything() if run.recipe.dataset == "toy-moons")

    async def forged():
        async with Phone(teacher, "classroom") as told:
            if "Open a class" in told.labels():
                await told.click("Open a class")
            buttons = [one.id for one in told.kinds("button")]
            assert len(buttons) > 2
        async with Phone(teacher, "runs", f"run={run.id}") as told:
            buttons += [one.id for one in told.kinds("button")]
        async with Phone(teacher, "train", f"run={run.id}") as told:
            buttons += [one.id for one in told.kinds("button")]
        kept = sorted(path for path in (home / "runs").glob("*/*.json"))
        for page in ("classroom", "errors", "compare", "labels", "detect"):
            async with Phone(students, page, f"run={run.id}") as phone:
                for button in buttons:
                    await phone.rerun(WidgetState(id=button, trigger_value=True))
                assert phone.title() not in ("Runs", "Train")
                assert not any(run.id in text for text in phone.texts() if "There is no run" not in text)
        assert sorted(path for path in (home / "runs").glob("*/*.json")) == kept

    visit(forged())


def test_a_browser_is_the_student_whose_word_it_keeps_and_nobody_by_another(a_class):
    teacher, students, _, home = a_class

    async def played():
        async with Phone(teacher, "classroom") as desk:
            if "Open a class" in desk.labels():
                await desk.click("Open a class")
        async with Phone(students, "classroom") as ada:
            await ada.click("Join")
            assert "Join" not in ada.labels()
        known = session.Class(max((home / "class").iterdir())).people
        word = list(known)[-1]
        async with Phone(students, "classroom") as other:

            async def says(said):
                keeper = next(one for one in other.kinds("bidi_component") if one.component_name == "svmlab_browser")
                await other.rerun(WidgetState(id=keeper.id, json_value=json.dumps(said)))
                return "Join" not in other.labels()

            forged = ["", "0" * 16, word[:-1], word.upper() + " ", [word], {word: word}, 5, None, known[word], "../"]
            for said in [{"said": one} for one in forged] + [[], "said", {"who": word}]:
                assert not await says(said), said
                assert not other.kinds("exception"), said
            assert await says({"said": word})
            await other.click("Join as somebody else")
            assert "Join" in other.labels()
        assert session.Class(max((home / "class").iterdir())).people == known

    visit(played())


def test_students_answer_and_the_board_follows(a_class):
    teacher, students, _, home = a_class

    async def played():
        async with Phone(teacher, "classroom") as board, Phone(students, "classroom") as ada, \
                Phone(students, "classroom") as bob:  # fmt: skip
            if "Open a class" in board.labels():
                await board.click("Open a class")
            for phone in (ada, bob):
                await phone.until(lambda one: "Join" in one.labels())
                await phone.rerun()
                await phone.click("Join")
            await board.click("Ask the class")
            for phone, at in ((ada, 0), (bob, 2)):
                await phone.until(lambda one: "Send" in one.labels())
                await phone.choose("Your prediction", at)
                await phone.click("Send")
            await board.until(lambda one: one.has("2 of"))
            assert not board.has("Correct:")
            assert not ada.has("Correct:")
            await board.click("Show the result")
            for phone in (board, ada, bob):
                await phone.until(lambda one: one.has("Correct:"))
            await board.rerun()
            assert board.has("Questions misjudged most")
            asked = session.Class(max((home / "class").iterdir())).asked
            await board.click("Next question")
            await board.until(lambda one: "Show the result" in one.labels())
            now = session.Class(max((home / "class").iterdir())).asked
            assert [one.question.lesson for one in now[len(asked) - 1 :]] == ["keeps.1", "keeps.2"]
            assert not board.has('class="votes"')  # the answers
            for phone in (ada, bob):
                await phone.until(lambda one: one.has(now[-1].question.text) and "Send" in one.labels())

    visit(played())
    folders = list((home / "class").iterdir())
    assert len(folders) >= 1
    assert {path.name for folder in folders for path in folder.iterdir()} <= {"board.jsonl", "people.jsonl"}
