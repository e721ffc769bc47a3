"""python -m data list          show the catalogue, and which datasets are available on this computer
python -m data fetch NAME    download a dataset, unless a folder of SVMLAB_DATA has it
python -m data keep PATH     read a file or folder of your own, and store it as a dataset
"""

import argparse
import signal
import sys
import time
from pathlib import Path

from data import catalogue, fetch, pictures
from data.dataset import DataError
from data.loaders.columns import FILL, REFUSE, TELL
from data.loaders.fitted import WAYS, Fit, of_text
from data.loaders.pictures import are_pictures, read_pictures
from data.loaders.sieve import Unusable
from data.loaders.upload import opened
from data.own import place
from data.signals import end_by_signals
from data.transfers import Report


def main(arguments: list[str] | None = None) -> int:
    """Run one command. The exit code is 0; 1 if the data cannot be downloaded or read; 130 after Ctrl-C, 143 after
    SIGTERM, and 129 after the terminal was closed."""
    chosen = parser().parse_args(arguments)
    end_by_signals()
    try:
        if chosen.command == "keep":
            return keep(chosen)
        return show() if chosen.command == "list" else get(chosen.name)
    except DataError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as stop:
        left = "Finished files are kept. Run the same command again to download the rest."
        print(f"\nStopped. {left if chosen.command == 'fetch' else 'Nothing is stored.'}", file=sys.stderr)
        return 128 + (stop.args or (signal.SIGINT,))[0]


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    whole = argparse.ArgumentParser(
        prog="python -m data", description="Show and download the datasets of Invariant SVM Lab."
    )
    commands = whole.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="show the catalogue, and which datasets are available on this computer")
    commands.add_parser("fetch", help="download a dataset").add_argument("name", metavar="NAME")
    own = commands.add_parser("keep", help="store a file or folder of your own as a dataset")
    own.add_argument("path", metavar="PATH", help="the file or folder, in a format that the page Datasets accepts")
    own.add_argument("--name", help="name of the dataset (default: the name of the file)")
    own.add_argument("--label", help="column with the labels, in a table or in the csv beside images; in a table "
                     "also the word first or last (default: the most likely column)")  # fmt: skip
    own.add_argument("--group", help="column with the groups, in a table or in the csv beside images: a group is "
                     "never divided between training and test set (default: a column named group)")  # fmt: skip
    own.add_argument("--empty", choices=(REFUSE, FILL, TELL), default=REFUSE,
                     help="what to do with empty cells of a table; tell: fill them, and add a column that marks them "
                     "(default: refuse)")  # fmt: skip
    own.add_argument("--size", help="height x width of the images to train on, such as 64x64 (default: a size that "
                     "follows from the images)")  # fmt: skip
    own.add_argument("--fit", choices=list(WAYS), default="pad", help="how to bring images to that size (default: pad)")
    own.add_argument("--grey", action="store_true", help="train on the grey values of images; colours are still shown")
    own.add_argument("--skip", action="store_true", help="leave out files and rows that cannot be used")
    own.add_argument("--replace", action="store_true", help="replace your dataset of the same name")
    return whole


def show() -> int:
    """Print the catalogue as a table."""
    line = "{:<16} {:<9} {:<9} {:>10} {:>7} {:>7} {:>7} {:>8}  {}"
    print(line.format("name", "available", "kind", "shape", "classes", "train", "test", "MB", "title"))
    for entry in catalogue.entries():
        available, shape = "yes" if entry.at_hand else "no", " x ".join(map(str, entry.shape))
        counts = entry.n_classes, entry.n_train, entry.n_test
        print(line.format(entry.name, available, entry.kind, shape, *counts, f"{entry.size_mb:.1f}", entry.title))
    line = "{:<16} {:<9} {:<9} {:>10} {:>7} {:>8}  {}"
    print("\n" + line.format("pictures", "available", "object", "pictures", "objects", "MB", "title"))
    for entry in pictures.entries():
        counts = entry.object_name, entry.n_pictures, entry.n_objects
        print(line.format(entry.name, "yes" if entry.at_hand else "no", *counts, f"{entry.size_mb:.1f}", entry.title))
    for damaged in [*catalogue.damaged(), *pictures.damaged()]:
        print(f"{damaged.name} is damaged: {damaged.reason}", file=sys.stderr)
    return 0


def get(name: str) -> int:
    """Download a dataset, verify it by reading it, and print its folder."""
    entry = catalogue.entry(name)
    if name in fetch.SETS:
        paths = fetch.fetch(name, _terminal_progress())
        print(
            f"\r\033[K{name}: {len(paths)} files in {paths[0].parent}" if sys.stderr.isatty() else f"{name}: downloaded"
        )
    dataset = entry.load()
    print(f"{name}: {len(dataset.X_train)} training and {len(dataset.X_test)} test examples, verified")
    return 0


def keep(chosen: argparse.Namespace) -> int:
    """Read a file or folder of the user's own and store it as a dataset; what was understood is printed."""
    path = Path(chosen.path).expanduser()
    path = path if path.name.strip(".") else path.resolve()  # of `.` the name of the folder
    if are_pictures([(path.name, str(path))]):
        read_pictures([(path.name, str(path))], skip=True)  # what is wrong with them is said first
        raise DataError(
            f"{path.name} has pictures with annotated objects, which this command does not store",
            "an upload on the page Datasets, which also asks for the name of the objects",
        )
    read, report = opened(path.name, path), _terminal_progress()
    title, fit = chosen.name or read.title, None
    read = read.by(chosen.label) if chosen.label else read
    if read.format != "images" and (chosen.size or chosen.grey):
        raise DataError(
            f"{path.name} is read as {read.format}, but --size and --grey are only for image files",
            "the command without --size and --grey",
        )
    if read.format == "images" and (surveyed := read.survey(report)).images:
        usual = surveyed.fit
        height, width = of_text(chosen.size) if chosen.size else usual[:2]
        fit = Fit(height, width, chosen.fit, usual.colour and not chosen.grey)
    place(title, chosen.replace)  # what is wrong with a name is said before everything is read
    how = {"label": chosen.label, "group": chosen.group, "empty": chosen.empty, "skip": chosen.skip}
    try:
        preview = read.read(**how, fit=fit, report=report)
    except Unusable as error:
        print(f"error: {error} With --skip the other {error.total - len(error.bad):,} {error.words} are read.",
              file=sys.stderr)  # fmt: skip
        return 1
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    for note in preview.notes:
        print(f"{note}.")
    entry = catalogue.keep(title, preview.arrays, preview.features, replace=chosen.replace)
    print(f"{entry.name}: {entry.n_train:,} training and {entry.n_test:,} test examples, {entry.n_classes} classes")
    return 0


def _terminal_progress() -> Report:
    """A callback that rewrites one line on a terminal, and prints one line per message elsewhere."""
    last = {"message": "", "time": 0.0}

    def show_progress(done: int, total: int, message: str) -> None:
        kind = message.partition(",")[0]  # what comes after it are numbers
        new, now = kind != last["message"], time.monotonic()
        if sys.stderr.isatty() and (new or now - last["time"] > 0.1):
            share = f"{100 * done // total:3d} %" if total else f"{done / 1e6:.1f} MB"
            print(f"\r\033[K{share}  {message}", end="", file=sys.stderr, flush=True)
            last["time"] = now
        elif new:
            print(kind, file=sys.stderr)
        last["message"] = kind

    return show_progress


if __name__ == "__main__":
    sys.exit(main())
