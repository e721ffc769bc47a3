"""A photograph of the reader's own searched by a run's machine, in a thread beside the page.

photograph -> grey, at most LONGEST pixels a side -> every window at every scale -> overlapping ones: the surest
"""

import hashlib
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import streamlit as st
from PIL import Image
from skimage.feature import match_template

from data import DataError, pictures
from data.dataset import megabytes
from data.loaders import depth, images
from pages.detect import labels, marked
from pages.detect.judged import joined
from pages.detect.view import View, opens_here, own_name
from pages.ui.kit.known import KNOWN_BY
from svmcore.lab.finders import scanned
from svmcore.lab.finders.findings import beside_truth
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Run
from svmcore.lab.tasks.detect import experiment

MAX_BYTES, MAX_PIXELS = 20 << 20, 40_000_000
LONGEST = 480  # pixels of the longer side that is searched
SECONDS = 600.0  # after which a search is given up, as others wait for it
FORMATS = ("PNG", "JPEG")
ACCEPTED = "a PNG or JPEG of at most 20 MB and 40 million pixels"
SMALL = "lfw-faces"  # the embedded set
THUMB, SAME = 32, 0.98  # pixels a side that tell pictures apart, and the correlation from which two are one
# Of a changed copy: its longer side in pixels, the share of a picture that is looked for in it, at these sizes, and the
# correlation from which it is there: 0.85 and more of copies cropped by 10 %, mirrored, turned, brightened; up to 0.75
# between pictures of the sets
SIDE, CENTRE, SIZES, CHANGED = 40, 0.6, np.geomspace(0.72, 1.4, 12), 0.82


Box = tuple[float, float, float, float]  # xmin ymin xmax ymax, in pixels of the image that is searched


class Photograph(NamedTuple):
    """Where a photograph comes from. key: tells photographs apart; content: the file's bytes, or None for a sample."""

    key: str
    name: str
    content: bytes | None


class Searched(NamedTuple):
    """What a search found; boxes in pixels of `image`."""

    image: np.ndarray  # (h, w) uint8, as it was searched
    full: tuple[int, int]  # height and width of the photograph
    boxes: np.ndarray  # (m, 4), the surest first
    f: np.ndarray  # (m,)
    looked: int
    discarded: int
    seconds: float
    chips: np.ndarray  # (m, side, side) uint8
    votes: np.ndarray  # (m,) float64, what windows on the same place add to f
    turn: np.ndarray  # (m,) int64, of which turn of the photograph it is, by number; 0 upright
    notes: tuple[str, ...] = ()  # how the photograph was read, one sentence each


class Looking:
    """How far a search is: windows settled, of how many, and when the first were; it can be told to stop."""

    def __init__(self):
        self.looked, self.of, self.stopped = 0, 0, False
        self.first: tuple[float, int] | None = None  # after compiling, on first use

    def tell(self, looked: int, of: int) -> None:
        self.looked, self.of = looked, of
        self.first = self.first or (time.monotonic(), looked)

    def left(self) -> float | None:
        """Seconds that the rest will take at the pace so far; None before there is one."""
        if self.first is None or self.looked <= self.first[1]:
            return None
        return (self.of - self.looked) * (time.monotonic() - self.first[0]) / (self.looked - self.first[1])


def scanners() -> list[Run]:
    """Finished runs that look at every window, so that they can look at any photograph; newest first."""
    return [run for run in runs.newest_first() if run.state == "done" and opens_here(run) and labels.scans(run)]


def samples() -> list[str]:
    """Names of the photographs that are always there."""
    known = pictures.load(SMALL)
    return [picture.name for picture in (*known.pictures, *known.empty)]


def upload(name: str, content: bytes, side: int = 19) -> Photograph:
    """A photograph to search by windows of `side` pixels. DataError if it cannot be used, from its first bytes."""
    if len(content) > MAX_BYTES:
        raise DataError(f"{name} has {megabytes(len(content))}", ACCEPTED)
    with images.opened(name, content, FORMATS, ACCEPTED) as image:
        width, height = image.size
    if width * height > MAX_PIXELS:
        raise DataError(f"{name} has {width:,} x {height:,} pixels", ACCEPTED)
    if min(width, height) * min(1, LONGEST / max(width, height)) < side:
        limits = f"at least {side} pixels a side, the longer side at most {LONGEST // side} times the shorter one"
        raise DataError(f"{name} has {width:,} x {height:,} pixels", limits)
    return Photograph(hashlib.sha256(content).hexdigest(), name, content)


PHOTOGRAPHED = KNOWN_BY | {Photograph: lambda photograph: photograph.key}


@st.cache_resource(max_entries=12, show_spinner=False, hash_funcs=PHOTOGRAPHED)
def search(run: Run, photograph: Photograph) -> tuple[Future, Looking]:
    """The search of a photograph, begun or done (a Searched, or DataError), and its progress. Cleared: begins anew."""
    now = Looking()
    return _threads().submit(searched, run, photograph, now), now


@st.cache_resource(show_spinner=False)
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "photograph")


