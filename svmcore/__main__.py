"""Command line: `python -m svmcore recipes | tables | fields | warm`, `run NAME [--set FIELD=VALUE ...] [--json]`,
`go-on RUN`, `sweep NAME FIELD VALUE [VALUE ...]`, `why RUN`, `suspects NAME_OR_RUN`, `asking NAME`, and `export RUN
FILE`.

NAME is a recipe; or a table, whose recipes are run where the store has no run of them yet, and which is then printed
beside the published figures; or a study of many runs: `osuna-scaling` (with --set its largest run alone),
`xtrain-fig1`, `xtrain-fig3`, `xtrain-fig4`, `xtrain-settings`. Figures go to stdout, progress to stderr. With --json
the last line of stdout is one JSON object, of a study a list. Exit status: 0 done, 1 failed, 2 a recipe that cannot be,
130 stopped by Ctrl-C (143 by SIGTERM, 129 where the terminal was closed), after the run was cancelled cleanly.
"""

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path

import svmcore.lab  # noqa: F401  (first: it says what it lacks)
from data import load
from data.signals import end_by_signals
from svmcore import files
from svmcore.lab import jobs
from svmcore.lab.analyses import asking, reasons, repeats, scaling, splits, suspects
from svmcore.lab.analyses.amounts import curves, sentences
from svmcore.lab.analyses.rivals import RIVALS, measure
from svmcore.lab.analyses.sweep import (
    AMOUNT,
    BY,
    RULE,
    Sweep,
    above_lowest,
    apart_text,
    chosen,
    judged,
    ordered,
    simplest,
)
from svmcore.lab.forecast import estimate, seconds_of
from svmcore.lab.jobs import console, sweeping
from svmcore.lab.jobs.cluster import CLUSTER, VARIABLE
from svmcore.lab.jobs.console import carry_out, summary
from svmcore.lab.meter import Compiling
from svmcore.lab.methods import METHODS
from svmcore.lab.papers import TABLES, fill, text
from svmcore.lab.presets import LISTED, RECIPES, named, osuna, xtrain
from svmcore.lab.recipe import FIELDS, Recipe, RecipeError
from svmcore.lab.solvers import SOLVERS
from svmcore.lab.store import reading, runs, titles
from svmcore.lab.store.runs import Run
from svmcore.lab.tasks import TASKS
from svmcore.lab.warm import warm_up
from svmcore.metrics import rate_text
from svmcore.preprocess import STEPS, usage

