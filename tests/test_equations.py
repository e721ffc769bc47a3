"""Every equation of the papers that the code computes stands at its function, by its number, in one line for grep.

    grep -rn "DeCoste and Schölkopf (2002), equation (4)" svmcore

An equation without a number is cited by its section, step, note or table. The copies of the papers that were at hand
lost the numbers of Osuna, Freund and Girosi (1997) and of Burges and Schölkopf (1997), whose sections are cited.
"""

import ast
import re
from functools import cache
from pathlib import Path

from tests.cases import all_cases

ROOT = Path(__file__).parent.parent / "svmcore"
DECOSTE, OSUNA = "DeCoste and Schölkopf (2002)", "Osuna, Freund and Girosi (1997)"
BURGES, BAKIR = "Burges and Schölkopf (1997)", "Bakir, Bottou and Weston (2004)"
SOURCE = re.compile(rf"(?:{'|'.join(map(re.escape, (DECOSTE, OSUNA, BURGES, BAKIR)))}), equation \((\d+)\)")

# paper, where in the paper, file of svmcore, function or class
PLACES = [
    (DECOSTE, "equation (1)", "methods/tangent.py", "TangentWhitened"),
    (DECOSTE, "equation (2)", "methods/tangent.py", "regulariser"),
    (DECOSTE, "equation (3)", "methods/tangent.py", "whitening"),
    (DECOSTE, "equation (4)", "methods/tangent.py", "tangent_covariance"),
    (DECOSTE, "equation (5)", "methods/tangent.py", "principal_tangents"),
    (DECOSTE, "section 3.1", "methods/tangent.py", "_damping"),
    (DECOSTE, "section 3.1", "methods/tangent.py", "TangentFeature"),
    (DECOSTE, "note 5", "methods/definite.py", "distances"),
    (DECOSTE, "section 3.3", "methods/definite.py", "examine"),
    (DECOSTE, "section 5.1, for USPS", "preprocess/arithmetic.py", "smooth"),
    (DECOSTE, "section 5.1.1", "preprocess/arithmetic.py", "unit_norm"),
    (DECOSTE, "section 5.1.1, experiment 2", "preprocess/upright.py", "deslant"),
    (DECOSTE, "section 5.2", "preprocess/arithmetic.py", "standardise"),
    (DECOSTE, "section 5.2", "preprocess/arithmetic.py", "crop"),
    (DECOSTE, "Table 2", "methods/local.py", "LocalPoly"),
    (DECOSTE, "Tables 2 and 3", "methods/tangent_neighbours.py", "TangentNeighbours"),
    (DECOSTE, "Tables 4, 5, 7 and 8", "metrics.py", "per_class_table"),
    (DECOSTE, "note 10", "metrics.py", "froc"),
    (DECOSTE, "section 3.2, step 1", "methods/virtual/stages.py", "Stages.first_stage"),
    (DECOSTE, "section 3.2, steps 2 and 3", "methods/virtual/stages.py", "Stages.virtual_stage"),
    (DECOSTE, "note 3", "methods/virtual/stages.py", "Stages.virtual_stage"),
    (BURGES, "section 3", "methods/virtual/stages.py", "Stages"),
    (BURGES, "section 4", "methods/reduced/expansion.py", "Expansion.rho2"),
    (BURGES, "section 5", "methods/reduced/threshold.py", "best_thresholds"),
    (BURGES, "section 5", "model.py", "multiply_adds"),
    (DECOSTE, "section 4", "solvers/smo.py", "dual_objective"),
    (BAKIR, "equation (3)", "solvers/smo.py", "dual_objective"),
    (OSUNA, "section 3.2.1", "solvers/smo.py", "kkt_gap"),
    (BAKIR, "section 2.1", "solvers/smo.py", "index_sets"),
    (OSUNA, "section 3.2.2", "solvers/decomposition/working_set.py", "working_set"),
    (OSUNA, "section 3.2.3", "solvers/decomposition/rounds.py", "Rounds._round"),
    (OSUNA, "section 3.2.2", "solvers/decomposition/settings.py", "Decomposition"),
    (OSUNA, "section 3.2.3, step 1", "solvers/decomposition/bounded.py", "_Machine._arbitrary"),
    (OSUNA, "section 3.2.1", "solvers/decomposition/bounded.py", "_Machine._price"),
    (OSUNA, "section 3.2.2", "solvers/decomposition/bounded.py", "_Machine._enter"),
    (OSUNA, "section 3.3", "solvers/decomposition/bounded.py", "_Machine._exchange"),
    (DECOSTE, "section 4.2", "solvers/digestion/passes.py", "_burst"),
    (DECOSTE, "section 4.2, rules 1 to 5", "solvers/digestion/rules.py", "_digest"),
    (BAKIR, "equation (2)", "model.py", "Machine.decision_values"),
    (DECOSTE, "section 4", "model.py", "labels"),
    (OSUNA, "section 2.5", "svc.py", "SVC._box"),
    (DECOSTE, "section 5.1.1", "kernels/plain.py", "Poly"),
    (DECOSTE, "section 3.3", "methods/jittering.py", "Jittered"),
    (DECOSTE, "section 3.3, step 1", "methods/jittering.py", "Jittered._nearest"),
    (DECOSTE, "section 3.3, step 2", "methods/jittering.py", "_keep_nearest"),
    (DECOSTE, "Table 10", "methods/jittering.py", "query_jittered"),
    (DECOSTE, "Figure 4", "jitter/sets.py", "JitterSet"),
    (DECOSTE, "section 5.2", "svc.py", "SVC._box"),
    (BAKIR, "Algorithm 3, step 1", "methods/editing/subsets.py", "draw_subsets"),
    (BAKIR, "Algorithm 3, step 1", "methods/editing/crossing.py", "Crossing.draw"),
    (BAKIR, "Algorithm 3, step 2", "methods/editing/crossing.py", "Crossing.train"),
    (BAKIR, "Algorithm 3, step 3", "methods/editing/crossing.py", "Crossing.judge"),
    (BAKIR, "Algorithm 3, steps 4 and 5", "methods/editing/crossing.py", "Crossing.discard"),
    (BAKIR, "Algorithm 3, step 6", "methods/editing/estimator.py", "CrossTrainingSVC._final"),
    (BAKIR, "section 4.3", "methods/editing/crossing.py", "threshold"),
    (BAKIR, "section 4.3", "methods/editing/crossing.py", "Crossing._reinsert"),
    (BAKIR, "section 4.3", "methods/editing/subsets.py", "validation_part"),
    (BAKIR, "Figure 4", "methods/editing/bagged.py", "bagged"),
    (BAKIR, "Algorithm 1", "methods/editing/neighbours.py", "condense"),
    (BAKIR, "Algorithm 2", "methods/editing/neighbours.py", "multiedit"),
    (BAKIR, "section 2.3", "methods/editing/neighbours.py", "edited_nn"),
    (BAKIR, "section 2.4", "methods/editing/trimmed.py", "trimmed"),
]


