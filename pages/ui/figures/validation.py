"""Errors against the values of one field, on held-out folds of the training set and on the test set beside it; and
along the path of a search over invariances."""

from collections.abc import Sequence
from itertools import cycle

import numpy as np
import plotly.graph_objects as go

from pages.ui.figures.frame import bare, worded
from pages.ui.figures.traces import dots, intervals, line
from pages.ui.figures.traces import names as label_lines
from pages.ui.kit.palette import BLUE, CLASS_COLOURS, CLASS_SYMBOLS, FAINT, GREY, INK, ORANGE
from pages.ui.kit.text import in_figure, many
from svmcore.lab.analyses import amounts
from svmcore.lab.analyses.scaling import exponent
from svmcore.lab.analyses.sweep import AMOUNT, BY, RULE, Sweep, chosen, simplest, standard_error
from svmcore.lab.meter import training_seconds
from svmcore.methods.virtual.search import Search, Tried
from svmcore.metrics import rate_text, wilson

LOGARITHMIC = ("C", "kernel.gamma")
REACH = 5  # per cent points at which the colours of a map end
MANY = 150  # cells of a map in which numbers have room
TICK = 14  # characters of a value below the axis
BOUNDS = {  # of a result -> what it is called; they take colours after those of both errors
    "leave_one_out": "leave-one-out",
    "span": "span",
    "xi_alpha": "xi-alpha",
    "radius_margin": "radius and margin",
    "vc": "VC bound",
}
BY_TESTS = "the test set"  # a way to choose that a map shows only when asked for
ROW = 19  # pixels of one set
LONGEST = 28  # characters of a name beside the axis


def sweep_chart(field: str, name: str, points: Sequence[tuple[str, dict]], of: int = 0) -> go.Figure:
    """Error rates by value with their 95 % intervals; points: (value, result of a run with folds), in their order.

    of: how many values there will be; the choice is marked when all are there, or nothing is said of more.
    """
    figure = bare(name, "wrong, %", margin_r=80, height=320)
    values = [value for value, _ in points]
    texts = not all(map(numerical, values))
    at = values if texts else [float(value) for value in values]
    lines = (
        ("test", [result for _, result in points], ORANGE, 1.5),
        ("validation", [result["validation"] for _, result in points], BLUE, 2.5),
    )
    for label, results, colour, width in lines:
        told = f"%{{customdata[2]}}, {label}: %{{customdata[0]:,}} of %{{customdata[1]:,}}, %{{y:.2f}} %"
        counts = [(r["errors"], r["n_test"], in_figure(value)) for value, r in zip(values, results)]
        how = {"width": width, "points": True, "error_y": intervals(results, thickness=1), "customdata": counts}
        rates = [100 * r["error_rate"] for r in results]
        line(figure, at, rates, colour, told, **how)
    if bounded(points):
        _bounds(figure, at, values, points)
    else:
        ends = {"validation": (points[-1][1]["validation"], BLUE), "test": (points[-1][1], ORANGE)}
        ends = [(100 * result["error_rate"], label, colour) for label, (result, colour) in ends.items()]
        label_lines(figure, ends, 0.06 * max(100 * result["error_rate"] for _, result in points))
    best = choice(points)
    kind = "log" if field in LOGARITHMIC else "category" if texts else "linear"
    figure.update_xaxes(type=kind, tickvals=at, ticktext=[in_figure(value, TICK) for value in values])
    if not bounded(points):
        figure.update_yaxes(rangemode="tozero")
    if len(points) >= of:
        at_best = values.index(best) if texts else float(best)
        figure.add_vline(x=at_best, line={"dash": "dot", "color": GREY})
    return worded(figure, *_sweep_words(name, points, best, of))