FORMS = {  # ending of a file -> what it holds, from a run
    ".onnx": ("the machine for onnxruntime", Run.export_onnx),
    ".npz": ("the machine for svmcore.load", lambda run: (run.path / "model.npz").read_bytes()),
    ".py": ("a script that repeats the run", lambda run: run.export_snippet().encode()),
    ".zip": ("the training examples and a script that trains on them with scikit-learn only", Run.export_pipeline),
}


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    options = _parser().parse_args(arguments)
    end_by_signals()
    try:
        if getattr(options, "cluster", None):
            CLUSTER.use(options.cluster)
        return options.do(options)
    except (ValueError, OSError, ImportError, runs.UnknownRun) as error:
        way = f". Add --set {error.field}={error.fitting}" if getattr(error, "fitting", None) else ""
        print(f"svmcore: {error}{way}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as stop:
        end_by_signals(lambda number, frame: os._exit(128 + number))  # who asks again will not wait
        jobs.cancel(*(stopped := jobs.active()))
        print(*(f"\nrun {run_id} cancelled" for run_id in stopped), "\nstopped", sep="", file=sys.stderr)
        return 128 + (stop.args or (signal.SIGINT,))[0]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m svmcore", description="Train and test support vector machines.")
    commands = parser.add_subparsers(dest="command", required=True)
    change = argparse.ArgumentParser(add_help=False)
    help = ("change a field, such as C=5, n_train=1000, classes=3,8, preprocess=deslant,unit-norm, "
            "kernel=rbf:gamma=0.02, kernel.degree=5 or method=vsv; the command `fields` lists all fields")  # fmt: skip
    change.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help=help)
    help = f"train on the workers of this dask scheduler (default: the value of {VARIABLE}, if it is set)"
    change.add_argument("--cluster", metavar="tcp://HOST:PORT", help=help)

    def command(name: str, does: Callable, help: str, as_json: str = "", changes: bool = False) -> Callable:
        """Add a command; returns what adds an argument to it. as_json: what --json prints; changes: takes --set."""
        made = commands.add_parser(name, parents=[change] if changes else [], help=help)
        made.set_defaults(do=does)
        if as_json:
            made.add_argument("--json", action="store_true", help=as_json)
        return made.add_argument

    figures = "print the results as one JSON object on the last line of stdout; error_rate and interval are fractions"
    run_id = {"metavar": "RUN", "help": "the id of the run, as printed by `run`"}
    of_list = {"metavar": "NAME", "help": "a name listed by `recipes`"}
    command("recipes", lambda options: _list(LISTED, options.json), "list the named recipes",
            "print one JSON object that maps each name to its recipe")  # fmt: skip
    command("tables", lambda options: _list(TABLES, options.json), "list the tables of the papers",
            "print one JSON object that maps each name to the names of its recipes")  # fmt: skip
    help = "list the fields that --set can change: of every recipe, then of each step, task, method and solver"
    command("fields", _fields, help)
    add = command("run", _run, "run a recipe, or the missing runs of a table, and store the results", figures, True)
    add("name", metavar="NAME", help="a name listed by `recipes` or `tables`")
    help = "number of runs, each with another seed (1); for several runs --json prints a list"
    add("--repeats", type=int, default=1, help=help)
    help = "continue an interrupted run from its checkpoint (only runs with draws have one)"
    add = command("go-on", _go_on, help, figures)
    add("run", **run_id)
    add = command("sweep", _sweep, "cross-validate a recipe over the values of one field",
                  "print one JSON list on the last line of stdout", True)  # fmt: skip
    add("name", **of_list)
    add("field", metavar="FIELD", help="the field to vary: C, jitters, kernel, kernel.degree, ...")
    add("values", metavar="VALUE", nargs="+", help="a value, written as in --set FIELD=VALUE")
    help = "a second field and its values; every pair of values is tried"
    add("--and", dest="second", metavar=("FIELD", "VALUE"), nargs="+", help=help)
    add("--folds", type=int, default=5, help="number of cross-validation folds (5)")
    help = ("number of steps of successive halving (1: all values on all examples). The first step tries all values on "
            "few examples. Each further step tries the best third on three times as many.")  # fmt: skip
    add("--halving", type=int, default=1, metavar="STEPS", help=help)
    add = command("why", _why, "list, as CSV, the training examples that contribute most to a prediction")
    add("run", **run_id)
    add("--example", type=int, help="position of a test example in the dataset (default: the first error)")
    add("--most", type=int, default=8, help="number of training examples for each machine (8)")
    add = command("suspects", _suspects, "list likely label errors as CSV", changes=True)
    add("name", metavar="NAME", help="a recipe, which is then run with cross-validation folds, or the id of a run")
    add("--way", choices=suspects.WAYS, help="method of detection (default: the best available for the run)")
    add("--most", type=int, default=100, help="number of labels to list, the most likely errors first (100)")
    help = "simulate active learning: how many labels each query strategy needs to reach a target error rate"
    add = command("asking", _asking, help, "print one JSON object on the last line of stdout", True)
    add("name", **of_list)
    add("--target", type=float, default=asking.TARGET, help="target test error rate (0.05)")
    for name, usual, help in (
        ("known", asking.KNOWN, "number of labels at the start"),
        ("batch", asking.BATCH, "number of labels per step"),
        ("most", asking.MOST, "largest number of labels"),
        ("seeds", asking.SEEDS, "number of repetitions with different examples"),
    ):
        add(f"--{name}", type=int, default=usual, help=f"{help} ({usual})")
    command("warm", _warm, "compile all code in advance, for a package or a container image")
    add = command("export", _export, "export a finished run")
    add("run", **run_id)
    add("file", metavar="FILE", help=", ".join(f"*{end}: {what}" for end, (what, _) in FORMS.items()))
    return parser


def _list(named: dict, as_json: bool) -> int:
    if as_json:
        described = {name: v.to_dict() if isinstance(v, Recipe) else v.recipes for name, v in named.items()}
        print(json.dumps(described))
        return 0
    width = max(map(len, named))
    for name, value in named.items():
        print(f"{name:{width}}  {value.title}")
    return 0


def _fields(options: argparse.Namespace) -> int:
    """Fields in the order of a recipe, then those of each preprocessing step, task, method and solver."""
    print("Every recipe")
    _describe(FIELDS.values())
    for name, step in STEPS.items():
        print(f"\npreprocess={usage(name)}  {step.title}. {step.help}")
        for own in step.parameters:
            print(f"  {own.name:14} {own.label}, {own.low:g} to {own.high:.10g} [{own.default:g}]")
    for name, task in TASKS.items():
        print(f"\ntask={name}  {task.title}.")
        _describe(task.fields)
    for name, method in METHODS.items():
        print(f"\nmethod={name}  {method.title}. {method.help}")
        _describe(method.fields)
    for name, solver in SOLVERS.items():
        print(f"\nsolver={name}  {solver.help}")
        _describe(solver.fields)
    return 0


