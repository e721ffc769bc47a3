"""Hostile query strings over all pages, drawn without a browser: never an exception, and a wrong value is said aloud.

A home with every kind of run stands behind them. An address has one to five parameters, known ones mostly, with values
that are good, hostile, or of another parameter. One wrong value alone, of a parameter that the page reads, must be said
on it (SAID).
"""

from __future__ import annotations

import re
import time

from svmcore.lab.recipe import FIELDS
from svmcore.lab.store import runs
from tests.bench.soak import ROOT, Budget, draw, fell, forks, homes, row, temporary_home
from tests.bench.soak.paged import PAGES, Visitor, broken
from tests.bench.soak.texts import characters, text

READ = re.compile(
    r"(?:param|note|binding|say)\(\s*\"(\w+)\"|query_params(?:\.get|\.get_all)?[\[(]\"(\w+)\"|key=\"(\w+)\""
)
SAID = [
    *(("train", name) for name in ("dataset", "C", "kernel", "n_train", "seed", "classes", "jitters", "method")),
    ("train", "preprocess"),
    ("datasets", "set"), ("datasets", "view"), ("errors", "digit"), ("support_vectors", "machine"),
    ("draw", "strokes"), ("draw", "pen"), ("scramble", "seed"), ("detect", "part"), ("runs", "run"),
    ("compare", "compare"),
]  # fmt: skip
WRONG = ("zzz", "-7", "<b>x</b>", "1e999", "own:nope", "\u202eabc")


def addresses(budget: Budget, seed: int) -> list[dict]:
    """One address a try."""
    with temporary_home() as template:
        forks.alone(homes.fill)
        names, failures, done, began = parameters(), [], 0, time.monotonic()
        run_ids, visitor = [run.id for run in runs.newest_first()], Visitor()
        work = lambda number: attempt(visitor, names, run_ids, seed, number)  # noqa: E731
        for number, said in forks.shared(work, budget.numbers()):
            done += 1
            if said:
                failures.append(fell("addresses", seed, number, said))
        each = round((time.monotonic() - began) / max(done, 1), 2)
        del template
    return [row(f"hostile addresses over {len(PAGES)} pages", done, failures, seconds_each=each)]


def parameters() -> list[str]:
    """Every parameter that a page may read, and every key that a widget may be bound by."""
    found = set(FIELDS)
    for path in (ROOT / "pages").rglob("*.py"):
        found |= {name for groups in READ.findall(path.read_text("utf-8")) for name in groups if name}
    return sorted(found)


def attempt(visitor: Visitor, names: list[str], run_ids: list[str], seed: int, number: int) -> str:
    """What fell over one address."""
    rng = draw(seed, number)
    if rng.random() < 0.15:
        page, name = SAID[rng.integers(len(SAID))]
        query = {name: str(rng.choice(WRONG))}
        if name in ("machine", "part"):
            query["run"] = run_ids[rng.integers(len(run_ids))]
        must_say = name not in ("n_train", "seed", "machine", "part", "classes") or query[name] in ("zzz", "<b>x</b>")
    else:
        page, query, must_say = PAGES[rng.integers(len(PAGES))], _query(names, run_ids, rng), False
    app = visitor.opened(page, **query)
    if fault := broken(app):
        return f"{page}?{query!r:.150}: {fault}"
    elsewhere = any(text.value.startswith("**This run") for text in app.markdown)  # it is for another page, and says so
    if must_say and not (elsewhere or app.warning or app.error or app.info or app.toast):
        return f"{page}?{query!r}: nothing is said"
    return ""


def _query(names: list[str], run_ids: list[str], rng) -> dict[str, str | list[str]]:
    query = {}
    for _ in range(rng.integers(1, 6)):
        name = names[rng.integers(len(names))] if rng.random() < 0.9 else text(rng) or "x"
        query[name] = [_value(run_ids, rng) for _ in range(2)] if rng.random() < 0.1 else _value(run_ids, rng)
    if rng.random() < 0.7:
        query["run"] = run_ids[rng.integers(len(run_ids))]
    return {_storable(name): value for name, value in query.items() if name not in ("embed", "embed_options")}


def _value(run_ids: list[str], rng) -> str:
    known = ["digits-8x8/train/3", "own:mine", "own:my-images", "own:my-images/test/5", "digits-8x8", "vsv", "box:1",
             "3", "true", "rbf:gamma=2",
             "bill", "orbit", "map", "remedy", "family", "1.5", "By class", *run_ids[:3]]  # fmt: skip
    if rng.random() < 0.3:
        return known[rng.integers(len(known))]
    return _storable(characters(rng) if rng.random() < 0.1 else text(rng))


def _storable(value: str) -> str:
    """As a browser would send it: no lone surrogates."""
    return value.encode("utf-8", "replace").decode()