def searched(run: Run, photograph: Photograph, now: Looking) -> Searched:
    """Search a photograph. DataError for a damaged one, one that takes too long, and one that was stopped."""
    image, full, notes = _grey(photograph)
    recipe, machine, kept = run.recipe, run.machine(), run.test()
    first = kept.train_round == 0  # the windows that the run began with
    discard = scanned.quick_look(recipe, kept.train_chips[first], kept.train_y[first])

    def check():
        if now.stopped:
            raise DataError("The search was cancelled")
        if now.first and time.monotonic() - now.first[0] > SECONDS:
            raise DataError(
                f"The search took more than {SECONDS:.0f} s and was stopped. Choose a machine whose kernel has degree "
                "2, which is fast, or search again when fewer runs are active"
            )

    seen = scanned.search(recipe, pictures.load(recipe.dataset), machine, discard, image, check, tell=now.tell)
    scan = seen.scan
    return Searched(
        image, full, seen.boxes, seen.f, scan.looked, scan.discarded, scan.seconds, scan.chips[seen.kept], seen.votes,
        scan.turn[seen.kept], tuple(notes),
    )  # fmt: skip


def view_of_photograph(run: Run, photograph: Photograph, found: Searched) -> View:
    """What was found as the view of a search of one picture, of which no truth is known; its parts are one."""
    entry, hits = pictures.load(run.recipe.dataset).entry, np.full(len(found.f), -1)
    picture = pictures.Picture(photograph.name, found.image, np.empty((0, 4)), np.empty(0, np.int64))
    nothing = pictures.Experiment("A", "A", (pictures.Part("A", (), (0,)),), 1.0, 0)
    shown = pictures.PictureSet(entry, (picture,), {"A": nothing})
    detections = beside_truth(shown, [0], [found.boxes], [hits], found.chips)
    detections = detections._replace(decision=found.f, votes=found.votes, turn=found.turn)
    return View(run, shown, nothing, joined([detections], own_name(run)), 1)


@st.cache_resource(max_entries=12, show_spinner=False, hash_funcs=PHOTOGRAPHED)
def obstacle(run: Run, photograph: Photograph, _found: Searched) -> str:
    """Why windows marked in a photograph cannot train the run again: it would train on what it tests; "" where they
    can. The photograph is a test picture of the run where both look alike, whatever file it comes from."""
    known, asked = experiment(run.recipe)
    if len(asked.parts) > 1:
        return ("Marked windows cannot train this run again. Its pictures are split several times, and each split "
                "would train on windows of pictures that it tests. Choose a run with one split.")  # fmt: skip
    tested = (known.pictures[at] for at in asked.parts[0].test)
    if same := next((picture.name for picture in tested if _is_copy(_found.image, picture.image)), ""):
        return (f"Marked windows cannot train this run again: the photograph is its test picture {same}, or a changed "
                "copy of it. Mark windows of another photograph.")  # fmt: skip
    return ""


def _is_copy(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether a picture (h, w) uint8 is another one resized, brighter, cropped by up to 10 %, mirrored or turned."""
    whole = [_reduced(image, (THUMB, THUMB)).ravel() for image in (a, b)]
    if min(map(np.ptp, whole)) == 0:
        return False
    if np.corrcoef(whole)[0, 1] > SAME:
        return True
    small = _reduced(a, _sides(a, SIDE))
    h, w = (round(n * (1 - CENTRE) / 2) for n in small.shape)
    centre = small[h : len(small) - h, w : small.shape[1] - w]
    sizes = (_reduced(b, _sides(b, SIDE * size)) for size in SIZES)
    turned = (np.rot90(one, turns) for image in sizes for one in (image, image[:, ::-1]) for turns in range(4))
    fitting = (within for within in turned if all(np.array(within.shape) >= centre.shape))
    return np.ptp(centre) > 0 and any(np.nanmax(match_template(within, centre)) > CHANGED for within in fitting)


def _sides(image: np.ndarray, longest: float) -> tuple[int, int]:
    """(width, height) of a picture when its longer side is reduced to `longest` pixels."""
    h, w = image.shape
    return max(round(longest * w / max(h, w)), 4), max(round(longest * h / max(h, w)), 4)


def _reduced(image: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """(h, w) float64 of a size (width, height)."""
    return np.asarray(Image.fromarray(image).resize(size, Image.Resampling.BOX), float)


def with_marked(run: Run, found: Searched, marks: dict[int, int], missed: Sequence[Box] = ()) -> Recipe:
    """The run's recipe on its first windows, those marked (row -> +1 or -1) and missed boxes, as an own set."""
    (X, y), rows = labels.first_windows(run), sorted(marks)
    drawn = [marked.cut(found.image, box, found.chips.shape[1:])[None] for box in missed]
    X = np.concatenate([X, found.chips[rows], *drawn])
    y = np.concatenate([y, [marks[row] for row in rows], [1] * len(drawn)])
    return run.recipe.replace(windows=labels.keep_windows(X, y.astype(np.int64)))


def _grey(photograph: Photograph) -> tuple[np.ndarray, tuple[int, int], list[str]]:
    """A photograph as greys (h, w), no side longer than LONGEST, its own size, and notes on how it was read."""
    notes = []
    if photograph.content is None:
        known = pictures.load(SMALL)
        found = next(p for p in (*known.pictures, *known.empty) if p.name == photograph.name)
        image = Image.fromarray(found.image)
        full = image.size
    else:
        with images.opened(photograph.name, photograph.content, FORMATS, ACCEPTED) as image:
            full = image.size
            image.draft(None, (2 * LONGEST, 2 * LONGEST))  # a JPEG is read at a fraction of its size
            decoded = images.flat(image)
        (on_scale,), notes = depth.on_one_scale([decoded], [photograph.name], "photograph")
        image = Image.fromarray(on_scale)
    lies = image.width > image.height
    image.thumbnail((LONGEST, LONGEST))
    return images.grey(images.pixels(image)), tuple(sorted(full, reverse=not lies)), notes