def numerical(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def sweep_map(
    sweep: Sweep, names: Sequence[str], points: Sequence[tuple[str, dict]], layer: str, title: str, of: int
) -> go.Figure:
    """A map of two fields, the second across: one layer of the results of the cells that have finished; names: of the
    fields. Clicks give the position of a cell. The cell with the lowest validation error and the simplest within one
    standard error are marked when all `of` cells are there."""
    figure = bare(in_figure(names[1]), in_figure(names[0]), height=120 + 34 * len(sweep.values), hovermode="closest")
    results, cells = dict(points), sweep.cells()
    shown = LAYERS[layer]
    z = np.full((len(sweep.values), len(sweep.seconds)), np.nan)
    told = np.full(z.shape, "not finished", object)
    for called, (value, second) in cells.items():
        if result := results.get(called):
            at = sweep.values.index(value), sweep.seconds.index(second)
            z[at] = shown(result)
            check = result["validation"]
            told[at] = (
                f"{in_figure(names[0])} = {in_figure(value, TICK)}, {in_figure(names[1])} = {in_figure(second, TICK)}: "
                f"{100 * check['error_rate']:.2f} ± {100 * _spread(result):.2f} % of {check['n_test']:,} wrong, "
                f"{result['n_union']:,} SVs"
            )
    figure.add_heatmap(
        z=z, x=sweep.seconds, y=sweep.values, colorscale=[[0, BLUE], [0.5, "#f5f3ee"], [1, ORANGE]], xgap=1, ygap=1,
        texttemplate="%{z:.3g}" if z.size <= MANY else None, showscale=z.size > MANY, hoverinfo="skip",
        colorbar={"title": UNITS[layer], "thickness": 12},
    )  # fmt: skip
    figure.update_xaxes(**_categories(sweep.seconds), showgrid=False, title_standoff=18)
    figure.update_yaxes(**_categories(sweep.values), showgrid=False)
    over = BY.join(names)
    if len(points) < of:
        _places(figure, sweep.seconds, sweep.values, told)
        see = f"{len(points)} of {of} cells have finished; nothing is chosen yet."
        return worded(figure, f"{title} at {len(points)} of {of} cells of {over}.", see)
    best, plain = choice(points), simple(points)
    for called, shape in (plain, "circle"), (best, "rect"):  # as large as the cell, however wide the page
        value, second = cells[called]
        x, y = sweep.seconds.index(second), sweep.values.index(value)
        edges = {"x0": x - 0.48, "x1": x + 0.48, "y0": y - 0.48, "y1": y + 0.48}
        figure.add_shape(type=shape, line={"color": INK, "width": 2}, **edges)
    _places(figure, sweep.seconds, sweep.values, told)
    rate, error = (100 * number for number in (results[best]["validation"]["error_rate"], _spread(results[best])))
    circle = "the simplest cell within one standard error of that error, "
    circle += (
        f"{100 * results[plain]['validation']['error_rate']:.2f} % at {plain}"
        if plain != best
        else "which is the same cell"
    )
    return worded(
        figure,
        f"{title} at {len(points)} cells of {over}; cross-validation chooses {best}.",
        f"Square: the lowest validation error, {rate:.2f} ± {error:.2f} % at {over} = {best}. Circle: "
        f"{circle}.{_early(points, 'cell')} The lowest of {len(points)} errors is optimistic: expect a slightly "
        "higher error on new examples.",
    )


def _early(points: Sequence[tuple[str, dict]], what: str) -> str:
    """What is said of the values that halving has dropped."""
    left = len(points) - len(last(points))
    return f" Halving dropped {many(left, what)} early: their errors come from fewer training examples." if left else ""


def _categories(values: Sequence[str]) -> dict:
    """An axis of values side by side in this order; their names are cut, and may be alike then."""
    names = [in_figure(value, TICK) for value in values]
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": values,
        "tickvals": values,
        "ticktext": names,
    }


def _places(figure: go.Figure, across: Sequence[str], up: Sequence[str], told) -> None:
    """What is pointed at and clicked on a map, as cells themselves are not selectable: a clear square in each."""
    x, y = np.tile(across, len(up)), np.repeat(up, len(across))
    marker = {"symbol": "square", "size": 34, "opacity": 0}
    clear = {"selected": {"marker": {"opacity": 0}}, "unselected": {"marker": {"opacity": 0}}}
    dots(figure, x, y, marker, "%{customdata[1]}", customdata=list(enumerate(told.ravel())), **clear)