def _describe(fields) -> None:
    for field in fields:
        words = ", ".join(field.kind.choices)
        print(f"  {field.name:14} {field.help} {f'One of {words}. ' if words else ''}[{field.show(field.default)}]")


def _warm(options: argparse.Namespace) -> int:
    with Compiling() as compiling:
        warm_up()
    where = os.environ.get("NUMBA_CACHE_DIR", "memory only")
    print(f"Compiled in {compiling.seconds:.1f} s. The compiled code is stored in {where}.")
    return 0


def _run(options: argparse.Namespace) -> int:
    """A study of many runs, a table, or a recipe."""
    if options.name == osuna.NAME and not options.set:
        study = osuna.study()
        return _run_study(options, study.recipes, study.group, scaling)
    if options.name in xtrain.STUDIES:
        return _run_study(options, xtrain.study(options.name), xtrain.group(options.name), splits)
    return _run_table(options) if options.name in TABLES else _run_recipe(options)


def _run_recipe(options: argparse.Namespace) -> int:
    recipe, results = _changed(_named(options.name), options.set), []
    if not 1 <= options.repeats <= repeats.MAX_REPEATS:
        raise RecipeError("--repeats", options.repeats, f"1 to {repeats.MAX_REPEATS}")
    for run_id, status in carry_out(*repeats.repeated(recipe, options.repeats)):
        if status:
            return status
        results.append({"run": run_id} | runs.get(run_id).result)
        if not options.json:
            print(summary(results[-1]))
    if options.json:
        print(json.dumps(results if options.repeats > 1 else results[0]))
    return 0


def _go_on(options: argparse.Namespace) -> int:
    ((run_id, status),) = carry_out([runs.get(options.run).recipe], broken_off=options.run)
    if not status:
        result = {"run": run_id} | runs.get(run_id).result
        print(json.dumps(result) if options.json else summary(result))
    return status


def _sweep(options: argparse.Namespace) -> int:
    recipe = _changed(_named(options.name), options.set).replace(folds=options.folds)
    second, *seconds = options.second or [""]
    if second and not seconds:
        raise RecipeError("--and", second, "a field and its values")
    whole = Sweep(recipe, options.field, ordered(options.values), second, ordered(seconds), options.halving)
    if why := sweeping.carry_out(whole, wait=console.follow):
        print(why, file=sys.stderr)
        return 1
    points = whole.points()
    last = [point for point in points if point.n_test is not None]
    best = chosen({point.value: point.validation[0] for point in last})
    if options.json:
        print(json.dumps([point._asdict() | {"chosen": point.value == best} for point in points]))
        return 0
    answered = {value: judged(run) for value, (_, run) in whole.done().items()}
    above = {value: apart_text(*one) for value, one in above_lowest(best, answered).items()}
    over = BY.join([options.field, *([second] if second else [])])
    width = max(map(len, [over, *(point.value for point in points)]))
    print(f"{over:{width}}  validation error      test error            SVs      points above the best (95 %)")
    for point in points:
        rate, *interval = point.validation
        left = f"dropped (n = {point.n_train:,})" if point.n_test is None else rate_text(point.test[0], point.test[1:])
        more = above.get(point.value, "")
        print(f"{point.value:{width}}  {rate_text(rate, interval):20}  {left:20}  {point.n_sv:<7.0f}  {more}")
    if whole.of_amounts:
        checks = {point.value: (sum(point.fold_errors), point.n_train) for point in points}
        other = second if options.field == AMOUNT else options.field
        print("\n".join(sentences(curves(whole, checks), checks, other)))
        return 0
    print(f"chosen: {over} = {best} ({RULE})")
    plain = simplest({p.value: p.fold_errors for p in last}, {p.value: p.n_train for p in last})
    print(f"simplest within one standard error of the lowest: {over} = {plain}")
    return 0


def _export(options: argparse.Namespace) -> int:
    """One of FORMS, written whole or not at all."""
    run, path = runs.get(options.run), Path(options.file)
    if path.suffix not in FORMS:
        raise RecipeError("FILE", options.file, ", ".join(f"*{end} ({what})" for end, (what, _) in FORMS.items()))
    if run.state != "done":
        raise RecipeError("RUN", f"{run.id}, {run.state}", "a finished run")
    content = FORMS[path.suffix][1](run)
    files.write(path, lambda file: file.write(content))
    print(f"{path}: {len(content):,} bytes")
    return 0


