"""Faces: the published sets, and a small demo from files included in installed packages.

    cmu     pictures of CMU test set A, windows of CBCL to train on, photographs without faces
    lfw     patches of Labeled Faces in the Wild, portraits, photographs without faces

Nothing is trained on the pictures themselves: an experiment has one part, whose training side is empty.

References: Sung and Poggio, "Example-based learning for view-based human face detection", 1998 (CBCL, test set);
Rowley, Baluja and Kanade, "Neural network-based face detection", 1998 (CMU test sets); Huang et al., "Labeled Faces in
the Wild", 2007.
"""

from pathlib import Path

import numpy as np

from data.dataset import DataError, in_words
from data.loaders import bundle, images, npz, published
from data.loaders.objects import table as boxes
from data.loaders.sieve import Sieve
from data.pictures.kinds import Contents, Experiment, Part, Picture, counted

SIDE = 19  # of a window
LFW_FACES = 100  # the first patches of scikit-image's file show a face, the others do not
LFW_SHAPE = (200, 25, 25)
ACCEPTED = "the published files"
# xmin, ymin, xmax, ymax from forehead to chin, like CMU's boxes, and category; drawn by hand
PORTRAITS = {
    "astronaut.png": ((168, 58, 284, 186, 1),),
    "grace_hopper.jpg": ((165, 105, 372, 334, 1),),
    "camera.png": ((200, 112, 262, 198, 2),),
    "chelsea.png": (),
}
CATEGORIES = {1: "frontal", 2: "profile"}


def cmu(paths: list[Path]) -> Contents:
    """paths: the windows, the table of boxes, then the pictures and the scenes, which are named scene*."""
    chips, table, *rest = paths
    with in_words(f"{table.name} cannot be read", ACCEPTED, OSError):
        content = table.read_bytes()
    sieve = Sieve()
    objects = list(boxes.read(table.name, content, sieve))
    sieve.notes(len(objects), "lines")
    scenes = [path for path in rest if path.name.startswith("scene")]
    named = {path.name: path for path in rest if path not in scenes}
    if unknown := [face for face in objects if face.image not in named]:
        raise DataError(f"{unknown[0].spot.where('image')}: there is no picture {unknown[0].image[:60]!r}", ACCEPTED)
    pictures = tuple(
        _with_faces(path, [face for face in objects if face.image == name]) for name, path in named.items()
    )
    return Contents(pictures, _all_test(pictures), published.cbcl(chips), tuple(map(picture, scenes)))


def _with_faces(path: Path, faces: list) -> Picture:
    face_boxes = np.array([face.box for face in faces], np.float64).reshape(-1, 4)
    return picture(path, face_boxes, np.array([face.category for face in faces], np.int64))


def lfw(paths: list[Path]) -> Contents:
    """The patches, the portraits, then photographs without faces."""
    patches, *rest = paths
    named = {path.name: path for path in rest}
    pictures = []
    for name, rows in PORTRAITS.items():
        table = np.array(rows, np.float64).reshape(-1, 5)
        pictures.append(picture(named.pop(name), table[:, :4].copy(), table[:, 4].astype(np.int64)))
    chips = _lfw_chips(patches)
    return Contents(tuple(pictures), _all_test(tuple(pictures)), chips, tuple(map(picture, named.values())))


def picture(path: Path, face_boxes: np.ndarray | None = None, category: np.ndarray | None = None) -> Picture:
    """A file as a grey picture with area 1; every box counts."""
    if face_boxes is None:
        face_boxes, category = np.empty((0, 4)), np.empty(0, np.int64)
    with in_words(f"{path.name} cannot be read", ACCEPTED, OSError):
        image = images.grey(images.decode(path.name, path.read_bytes()).pixels)
    return Picture(path.stem, image, face_boxes, category, 1.0, len(face_boxes))


def _all_test(pictures: tuple[Picture, ...]) -> dict[str, Experiment]:
    part = Part("A1", (), tuple(range(len(pictures))))
    return {"A": counted("A", "A: train on windows, test on every picture", (part,), pictures)}


def _lfw_chips(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """The patches, 25 x 25 values in [0, 1], resized to windows, and their labels."""
    from skimage.transform import resize  # 0.3 s to import

    X = npz.parse(path.name, bundle.from_path(path)[0].read())
    if X.shape != LFW_SHAPE or X.dtype.kind != "f" or not (X.min() >= 0 and X.max() <= 1):
        raise DataError(
            f"{path.name} has the type {X.dtype} and the shape {X.shape}", f"numbers in [0, 1] of the shape {LFW_SHAPE}"
        )
    small = np.array([resize(patch, (SIDE, SIDE), order=1, anti_aliasing=True) for patch in X])
    return np.rint(255 * small.clip(0, 1)).astype(np.uint8), np.repeat([1, -1], [LFW_FACES, len(X) - LFW_FACES])
