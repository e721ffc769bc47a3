"""The garbage collector passes over what imports left behind, and over nothing else."""

import gc
import sys
import threading
import tomllib
import types
from pathlib import Path

import pytest

from pages.ui.kit import collector

ROOT = Path(__file__).parents[1]


def test_it_freezes_again_only_after_libraries_were_imported(monkeypatch):
    frozen = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(len(sys.modules)))
    monkeypatch.setattr(collector, "_modules", 0)
    monkeypatch.setattr(collector, "_next", 0.0)
    collector.settle()
    collector.settle()
    assert len(frozen) == 1
    for i in range(collector.GROWN):
        monkeypatch.setitem(sys.modules, f"svmlab_imagined_{i}", types.ModuleType(f"svmlab_imagined_{i}"))
    collector.settle()
    collector.settle()
    assert len(frozen) == 2


def test_garbage_is_collected_now_and_then(monkeypatch):
    collected, now = [], [100.0]
    monkeypatch.setattr(gc, "collect", lambda: collected.append(now[0]))
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.setattr(collector.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(collector, "_modules", len(sys.modules))
    monkeypatch.setattr(collector, "_next", 0.0)
    for now[0] in (100.0, 101.0, 100.0 + collector.EVERY, 101.0 + collector.EVERY):
        collector.settle()
    assert collected == [100.0, 100.0 + collector.EVERY]
    assert not tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["runner"]["postScriptGC"]


def _arenas_mb():
    """What the C library keeps in this process's anonymous memory, in MB."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Anonymous:")) / 1024


@pytest.mark.skipif(sys.platform != "linux", reason="arenas are of glibc")
def test_what_threads_have_freed_is_handed_back_to_the_system(monkeypatch):
    monkeypatch.setattr(collector, "_next", 0.0)
    kept = []

    def work():
        blocks = [bytearray(50_000) for _ in range(2_000)]
        kept.append(blocks[::100])  # a few that stay, so that an arena cannot shrink from its end

    for _ in range(3):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    before = _arenas_mb()
    collector.settle()
    assert before - _arenas_mb() > 50
    assert len(kept) == 3
