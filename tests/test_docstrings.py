"""The public names say what they take, give and raise as the field writes it (numpydoc), and their examples run."""

import doctest
import inspect

import numpydoc.validate as numpydoc

import svmcore
from tests.cases import all_cases

WANTED = {  # codes of numpydoc's validator: a docstring there, its parameters all told, in order, with types and words
    "GL05", "GL06", "GL07", "GL08", "GL10", "SS01", "SS02", "SS03", "PR01", "PR02", "PR03", "PR04", "PR05", "PR06",
    "PR07", "PR10", "RT01", "RT03", "RT05", "YD01",
}  # fmt: skip
ESTIMATORS = [name for name in svmcore.__all__ if inspect.isfunction(getattr(getattr(svmcore, name), "fit", None))]
SHOWN_ELSEWHERE = {"BudgetError", "Kernel", "Progress", "Snapshot"}  # nobody makes one by hand: they need no example


def complaints(name: str) -> list[tuple[str, str]]:
    found = numpydoc.validate(f"svmcore.{name}")["errors"]
    return [(code, said) for code, said in found if code in WANTED]


@all_cases("name", svmcore.__all__)
def test_a_public_name_is_told_in_full(name):
    assert complaints(name) == []
    assert name in SHOWN_ELSEWHERE or ">>> " in inspect.getdoc(getattr(svmcore, name))


@all_cases("name", ESTIMATORS)
def test_fit_is_told_in_full(name):
    assert complaints(f"{name}.fit") == []


@all_cases("name", svmcore.__all__)
def test_the_examples_run(name):
    known = getattr(svmcore, name)
    tests = doctest.DocTestFinder(recurse=False).find(known, name, globs={})
    results = [doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test) for test in tests]
    assert sum(result.failed for result in results) == 0
