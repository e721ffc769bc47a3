"""python -m data list          show the catalogue, and which datasets are available on this machine
python -m data fetch NAME    download a dataset, unless a folder of SVMLAB_DATA has it
"""

import argparse
import signal
import sys
import time

from data import catalogue, fetch, pictures
from data.dataset import DataError
from data.signals import end_by_signals
from data.transfers import Report


def main(arguments: list[str] | None = None) -> int:
    """Run one command. The exit code is 0; 1 if the data cannot be downloaded or read; 130 after Ctrl-C, 143 after
    SIGTERM, and 129 after the terminal was closed."""
    parser = argparse.ArgumentParser(
        prog="python -m data", description="Show and download the datasets of Invariant SVM Lab."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="show the catalogue, and which datasets are available on this machine")
    commands.add_parser("fetch", help="download a dataset").add_argument("name", metavar="NAME")
    chosen = parser.parse_args(arguments)
    end_by_signals()
    try:
        return show() if chosen.command == "list" else get(chosen.name)
    except DataError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as stop:
        print("\nStopped. Finished files are kept. Run the same command again to download the rest.", file=sys.stderr)
        return 128 + (stop.args or (signal.SIGINT,))[0]


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


def _terminal_progress() -> Report:
    """A callback that rewrites one line on a terminal, and prints one line per message elsewhere."""
    last = {"message": "", "time": 0.0}

    def show_progress(done: int, total: int, message: str) -> None:
        new, now = message != last["message"], time.monotonic()
        if sys.stderr.isatty() and (new or now - last["time"] > 0.1):
            share = f"{100 * done // total:3d} %" if total else f"{done / 1e6:.1f} MB"
            print(f"\r\033[K{share}  {message}", end="", file=sys.stderr, flush=True)
            last["time"] = now
        elif new:
            print(message, file=sys.stderr)
        last["message"] = message

    return show_progress


if __name__ == "__main__":
    sys.exit(main())
