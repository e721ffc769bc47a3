"""Reduced sets: the preset's machine, the virtual SVs of degree 9, and the machines of Burges and Schoelkopf (1997).

`mnist-rs` keeps a tenth of the 87,796 distinct vectors of `mnist-vsv`, shared by the ten machines; the other two a
twentieth and a fiftieth. `mnist-rs-degree5` is the paper's: each machine has vectors of its own, a tenth of its virtual
SVs, and thresholds from the training examples as they are.
"""

from svmcore.lab.recipes import first, mnist
from svmcore.lab.registry.methods.reduced import reduction_of

_NAMED = {recipe.name: recipe for recipe in (*first.RECIPES, *mnist.RECIPES)}


def _of(machine: str, name: str, title: str, **options):
    return reduction_of(_NAMED[machine], **options).replace(name=name, title=title)


RECIPES = (
    _of(first.PRESET, "mnist-5k-rs", "MNIST, 5000 digits: a tenth of the vectors"),
    _of("mnist-vsv", "mnist-rs", "MNIST, virtual SVs: a tenth of the vectors", n_vectors=8780, sizes=1),
    _of("mnist-vsv", "mnist-rs-20", "MNIST, virtual SVs: a twentieth of the vectors", n_vectors=4390, sizes=1),
    _of("mnist-vsv", "mnist-rs-50", "MNIST, virtual SVs: a fiftieth of the vectors", n_vectors=1756, sizes=1),
    _of(
        "mnist-vsv-degree5",
        "mnist-rs-degree5",
        "MNIST, degree 5, virtual SVs: each machine by a tenth of its own",
        reduction="rho",
        start="k-means",
        shared=False,
        sizes=1,
    ),
)
