"""Reduced sets: the preset's machine, the virtual SVs of degree 9, and the machines of Burges and Schölkopf (1997).

`mnist-rs` keeps a tenth of the 87,796 distinct vectors of `mnist-vsv`, shared by the ten machines; the next two a
twentieth and a fiftieth; `mnist-blind-rs` a tenth of 169,093, settled before its test errors were known.
`mnist-rs-degree5` is the paper's: each machine has vectors of its own, a tenth of its virtual SVs, and thresholds from
the training examples as they are; `-150` and `-150-paper` are the same with 150 vectors each, found together and by the
paper's own search.

`mnist-5000-rs-...` take apart what 300 vectors know: begun with the machine's vectors or with random digits, and taught
by labels or by the machine's answers, all to the same deformed digits. `mnist-5000-copies-...`: a part of the virtual
copies, by the margin of the first machine or at random.
"""

from svmcore.lab.recipes import best, first, mnist
from svmcore.lab.registry.methods.reduced import reduction_of

_ALONE = {"reduction": "rho", "shared": False, "sizes": 1}  # each machine by vectors of its own
_FEW = {"reduction": "answers", "n_vectors": 300, "sizes": 1, "epochs": 100}
_PARENT = "mnist-5000-degree9-vsv"
_NAMED = {recipe.name: recipe for recipe in (*first.RECIPES, *mnist.RECIPES, *best.RECIPES)}


def _of(machine: str, name: str, title: str, **options):
    return reduction_of(_NAMED[machine], **options).replace(name=name, title=title)


RECIPES = (
    _of(first.PRESET, "mnist-5k-rs", "MNIST, 5000 digits: a tenth of the vectors"),
    _of("mnist-vsv", "mnist-rs", "MNIST, virtual SVs: a tenth of the vectors", n_vectors=8780, sizes=1),
    _of("mnist-vsv", "mnist-rs-20", "MNIST, virtual SVs: a twentieth of the vectors", n_vectors=4390, sizes=1),
    _of("mnist-vsv", "mnist-rs-50", "MNIST, virtual SVs: a fiftieth of the vectors", n_vectors=1756, sizes=1),
    _of("mnist-blind", "mnist-blind-rs", "MNIST, chosen blind: a tenth of the vectors", n_vectors=16_909, sizes=1),
    *(
        _of(
            "mnist-vsv-degree5",
            f"mnist-rs-degree5{end}",
            f"MNIST, degree 5, virtual SVs: each machine by {words}",
            **how,
        )
        for end, words, how in (
            ("", "a tenth of its own", {"start": "k-means"} | _ALONE),
            ("-150", "150", {"n_vectors": 150} | _ALONE),
            ("-150-paper", "150, by the paper's search", {"n_vectors": 150} | _ALONE | {"reduction": "one-by-one"}),
        )
    ),
    _of(
        "mnist-vsv",
        "mnist-rs-50-random",
        "MNIST: as many vectors from random digits, by labels",
        n_vectors=1756,
        sizes=1,
        start="examples",
        reduction="answers",
    ),
    *(
        _of(
            _PARENT,
            f"mnist-5000-rs-{begun}-{taught}",
            f"MNIST, the first 5000: 300 vectors from {words}, by {by}",
            start=start,
            taught=taught,
            **_FEW,
        )
        for begun, start, words in (("own", "auto", "the machine's"), ("random", "examples", "random digits"))
        for taught, by in (("labels", "labels"), ("machine", "the machine's answers"))
    ),
    *(
        _NAMED[_PARENT].replace(
            name=f"mnist-5000-copies-{100 * share:.0f}-{ranked}",
            title=f"MNIST, the first 5000: {100 * share:.0f} % of the virtual copies, {words}",
            options={"copies": share, "ranked": ranked},
        )
        for share in (0.5, 0.25, 0.1)
        for ranked, words in (("margin", "the least sure"), ("random", "at random"))
    ),
)