@cache
def source(file: str) -> tuple[list[str], dict[str, tuple[int, int]]]:
    """Lines of a file, and first and last line of each function and class by its name, Class.method for methods."""
    text = (ROOT / file).read_text(encoding="utf-8")
    spans = {}

    def visit(node, prefix):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                spans[prefix + child.name] = child.lineno, child.end_lineno
                visit(child, f"{prefix}{child.name}.")

    visit(ast.parse(text), "")
    return text.splitlines(), spans


@all_cases(("paper", "place", "file", "name"), PLACES, ids=lambda value: str(value))
def test_what_a_function_computes_stands_there(paper, place, file, name):
    lines, spans = source(file)
    first, last = spans[name]
    cited = re.compile(re.escape(f"{paper}, {place}") + r"(?![\w.]*\d)")
    assert any(cited.search(line) for line in lines[first - 1 : last]), f"{file}, {name}: say {paper}, {place}"


def test_every_equation_that_is_cited_is_listed():
    listed = {(file, f"{paper}, {place}") for paper, place, file, _ in PLACES}
    for path in ROOT.rglob("*.py"):
        file = path.relative_to(ROOT).as_posix()
        for found in SOURCE.finditer(path.read_text(encoding="utf-8")):
            assert (file, found.group()) in listed, f"{file} cites {found.group()}"


def test_an_author_has_one_spelling():
    without_umlaut = "Sch" + "oelkopf"
    for part in ("svmcore", "pages", "data"):
        for path in (ROOT.parent / part).rglob("*.*"):
            if path.suffix in (".py", ".toml", ".json", ".md"):
                assert without_umlaut not in path.read_text(encoding="utf-8"), path
