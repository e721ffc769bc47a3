"""The arrows of the layout, read from the source: who may import whom, and what no file may do.

    app -> pages -> { svmcore.lab -> svmcore levels 0-4, data } -> numpy, numba, scipy, ...

Inside svmcore a file imports files of lower levels, and of its own level only without a cycle.
"""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.cases import all_cases

ROOT = Path(__file__).parent.parent
PACKAGES = ("app", "pages", "data", "svmcore")
SCREEN = {"streamlit", "plotly"}
LEVELS = {
    "_jit": 0,
    "allowed": 0,
    "files": 0,
    "memory": 0,
    "rows": 0,
    "kernels": 0,
    "jitter": 0,
    "preprocess": 0,
    "metrics": 0,
    "gram": 1,
    "solvers": 2,
    "svc": 3,
    "nu": 3,
    "estimator": 3,
    "model": 3,
    "saved": 3,
    "exchange": 3,
    "source": 3,
    "methods": 4,
    "explain": 4,
    "detection": 4,
    "lab": 5,
    "__main__": 5,
}


def sources():
    """Dotted module name -> path, for every Python file outside the tests."""
    files = [ROOT / "app.py", *(f for p in PACKAGES for f in sorted((ROOT / p).rglob("*.py")))]
    names = {}
    for path in filter(Path.exists, files):
        parts = path.relative_to(ROOT).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


MODULES = sources()


@cache
def tree(name):
    """The parsed source of a module, when a test asks for it: whoever only collects the tests need not wait for it."""
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


@cache
def imports(name):
    """Dotted names that a module imports anywhere in its body; project modules to the file, others to the package."""
    found = set()
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, base] if base else parents)
            inner = {f"{base}.{alias.name}" for alias in node.names} & MODULES.keys()
            found |= inner
            if not inner or len(inner) < len(node.names):
                found.add(base)
    return found


def top(module):
    return module.partition(".")[0]


def level(module):
    """Level of a module of svmcore; the package itself hands out names of every level up to 4."""
    if module == "svmcore":
        return 4
    part = module.split(".")[1]
    assert part in LEVELS, f"{module}: give svmcore/{part} its level in LEVELS"
    return LEVELS[part]


CORE = sorted(m for m in MODULES if top(m) == "svmcore")


@all_cases("module", sorted(MODULES))
def test_only_app_and_pages_know_the_screen(module):
    if top(module) not in ("app", "pages"):
        assert not {top(i) for i in imports(module)} & SCREEN


@all_cases("module", [m for m in MODULES if top(m) == "data"])
def test_data_imports_nothing_of_the_project(module):
    assert not {top(i) for i in imports(module)} & {"app", "pages", "svmcore"}


@all_cases("module", CORE)
def test_svmcore_imports_only_downwards(module):
    seen = imports(module)
    assert not {top(i) for i in seen} & {"app", "pages"}
    for other in seen & set(CORE) - {"svmcore"}:
        assert level(other) <= level(module), f"{module} (level {level(module)}) imports {other} (level {level(other)})"
    if level(module) < 5:
        assert "data" not in {top(i) for i in seen}


@pytest.mark.parametrize("package", ["svmcore", "data"])
def test_no_import_cycles(package):
    """Imports for type hints alone count too: a circle of ideas is one, whenever it is run."""
    own = {m for m in MODULES if top(m) == package}
    graph = {m: {i for i in imports(m) & own if not m.startswith(f"{i}.")} for m in own}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' -> '.join(error.args[1])}")


