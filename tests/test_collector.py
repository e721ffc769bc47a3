"""The garbage collector passes over what imports left behind, and over nothing else."""

import gc
import sys
import types

from pages.ui.kit import collector


def test_it_freezes_again_only_after_libraries_were_imported(monkeypatch):
    frozen = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(len(sys.modules)))
    monkeypatch.setattr(collector, "_modules", 0)
    collector.settle()
    collector.settle()
    assert len(frozen) == 1
    for i in range(collector.GROWN):
        monkeypatch.setitem(sys.modules, f"svmlab_imagined_{i}", types.ModuleType(f"svmlab_imagined_{i}"))
    collector.settle()
    collector.settle()
    assert len(frozen) == 2
