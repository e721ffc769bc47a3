"""Many small cases in one test: a loop over modules or recipes that names every case that fails, not the first alone.

`pytest.mark.parametrize` makes a test of each, with its own fixtures and report: for 3,200 cases these took longer than
the checks. Use it where a case needs fixtures of its own, and `all_cases` where it needs none.
"""

import functools
import inspect
import traceback
from collections.abc import Callable, Iterable

import pytest


def all_cases(names: str | tuple[str, ...], values: Iterable, ids: Iterable | Callable | None = None) -> Callable:
    """Run a test once for all values, in turn, with the fixtures of one test; arguments as for `parametrize`.

    Fails with a line for each case that failed; a case that skips is left out, and if all do the test skips."""
    names = (names,) if isinstance(names, str) else names

    def decorate(test):
        @functools.wraps(test)
        def run_all(**fixtures):
            failures, skips = [], []
            for case, arguments in named(names, values, ids):
                try:
                    test(**fixtures, **arguments)
                except pytest.skip.Exception as skip:
                    skips.append(f"{case}: {skip}")
                except (Exception, pytest.fail.Exception) as error:
                    failures.append(f"{case}: {what_failed(error, test)}")
            assert not failures, f"{len(failures)} of {len(values)} cases fail:\n" + "\n".join(failures)
            if skips and len(skips) == len(values):
                pytest.skip("\n".join(skips))

        signature = inspect.signature(test)
        others = [parameter for name, parameter in signature.parameters.items() if name not in names]
        run_all.__signature__ = signature.replace(parameters=others)
        return run_all

    values = list(values)
    assert values, "no cases"
    return decorate


def named(names, values, ids):
    """Each case's title and arguments by name."""
    titles = map(ids, values) if callable(ids) else ids if ids is not None else map(str, values)
    for title, value in zip(titles, values, strict=True):
        yield title, dict(zip(names, (value,) if len(names) == 1 else value, strict=True))


def what_failed(error, test):
    """The error in words, after the line of the test at which it came up."""
    file = inspect.getsourcefile(inspect.unwrap(test))
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    said = str(error) or type(error).__name__
    return f"line {lines[-1]}: {said}" if lines else said