@all_cases("module", sorted(MODULES))
def test_no_pickle_and_no_sleeping(module):
    assert not {top(i) for i in imports(module)} & {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal"}
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            assert getattr(node.value, "value", None) is False, f"{module}:{node.value.lineno} allows pickle"
        if isinstance(node, ast.Attribute) and node.attr == "sleep":
            pytest.fail(f"{module}:{node.lineno} sleeps; wait on an event instead")


def test_no_machine_paths():
    texts = [*MODULES.values(), *(ROOT / "tests").rglob("*.py"), *ROOT.glob("*.toml"), *ROOT.glob("*.md")]
    texts += [ROOT / ".ci" / "run", *(ROOT / ".streamlit").glob("*")]
    machine = re.compile(r"(?<![\w./~-])/(?:work|root|home|tmp|Users|mnt|opt)/\w")
    for path in filter(Path.is_file, texts):
        hit = machine.search(path.read_text(encoding="utf-8"))
        assert hit is None, f"{path.relative_to(ROOT)} names a folder of one machine: {hit.group()}"


LAB = (
    *("costs", "fields", "solvers", "split", "method", "reducing", "methods", "problem", "task", "finder"),
    *(
        "finders",
        "tasks",
        "recipe",
        "store",
        "meter",
        "priority",
        "train",
        "forecast",
        "analyses",
        "presets",
        "warm",
        "papers",
    ),
    "jobs",
)
ROOMS = ("kit", "figures", "recipe", "example", "why", "run", "compare", "reduction", "play", "studies", "views")
PAGES = {path.stem for path in (ROOT / "pages").glob("*.py")}
TABS = {
    "photograph": "detect",
    "jitters": "datasets",
    "classroom": "lessons",
    "notes": "lessons",
}  # a page whose subject is another's


@pytest.mark.parametrize(("house", "order"), [("svmcore.lab", LAB), ("pages.ui", ROOMS)])
def test_rooms_import_one_way(house, order):
    """A folder of lab/ and of pages/ui/ imports itself and those that stand before it."""
    for module in (m for m in MODULES if m.startswith(f"{house}.")):
        room = module[len(house) + 1 :].partition(".")[0]
        later = {f"{house}.{other}" for other in order[order.index(room) + 1 :]}
        up = {i for i in imports(module) if any(i == other or i.startswith(f"{other}.") for other in later)}
        assert not up, f"{module} imports {', '.join(sorted(up))}, which stands above it"


def page_of(module):
    """The page whose folder, or whose file, a module is; None where it belongs to several."""
    house, _, rest = module.partition(".")
    page = rest.partition(".")[0]
    return TABS.get(page, page) if house == "pages" and page in PAGES else None


def test_a_folder_of_a_page_is_its_own():
    """What several pages use is in pages/ui, which uses no page; app.py may use any."""
    for module in (m for m in MODULES if top(m) == "pages"):
        others = {page_of(i) for i in imports(module)} - {None, page_of(module)}
        assert not others, f"{module} imports what belongs to {', '.join(sorted(others))}"


def test_pages_ui_holds_what_several_pages_use():
    """Following imports from each page; what app.py uses is every page's."""
    users = {}
    for root in ("app", *(m for m in MODULES if page_of(m))):
        seen, left = set(), [root]
        while left:
            new = imports(left.pop()) & MODULES.keys() - seen
            seen |= new
            left += new
        for module in seen:
            users.setdefault(module, set()).add(page_of(root))
    for module, pages in users.items():
        if module.startswith("pages.ui.") and MODULES[module].name != "__init__.py" and None not in pages:
            assert len(pages) > 1, f"{module} is used by {', '.join(pages)} alone: it belongs to its folder"


def assigned(node):
    """Names that the methods of a class set on `self`, and those that its head declares."""
    own = {a for a in ast.walk(node) if isinstance(a, ast.Attribute) and getattr(a.value, "id", "") == "self"}
    declared = {s.target.id for s in node.body if isinstance(s, ast.AnnAssign)}
    declared |= {t.id for s in node.body if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)}
    declared |= {s.name for s in node.body if isinstance(s, ast.FunctionDef)}
    written = {a.attr for a in own if isinstance(a.ctx, ast.Store)}
    return written - declared, {a.attr for a in own} - written - declared


@cache
def classes():
    """(module, name) -> the parsed class, of svmcore."""
    found = ((module, node) for module in CORE for node in ast.walk(tree(module)) if isinstance(node, ast.ClassDef))
    return {(module, node.name): node for module, node in found}


ESTIMATORS = {"MachineEstimator", "SVC"}  # whose attributes are public, and told in full where scikit-learn looks


@all_cases("module", [m for m in CORE if level(m) < 5])
def test_no_class_shares_attributes_with_a_base_in_another_file(module):
    """A base elsewhere declares what it is made of: else one object is cut over files, each reading what others set."""
    for node in (node for (where, _), node in classes().items() if where == module):
        for name in {base.id for base in node.bases if isinstance(base, ast.Name)} - ESTIMATORS:
            for base in (base for (where, called), base in classes().items() if called == name and where != module):
                shared = assigned(base)[0] & assigned(node)[1]
                assert not shared, f"{module}.{node.name} reads {sorted(shared)}, which {name} sets in another file"


def test_functions_for_compiled_code_alone_are_called_by_nothing_else():
    """They have no entry from Python: a call would end the process."""
    texts = {path: path.read_text(encoding="utf-8") for path in (*MODULES.values(), *ROOT.glob("tests/*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items() if "@inner(" in text}
    at = {path: name for name, path in MODULES.items()}
    inner = {(at[path], node.name) for path, tree in trees.items() for node in tree.body if _decorated(node, "inner")}
    assert len(inner) > 20
    named = re.compile(rf"\b({'|'.join(name for _, name in inner)})\b")
    for path in (path for path, text in texts.items() if named.search(text)):
        tree = trees.get(path) or ast.parse(texts[path])
        compiled = [node for node in tree.body if _decorated(node, "native", "inner")]
        known = {node.name: (at[path], node.name) for node in compiled}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                known |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
        for node in (node for part in tree.body if part not in compiled for node in ast.walk(part)):
            called = known.get(node.id) if isinstance(node, ast.Name) else None
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                called = ".".join(known.get(node.value.id, (node.value.id,))), node.attr
            assert called not in inner, f"{path.name}, line {node.lineno}: {called}"


def _decorated(node, *names) -> bool:
    calls = getattr(node, "decorator_list", ())
    return any(isinstance(call, ast.Call) and getattr(call.func, "id", None) in names for call in calls)
