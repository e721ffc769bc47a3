"""What all compiled code here shares: a disk cache that is never stale, and min and max that vectorise.

Numba checks only the file that holds a kernel, so a kernel that calls another file's kernel would go stale when that
file is edited; one cache folder per state of the source cannot. And LLVM turns a running minimum into vector code only
when it is told that no NaN can occur, which Python's `min` has no way to say: `lesser` and `greater` say it. For the
same passes, index by unsigned numbers, or slices from 0 (a stretch `part = f[s:e]`): with other bounds the wrap-around
of negative indices stays.
"""

import hashlib
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

ABOVE = ("lab", "__main__.py")  # level 5: holds no kernel, and no level that does imports it
KEEP = 3  # cache folders of other source states left for whoever still runs them


def _source_digest(root: Path) -> str:
    digest = hashlib.sha256(f"{sys.version}".encode())
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] in ABOVE:
            continue
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def home() -> Path:
    if folder := os.environ.get("SVMLAB_HOME"):
        return Path(folder).expanduser()
    try:
        import pooch
    except ImportError:  # the library alone, which needs no downloads
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "svmlab"
    return Path(pooch.os_cache("svmlab"))


def _prune(parent: Path, current: Path) -> None:
    others = [folder for folder in parent.iterdir() if folder.is_dir() and folder != current]
    for folder in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)[KEEP:]:
        shutil.rmtree(folder, ignore_errors=True)


def settle_cache() -> Path | None:
    """Point Numba at this source state's cache folder; returns it, or None where the disk refuses (JIT in memory)."""
    folder = home() / "numba" / _source_digest(Path(__file__).parent)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        _prune(folder.parent, folder)
    except OSError:
        return None
    os.environ["NUMBA_CACHE_DIR"] = str(folder)  # the variable: any later change of a NUMBA_ one re-reads them all
    import numba

    numba.config.CACHE_DIR = str(folder)
    return folder


settle_cache()

# Numba imports these at its first compilation, and they add types to a dictionary that other threads may be reading
# then ("dictionary changed size during iteration"): so before there are other threads.
import numba.core.ccallback  # noqa: E402
import numba.experimental.function_type  # noqa: E402, F401
from llvmlite import ir  # noqa: E402  (Numba and LLVM read their settings when they are first imported)
from numba import types  # noqa: E402
from numba.core.compiler_lock import global_compiler_lock  # noqa: E402
from numba.extending import intrinsic, overload  # noqa: E402

if hasattr(os, "register_at_fork"):  # a child has no thread that would let go of the compiler: the fork waits for it
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )

FAST = {"nnan", "nsz", "contract", "reassoc"}  # fastmath for passes over finite numbers


def lesser(a, b):
    """min(a, b) of two floats of one type, neither NaN."""
    return a if a < b else b


def greater(a, b):
    """max(a, b) of two floats of one type, neither NaN."""
    return a if a > b else b


def _as_instruction(function: Callable, name: str) -> None:
    """Let compiled code make one instruction of LLVM's of a function of two floats."""

    @intrinsic
    def call(typing_context, a, b):
        def generate(context, builder, signature, args):
            kind = args[0].type
            function = builder.module.declare_intrinsic(name, [kind], ir.FunctionType(kind, [kind, kind]))
            return builder.call(function, args, fastmath=("nnan", "nsz"))

        return a(a, a), generate

    @overload(function)
    def compiled(a, b):
        return (lambda a, b: call(a, b)) if isinstance(a, types.Float) and a == b else None


_as_instruction(lesser, "llvm.minnum")
_as_instruction(greater, "llvm.maxnum")
