"""The garbage collector passes over what imports left behind, and over nothing else."""

import gc
import sys
import tomllib
import types
from pathlib import Path

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