def _why(options: argparse.Namespace) -> int:
    if options.most < 1:
        raise RecipeError("--most", options.most, "1 or more")
    found = reasons.reasons(runs.get(options.run), options.example, options.most)
    file = f" ({found.file})" if found.file else ""
    print(f"{found.split} example {found.index}{file}: true {found.true}, predicted {found.predicted}", file=sys.stderr)
    print(found.table(), end="")
    return 0


def _suspects(options: argparse.Namespace) -> int:
    if options.most < 1:
        raise RecipeError("--most", options.most, "1 or more")
    run_id = options.name
    if reading.created(run_id) is None:
        [(run_id, status)] = carry_out([suspects.searched(_changed(_named(run_id), options.set))])
        if status:
            return status
    elif options.set:
        raise RecipeError("--set", options.set[0], "no changes, because this run is already stored")
    try:
        run = runs.get(run_id)
    except runs.UnknownRun as error:
        raise ValueError(str(error)) from None
    if run.state != "done":
        raise ValueError(f"the state of run {run_id} is {run.state}; allowed: done")
    result = suspects.suspects(run, options.way or (*suspects.ways(run), "folds")[0])
    if result.rate is not None:
        print(f"run {run_id}: about {100 * result.rate:.1f} % of the labels are wrong", file=sys.stderr)
    print(suspects.table(result.first(options.most), load(run.recipe.dataset)), end="")
    return 0


def _asking(options: argparse.Namespace) -> int:
    recipe = _changed(_named(options.name), options.set)
    tell = lambda result: print(f"{100 * result.share:.0f} % done", file=sys.stderr, flush=True)  # noqa: E731
    settings = {name: getattr(options, name) for name in ("known", "batch", "most", "seeds", "target")}
    result = asking.study(recipe, estimate(recipe).require().cache_mb, publish=tell, **settings)
    print(json.dumps(asking.figures(result)) if options.json else asking.text(result))
    return 0


def _run_table(options: argparse.Namespace) -> int:
    if options.set:
        raise ValueError(
            f"--set cannot be used with a table; allowed: one of its recipes, {', '.join(TABLES[options.name].recipes)}"
        )
    filled = fill(TABLES[options.name])
    print(f"{options.name}: {len(filled.missing)} runs missing, estimated time {filled.seconds:.0f} s", file=sys.stderr)
    lacking = [recipe for recipes in filled.lacking.values() for recipe in recipes]
    for _, status in carry_out(lacking, filled.table.group):
        if status:
            return status
    for name in filled.unmeasured:
        print(RIVALS[name].title, file=sys.stderr)
        measure(name)
    filled = fill(TABLES[options.name])
    print(json.dumps(filled.to_dict()) if options.json else text(filled))
    return 0


def _run_study(options: argparse.Namespace, recipes, group: runs.Group, study) -> int:
    """The runs of a study that the store does not have, then what all come to; told: a module with `points`, `text`."""
    if options.set:
        raise ValueError(f"--set cannot be used with a study; allowed: run {options.name} without --set")
    missing = [recipe for recipe, run in zip(recipes, runs.stored(recipes, finished=True), strict=True) if run is None]
    seconds = seconds_of(missing)
    print(f"{options.name}: {len(missing)} runs missing, estimated time {seconds:.0f} s", file=sys.stderr)
    for _, status in carry_out(missing, group):
        if status:
            return status
    points = study.points(run for run in runs.stored(recipes, finished=True) if run is not None)
    print(json.dumps([point._asdict() for point in points]) if options.json else study.text(points))
    return 0


def _named(name: str) -> Recipe:
    if name not in RECIPES:
        near = get_close_matches(name, [*RECIPES, *TABLES, *xtrain.STUDIES], n=5)
        raise RecipeError("NAME", name, ", ".join([*near, "any name listed by `recipes` or `tables`"]))
    return RECIPES[name]


def _changed(recipe: Recipe, changes: list[str]) -> Recipe:
    texts = {}
    for change in changes:
        field, equals, text = change.partition("=")
        if not equals:
            raise RecipeError("--set", change, "FIELD=VALUE")
        texts[field] = text
    changed = recipe.with_texts(texts)
    title = texts.get("title") or named(changed, titles.of_recipe(changed)).title
    return changed.replace(title=title) if texts else recipe


if __name__ == "__main__":
    status = main()
    if status >= 128:  # its threads may be in the compiler, which must not be taken down beneath them
        sys.stdout.flush()
        os._exit(status)
    sys.exit(status)