def amount_chart(
    sweep: Sweep, names: Sequence[str], points: Sequence[tuple[str, dict]], layer: str, title: str, of: int
) -> go.Figure:
    """Learning curves: one layer of the results against the number of training examples, a line for each value of the
    other field; of the validation error also its power law, up to twice the examples, and an arrow from the best curve
    to as many examples of the next one as it is worth. Points carry the positions of their cells."""
    unit = UNITS[layer]
    figure = bare("training examples", f"{title.lower()}, {unit}", margin_r=110, height=380, hovermode="closest")
    results, order = dict(points), list(sweep.cells())
    checks = {called: (result["validation"]["errors"], result["validation"]["n_test"]) for called, result in points}
    curves = amounts.curves(sweep, checks)
    ends, heights = [], []
    for curve, colour, symbol in zip(curves, cycle(CLASS_COLOURS), cycle(CLASS_SYMBOLS)):
        own = [results[called] for called in curve.cells]
        y = [LAYERS[layer](result) for result in own]
        bars = {"error_y": intervals([result["validation"] for result in own], thickness=1, color=colour)}
        told = [(order.index(called), in_figure(curve.name, TICK)) for called in curve.cells]
        said = f"%{{customdata[1]}}, %{{x:,}} examples: %{{y:.3g}} {unit}"
        marker = {"symbol": symbol, "size": 9}
        bars = bars if layer == "validation" else {}
        line(figure, curve.n, y, colour, said, width=2, points=True, marker=marker, customdata=told, **bars)
        heights += y
        law = amounts.fitted(curve, checks) if layer == "validation" else None
        if law is not None:
            x = np.geomspace(curve.n[0], 2 * curve.n[-1], 30)
            line(figure, x, [100 * law.at(n)[0] for n in x], colour, width=1.5, dash="dot")
            y = [*y, 100 * law.at(2 * curve.n[-1])[0]]
        ends.append((y[-1], in_figure(curve.name, TICK), colour))
    logarithmic = min(heights) > 0
    at = sorted({n for curve in curves for n in curve.n})
    at.append(2 * at[-1])
    figure.update_xaxes(type="log", tickvals=at, ticktext=[f"{n:,}" for n in at])
    figure.update_yaxes(**({"type": "log", "dtick": "D2"} if logarithmic else {}))
    scale = np.log10 if logarithmic else float
    if len(curves) > 1:
        spread = scale(max(heights)) - scale(min(heights))
        label_lines(figure, [(scale(y), name, colour) for y, name, colour in ends], max(0.07 * spread, 0.02))
    seen = f"{len(points)} of {of} runs have finished. " if len(points) < of else ""
    if layer == "validation":
        seen += " ".join(amounts.sentences(curves, checks, names[sweep.field == AMOUNT] if sweep.second else ""))
        seen += " Dotted: power laws, where they can be fitted. Bars are 95 % intervals."
    else:
        seen += _growth(curves, results, layer, title)
    return worded(figure, f"{title} against the number of training examples, {many(len(curves), 'line')}.", seen)


def _growth(curves: Sequence[amounts.Curve], results: dict, layer: str, title: str) -> str:
    """By which power of n a layer grows along each curve."""
    powers = []
    for curve in curves:
        power = exponent(curve.n, [LAYERS[layer](results[called]) for called in curve.cells])
        if power is not None:
            powers.append(f"n^{power:.2f}" + (f" with {in_figure(curve.name, TICK)}" if curve.name else ""))
    if not powers:
        return f"{title} of each run."
    return f"{title}, about proportional to {', '.join(powers)}, where n is the number of training examples."


def _spread(result: dict) -> float:
    """The standard error of a validation error over its folds."""
    return standard_error(result["validation"]["folds"], result["validation"]["n_test"])


LAYERS = {  # of a map -> its number of a result
    "validation": lambda result: 100 * result["validation"]["error_rate"],
    "spread": lambda result: 100 * _spread(result),
    "vectors": lambda result: result["n_union"],
    "seconds": lambda result: training_seconds(result) + result["validation"]["seconds"],
    "memory": lambda result: result["memory_mb"],
    "test": lambda result: 100 * result["error_rate"],
}
UNITS = {"validation": "%", "spread": "%", "vectors": "SVs", "seconds": "s", "memory": "MB", "test": "%"}


def last(points: Sequence[tuple[str, dict]]) -> list[tuple[str, dict]]:
    """The points with the most training examples: a choice is among these, as halving leaves the others early."""
    most = max(result["validation"]["n_test"] for _, result in points)
    return [point for point in points if point[1]["validation"]["n_test"] == most]


def simple(points: Sequence[tuple[str, dict]]) -> str:
    """The simplest value within one standard error of the best."""
    checks = {value: result["validation"] for value, result in last(points)}
    return simplest(*({value: check[name] for value, check in checks.items()} for name in ("folds", "n_test")))


def bounded(points: Sequence[tuple[str, dict]]) -> bool:
    return all("bounds" in result for _, result in points)


def choices(points: Sequence[tuple[str, dict]]) -> dict[str, str]:
    """Which value each way would choose, by RULE, bounds among them; the test set's own best last."""
    ways = {"cross-validation": lambda result: result["validation"]["error_rate"]}
    known = _known(points).items()
    ways |= {label: lambda result, name=name: result["bounds"][name]["errors"] / result["bounds"][name]["n"]
             for name, label in known}  # fmt: skip
    ways[BY_TESTS] = lambda result: result["error_rate"]
    return {way: chosen({value: rate(result) for value, result in last(points)}) for way, rate in ways.items()}


