"""The report of a run, part by part; a part that cannot be drawn says why, and the others stand."""

from collections.abc import Callable

from data import DataError
from pages.ui.kit import view, words
from pages.ui.run.report import marks, sections
from svmcore.lab.recipe.recipe import RecipeError
from svmcore.lab.registry.tasks import task_of
from svmcore.lab.store.runs import Damaged, Run


def report(run: Run) -> str:
    """The report as one HTML file. Damaged where even the recipe cannot be read."""
    head = [f"<h1>{marks.text(run.title)}</h1>"]
    asked_at = f"{words.when(run.created)} · run {run.id} · {run.state}"
    head.append(marks.paragraph(asked_at + (f" · {', '.join(run.tags)}" if run.tags else ""), "quiet"))
    if run.result is None:
        head.append(marks.paragraph(run.message or f"The run is {run.state}; there is no result.", "lead"))
    parts = [_safely(what, lambda draw=draw: draw(run)) for what, draw in _parts(run)]
    script = (
        marks.paragraph("This script repeats the run; its head says what it needs."),
        marks.code(run.export_snippet()),
    )
    parts += [marks.section("To run it again", *script), _made_with(run)]
    return marks.page(f"{run.title} · Invariant SVM Lab", [*head, *parts])


def _parts(run: Run) -> list[tuple[str, Callable[[Run], str]]]:
    always = [("Recipe", sections.recipe), ("Data", _data), ("Convergence", sections.course)]
    if run.result is None:
        return always
    own = [(name, _of_whole(draw)) for name, draw in view.together(run.recipe, "report").items()]
    return [("Result", sections.result), *always, *own]


def _of_whole(draw: Callable[[Run], str]) -> Callable[[Run], str]:
    """The same, of a run whose files fit each other. Damaged for another one."""

    def drawn(run: Run) -> str:
        run.check()
        return draw(run)

    return drawn


def _safely(what: str, draw: Callable[[], str]) -> str:
    try:
        return draw()
    except (Damaged, DataError, RecipeError, FileNotFoundError) as error:
        return marks.section(what, marks.paragraph(f"Not shown: {error}"))


def _data(run: Run) -> str:
    """Where the examples come from."""
    name, found = run.recipe.dataset, run.result or {}
    entry = task_of(run.recipe).entry(name)
    known = {"Name": f"{entry.title} ({name})"}
    if found:
        known["Training examples"] = f"{found['n_train']:,} of {found['n_features']:,} numbers"
        known["Test"] = f"{found['n_test']:,}"
    known |= {"Licence": entry.licence, "Citation": entry.citation, "Source": ", ".join(entry.sources)}
    if found.get("data_hash"):
        known["Content hash"] = found["data_hash"]
    return marks.section("Data", marks.facts({label: value for label, value in known.items() if value}))


def _made_with(run: Run) -> str:
    """Machine and versions, as the run kept them."""
    kept = (run.result or {}).get("made_with")
    if not kept:
        said = "This run, of an older version, did not keep what it ran on." if run.result else "Not kept: no result."
        return marks.section("Made with", marks.paragraph(said))
    return marks.section("Made with", marks.facts(kept))
