"""Faces, as Osuna, Freund and Girosi saw them: windows of 19 x 19 pixels, 283 of them inside an oval, the light's plane
taken out, greys equalised; degree 2, C = 200 (MIT AI memo 1602, 1997, section 4).

The kernel is ((u.v + 1) / 2)^2 of vectors of unit length. His database is not public; these are the windows of MIT
CBCL, and five folds of them tell how well faces are told from the rest (area under the ROC curve). A mirrored face is a
face: "-mirror" adds the mirror images of the support vectors.

The detector learns from every face in its forms, mirrored and shifted by a pixel, and from what it took for a face in
photographs without any, upright and on their sides. These settings were chosen on every third picture of CMU's set A;
those of the machine of "faces-blind" by folds of the windows (tests/bench/blind.py).

"-turned" searches each picture in five turns, "-votes" by the mean of five machines: the future work of his section 5.
Neither has a setting that was chosen by what it found.

"-gradients" sees gradient histograms instead of greys. Its cells, degree and C were chosen on halves of the windows and
scenes that train (tests/bench/faces_choice.py); how pictures are searched is that of "faces-cmu". "-fast" has degree 2
and about as many features as the oval has pixels, so that it searches about as fast.

"faces-lfw" is a demo that needs no files: 100 faces to learn from and four photographs to search, on which its own
settings were chosen, so that its figures say nothing about other photographs. It looks for faces from about 42 pixels.
"""

from svmcore.kernels import Poly
from svmcore.lab.recipe import Recipe

WINDOW = ("brightness-plane", "oval-mask", "equalise", "unit-norm")
GRADIENTS = {"preprocess": ("gradients:8", "unit-norm"), "kernel": Poly(3, 1.0, 1.0), "C": 100.0}
FAST = {"preprocess": ("gradients:6", "unit-norm"), "C": 100.0}

_CBCL = Recipe(dataset="faces", preprocess=WINDOW, kernel=Poly(2, 1.0, 1.0), C=200.0, folds=5)

SCAN = {"finder": "scan", "chip": 19, "lost": 0.005, "scale_step": 1.1, "votes": 0.3}
BOOTSTRAP = {"bootstraps": 2, "mined": 30_000, "turned": True}
FORMS = {"method": "vsv", "jitters": "flip:h+plus:1@edge", "scope": "all-positive"}

_CMU = _CBCL.replace(task="detect", dataset="cmu-faces", folds=None, **FORMS, **SCAN, **BOOTSTRAP)
# products of forms, as a hundred faces show few; pictures at half their size, as no face in them is small
_LFW = _CMU.replace(
    dataset="lfw-faces",
    jitters="flip:h*(plus:1)*(rot:8+scale:0.9,1.1)@edge",
    class_weight={"1": 0.3},
    bootstraps=4,
    mined=8000,
    enlarge=0.5,
    scale_step=1.2,
    votes=None,
)

RECIPES = (
    _CBCL.replace(name="faces-cbcl", title="Faces: windows of CBCL, degree 2"),
    _CBCL.replace(
        name="faces-cbcl-mirror",
        title="Faces: windows of CBCL, mirror images as virtual SVs",
        method="vsv",
        jitters="flip:h",
    ),
    _CMU.replace(name="faces-cmu", title="Faces: CMU set A, bootstrapped on scenes"),
    _CMU.replace(
        name="faces-cmu-turned",
        title="Faces: CMU set A, searched in five rotations up to 30 degrees",
        turns="rot:-30,-15,15,30",
    ),
    _CMU.replace(name="faces-gradients", title="Faces: CMU set A, gradient histograms", **GRADIENTS),
    _CMU.replace(name="faces-gradients-fast", title="Faces: CMU set A, 288 gradient features, degree 2", **FAST),
    _CMU.replace(name="faces-cmu-votes", title="Faces: CMU set A, mean of five machines", machines=5),
    _CMU.replace(
        name="faces-blind",
        title="Faces: CMU set A, settings chosen blind on windows of CBCL",
        kernel=Poly(4, 1.0, 1.0),
        C=5.0,
        jitters="none@edge",
        seed=20,
    ),
    _LFW.replace(name="faces-lfw", title="Faces: a small demo, tuned on its own pictures"),
    _LFW.replace(name="faces-lfw-gradients", title="Faces: a small demo, gradient histograms", **FAST),
)