def seconds(points: Sequence[tuple[str, dict]]) -> dict[str, float]:
    """What each way took for all values together."""
    took = {"cross-validation": sum(result["validation"]["seconds"] for _, result in points)}
    return took | {
        label: sum(result["bounds"][name]["seconds"] for _, result in points) for name, label in _known(points).items()
    }


def _known(points: Sequence[tuple[str, dict]]) -> dict[str, str]:
    """The bounds that every result has: of runs made before there was another, those that there were."""
    return {name: label for name, label in BOUNDS.items() if all(name in result["bounds"] for _, result in points)}


def _bounds(figure: go.Figure, at, values, points: Sequence[tuple[str, dict]]) -> None:
    """Lines of the bounds, on a log axis as some are far above 1; none wrong stands at half an example."""
    for drawn, label in zip(figure.data, ("test", "validation"), strict=True):
        n = min(result["n_test"] for _, result in points)
        drawn.update(name=label, y=[max(y, 50 / n) for y in drawn.y], error_y=None)
    for (name, label), colour in zip(_known(points).items(), CLASS_COLOURS[2:], strict=False):
        found = [result["bounds"][name] for _, result in points]
        y = [100 * max(one["errors"], 0.5) / one["n"] for one in found]
        told = [(f"{one['errors']:,.4g}", one["n"], in_figure(v)) for v, one in zip(values, found)]
        circles = {"symbol": "circle-open", "size": 10} if name == "leave_one_out" else None
        said = f"%{{customdata[2]}}, {label}: %{{customdata[0]}} of %{{customdata[1]:,}}"
        how = {"width": 1.5, "dash": "dot", "points": True, "marker": circles}
        line(figure, at, y, colour, said, name=label, customdata=told, **how)
    figure.update_yaxes(type="log", dtick=1)
    legend = {"orientation": "h", "yref": "container", "y": 1, "yanchor": "top"}
    figure.update_layout(showlegend=True, legend=legend, margin={"r": 10, "t": 90}, height=400)  # three lines of names


def choice(points: Sequence[tuple[str, dict]]) -> str:
    """The value that cross-validation chooses among the points."""
    return chosen({value: result["validation"]["error_rate"] for value, result in last(points)})


def _sweep_words(name: str, points: Sequence[tuple[str, dict]], best: str, of: int) -> tuple[str, str]:
    results = dict(points)
    lowest = min(last(points), key=lambda point: point[1]["error_rate"])
    validation, test = (100 * r["error_rate"] for r in (results[best]["validation"], results[best]))
    bars = "" if bounded(points) else " Bars are 95 % intervals."
    if len(points) < of:
        alt = f"Validation and test error at {len(points)} of {of} values of {name}; the others are not finished."
        return alt, (
            f"{len(points)} of {of} values have finished; nothing is chosen yet. The lowest validation error among "
            f"them is {validation:.2f} % at {name} = {best}.{bars}"
        )
    found = (
        f"Cross-validation chooses {name} = {best}, with {validation:.2f} % errors in validation and {test:.2f} % on "
        "the test set"
    )
    told = (
        "This value is also the best on the test set"
        if results[best]["error_rate"] == lowest[1]["error_rate"]
        else f"The best value on the test set is {name} = {lowest[0]} with {100 * lowest[1]['error_rate']:.2f} %"
    )
    return (
        f"Validation and test error at {len(points)} values of {name}; cross-validation chooses {best}.",
        f"{found}. {told}. The choice is the value with {RULE}.{_early(points, 'value')}{bars}",
    )


def invariance_map(
    pairs: Sequence[str], sets: Sequence[str], change: np.ndarray, test: np.ndarray, seen: np.ndarray
) -> go.Figure:
    """By how many per cent points errors change: a row a pair of classes, a column a jitter set; change: `test` or
    `seen`, on test examples and by cross-validation, all (pairs, sets), NaN where it is not known."""
    figure = bare(None, None, height=110 + 15 * len(pairs), hovermode="closest")
    figure.add_heatmap(
        z=change, x=[in_figure(name, 24) for name in sets], y=list(pairs), customdata=np.stack([test, seen], axis=2),
        colorscale=[[0, BLUE], [0.5, "#f5f3ee"], [1, ORANGE]], zmid=0, zmin=-REACH, zmax=REACH, xgap=1, ygap=1,
        colorbar={"title": "points", "thickness": 12},
        hovertemplate="%{y} with %{x}: %{customdata[0]:+.2f} points on the test digits, %{customdata[1]:+.2f} by "
        "cross-validation<extra></extra>",
    )  # fmt: skip
    figure.update_xaxes(side="top", tickangle=-40, type="category")
    figure.update_yaxes(autorange="reversed", type="category", dtick=1)
    known = np.isfinite(test) & np.isfinite(seen)
    hurt, helped, warned = (np.count_nonzero(known & one) for one in (test >= 1, test <= -1, (test >= 1) & (seen > 0)))
    worst = np.unravel_index(np.nanargmax(np.where(known, test, -np.inf)), test.shape)
    told = (
        f"Of {known.sum()} combinations of a pair and a jitter set, {helped} lower the test error by a percentage "
        f"point or more, and {hurt} raise it by one or more. Cross-validation of 200 digits predicted {warned} of "
        f"these {hurt} rises."
    )
    return worded(
        figure,
        f"Change of the error by jitters, for {len(pairs)} pairs of classes. {told}",
        f"{told} The test error rises most, by {test[worst]:.1f} points, with {sets[worst[1]]} on the pair "
        f"{pairs[worst[0]]}. Blue: fewer errors than without jitters; orange: more errors.",
    )


