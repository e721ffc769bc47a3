"""What all compiled code here shares: a disk cache that is never stale, and min and max that vectorise.

Numba checks only the file that holds a kernel, so a kernel that calls another file's kernel would go stale when that
file is edited; one cache folder per state of the source cannot. And LLVM turns a running minimum into vector code only
when it is told that no NaN can occur, which Python's `min` has no way to say: `lesser` and `greater` say it, of two
numbers of one type. For the same passes, index by unsigned numbers, or slices from 0 (a stretch `part = f[s:e]`): with
other bounds the wrap-around of negative indices stays.

A first run waits for what it compiles: about 40 ms a function, 10 a slice or four elements, 100 for what NumPy's zeros,
any or sum bring along, a second for an assignment to a slice, whose error is put into words. So arrays come from the
caller, and loops write them.
"""

import gc
import hashlib
import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
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


def settle_cache() -> Path | None:
    """Point Numba at this source state's cache folder; returns it, or None where the disk refuses (JIT in memory)."""
    folder = home() / "numba" / _source_digest(Path(__file__).parent)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        others = [other for other in folder.parent.iterdir() if other.is_dir() and other != folder]
        for other in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)[KEEP:]:
            shutil.rmtree(other, ignore_errors=True)
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
from numba import config, njit, types  # noqa: E402
from numba.core import event  # noqa: E402
from numba.core.compiler_lock import global_compiler_lock  # noqa: E402
from numba.extending import intrinsic  # noqa: E402

if hasattr(os, "register_at_fork"):  # a child has no thread that would let go of the compiler: the fork waits for it
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )

# Python calls what is `native`, compiled code alone what is `inner`: it has no entry (a call from Python crashes), and
# there is less to compile.
native = partial(njit, cache=True, nogil=True, no_cfunc_wrapper=True)
inner = partial(njit, no_cfunc_wrapper=True, no_cpython_wrapper=True)

FAST = {"nnan", "nsz", "contract", "reassoc"}  # fastmath for passes over finite numbers


class _NoCollection(event.Listener):
    """No garbage is collected while a function is compiled: of the many objects that are made then most live, and to
    look through them and all others takes a seventh of the time. Events come one at a time, under Numba's lock."""

    def __init__(self):
        self.depth, self.collects = 0, True

    def on_start(self, event) -> None:
        if not self.depth:
            self.collects = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, event) -> None:
        if not self.depth:  # another listener has forbidden the compilation
            return
        self.depth -= 1
        if not self.depth and self.collects:
            gc.enable()


event.register("numba:compile", _NoCollection())


def instruction(function: Callable) -> Callable:
    """Decorate what writes LLVM's instructions (an intrinsic of Numba's) for a function, which stands where the JIT is
    off. Numba's own `overload` would compile a function for each."""
    return lambda generator: function if config.DISABLE_JIT else intrinsic(generator)


def _chosen(comparison: str, name: str):
    """Of two numbers of one type the one that the comparison prefers; floats by the instruction of that name."""

    def choose(typing_context, a, b):
        kind = typing_context.unify_types(a, b)

        def generate(context, builder, signature, args):
            a, b = args
            if isinstance(kind, types.Integer):
                compare = builder.icmp_signed if kind.signed else builder.icmp_unsigned
                return builder.select(compare(comparison, a, b), a, b)
            function = builder.module.declare_intrinsic(name, [a.type], ir.FunctionType(a.type, [a.type] * 2))
            return builder.call(function, args, fastmath=("nnan", "nsz"))

        return (kind(kind, kind), generate) if isinstance(kind, types.Integer) or kind == a == b else None

    return choose


lesser = instruction(lambda a, b: a if a < b else b)(_chosen("<", "llvm.minnum"))
greater = instruction(lambda a, b: a if a > b else b)(_chosen(">", "llvm.maxnum"))