def path_chart(search: Search, found: str = "") -> go.Figure:
    """Errors of each set, a row each, the first on top; the sets that were taken are joined by a line.

    found: what is said of the end, empty while the search goes on.
    """
    tried, n = search.tried, search.n
    figure = bare("errors on validation examples", None, height=70 + ROW * len(tried), hovermode="closest")
    rows = list(range(len(tried)))
    kinds = {"left": (FAINT, "circle-open"), "tried": (GREY, "circle"), "taken": (BLUE, "circle")}
    for kind, (colour, symbol) in kinds.items():
        own = [r for r in rows if kind == ("taken" if tried[r].taken else "left" if _left(tried, r) else "tried")]
        told = {"customdata": [_told(tried[r], n, kind) for r in own]}
        errors, marker = [tried[r].errors for r in own], {"color": colour, "symbol": symbol, "size": 9}
        if kind == "taken":
            line(figure, errors, own, BLUE, "%{customdata}", points=True, marker=marker, **told)
        else:
            dots(figure, errors, own, marker, "%{customdata}", **told)
    names = [in_figure(added(tried, r), LONGEST) for r in rows]
    bold = [f"<b>{name}</b>" if one.taken else name for name, one in zip(names, tried, strict=True)]
    figure.update_yaxes(tickvals=rows, ticktext=bold, range=[len(tried) - 0.4, -0.6], showgrid=False, zeroline=False)
    most = max(one.errors for one in tried) if tried else 1
    figure.update_xaxes(range=[-0.04 * most, 1.1 * most + 1])
    for r in rows[1:]:
        if tried[r].step != tried[r - 1].step:
            figure.add_hline(y=r - 0.5, line={"color": FAINT, "width": 1})
    return worded(figure, *_words(search, found))


def added(tried: Sequence[Tried], row: int) -> str:
    """What a step adds with the set of this row: `+ rot:-9,9`; the set itself of the first."""
    one = tried[row]
    before = [other.jitters for other in tried if other.taken and other.step < one.step]
    if not before or before[-1] == "none":
        return one.jitters
    body, text = before[-1].partition("@")[0], one.jitters.partition("@")[0]
    if text.startswith(f"({body})*"):
        return f"× {text[len(body) + 4 : -1]}"
    return f"+ {text[len(body) + 1 :]}"


def _left(tried: Sequence[Tried], row: int) -> bool:
    """Whether a set was left before all folds."""
    return tried[row].folds < max(one.folds for one in tried)


def _told(one: Tried, n: int, name: str) -> str:
    wrong = f"{one.errors:,} of {n:,} wrong, {rate_text(one.errors / n, wilson(one.errors, n))}"
    if name == "left":
        wrong = f"at least {one.errors:,} wrong, stopped after {many(one.folds, 'fold')}"
    return f"{in_figure(one.jitters)}<br>{wrong}<br>{many(one.forms, 'form')} of each example"


def _words(search: Search, found: str) -> tuple[str, str]:
    tried, taken = search.tried, search.path
    if not taken:
        return "No jitter set has been tried on all folds yet.", "The first jitter set is being tried."
    first, last = taken[0], taken[-1]
    fell = f"errors went from {first.errors:,} to {last.errors:,} of {search.n:,} in {many(len(taken) - 1, 'step')}"
    alt = f"{many(len(tried), 'jitter set')} tried: {fell}, with {last.jitters}."
    left = [_left(tried, row) for row in range(len(tried))]
    early = (
        " Open circles: jitter sets that were stopped early; they have at least this many errors." if any(left) else ""
    )
    return alt, f"{fell.capitalize()}.{early} {found}".strip()
