"""Synthetic radar scenes similar to Magellan's of Venus, drawn from a fixed seed: the same on every computer.

    I = (ground + ridges + domes + distractors) * speckle

    ground       noise smoothed at several widths: plains of uneven brightness
    dome         a low hill lit from the left: a bright flank, a dark one, most with a bright pit on the summit
    distractor   a crater (lit the other way round, with a rim), a bright spot, the end of a ridge
    speckle      gamma noise of LOOKS looks, as radar has

The contrast of a dome is random, and its category follows from it: faint domes are as uncertain as an expert's
"possibly". The scenes show how detection works if the real pictures are not available; nothing in them is measured.
"""

from pathlib import Path

import numpy as np

from data.pictures.kinds import Contents, Picture, around, leave_out

N_PICTURES, SIDE, N_PARTS = 8, 512, 4
OBJECTS = (15, 30)  # domes in a picture
RADII = (5.0, 20.0)  # pixels
SURE = (0.48, 0.34, 0.25)  # least contrast of categories 1, 2, 3; fainter domes (4) show mainly their pit
LOOKS = 25
PIXEL_KM = 0.075  # as if a pixel were 75 m
N_OBJECTS = 189


def read(_: list[Path]) -> Contents:
    """All pictures, and experiment S: four splits, each tested on two pictures."""
    pictures = tuple(scene(f"scene{k + 1}", seed=k) for k in range(N_PICTURES))
    return Contents(pictures, {"S": leave_out(pictures, "S", "S: leave two out", N_PARTS)})


def scene(name: str, seed: int, side: int = SIDE) -> Picture:
    """One picture of side x side pixels with its domes as circles."""
    rng = np.random.default_rng([seed, side])
    surface = _ground(rng, side) + _ridges(rng, side)
    n_domes = int(rng.integers(OBJECTS[0], OBJECTS[1] + 1) * (side / SIDE) ** 2)
    n_others = max(n_domes, 1)
    radius = np.exp(rng.uniform(*np.log(RADII), n_domes + n_others))
    x, y, radius = _apart(rng, side, radius)
    domes = np.zeros(len(x), bool)
    domes[rng.permutation(len(x))[:n_domes]] = True
    contrast = rng.uniform(0.2, 0.66, len(x))
    for k in np.flatnonzero(domes):
        _add(surface, _dome(rng, radius[k], contrast[k]), x[k], y[k])
    for k in np.flatnonzero(~domes):
        distractor = _crater if rng.random() < 0.5 else _spot
        _add(surface, distractor(rng, radius[k], contrast[k]), x[k], y[k])
    speckle = rng.gamma(LOOKS, 1 / LOOKS, surface.shape)
    image = np.clip(90 * np.clip(surface, 0.05, None) * speckle, 0, 255).astype(np.uint8)
    category = 1 + (contrast[domes, None] < SURE).sum(1)
    boxes = around(x[domes], y[domes], radius[domes])
    return Picture(name, image, boxes, category.astype(np.int64), (side * PIXEL_KM) ** 2, int(domes.sum()))


def _ground(rng: np.random.Generator, side: int) -> np.ndarray:
    from scipy.ndimage import gaussian_filter  # 0.1 s to import

    ground = np.ones((side, side))
    for width, strength in ((1.5, 0.05), (12, 0.05), (60, 0.12)):
        noise = gaussian_filter(rng.standard_normal((side, side)), width, mode="wrap")
        ground += strength * noise / noise.std()
    return ground


def _ridges(rng: np.random.Generator, side: int) -> np.ndarray:
    """Bright jagged lines, mostly in one direction, some of which end within the picture."""
    from scipy.ndimage import gaussian_filter

    lines, trend = np.zeros((side, side)), rng.uniform(0, np.pi)
    for _ in range(max(1, 30 * side**2 // SIDE**2)):
        steps = int(rng.integers(side // 16, side // 2))
        wander = np.cumsum(rng.normal(0, 0.12, steps)) / np.sqrt(np.arange(1, steps + 1))
        turn = trend + rng.normal(0, 0.15) + wander
        x = rng.uniform(0, side) + np.cumsum(np.cos(turn))
        y = rng.uniform(0, side) + np.cumsum(np.sin(turn))
        inside = (x >= 0) & (x < side) & (y >= 0) & (y < side)
        lines[y[inside].astype(int), x[inside].astype(int)] += rng.uniform(0.3, 1.6)
    return gaussian_filter(lines, 1.0)


def _apart(rng: np.random.Generator, side: int, radius: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centres of circles that neither touch each other nor leave the picture; those without room are dropped."""
    placed = np.empty((0, 3))
    for r in radius:
        x, y = rng.uniform(r + 2, side - r - 2, (2, 60))
        room = np.hypot(x[:, None] - placed[:, 0], y[:, None] - placed[:, 1]) - placed[:, 2] > r + 4
        free = np.flatnonzero(room.all(1))
        if len(free):
            placed = np.vstack([placed, [x[free[0]], y[free[0]], r]])
    return tuple(placed.T)


def _grid(radius: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Offsets x and y from the centre, and the distance from it, in radii."""
    half = int(np.ceil(1.6 * radius))
    y, x = np.mgrid[-half : half + 1, -half : half + 1] / radius
    return x, y, np.hypot(x, y)


def _dome(rng: np.random.Generator, radius: float, contrast: float) -> np.ndarray:
    x, _, r = _grid(radius)
    flanks = -3 * x * np.exp(-2.2 * r**2) * rng.uniform(0.8, 1.2)
    faint = contrast < SURE[-1]
    pit = np.exp(-0.5 * (r * radius / max(1.2, rng.uniform(0.08, 0.16) * radius)) ** 2)
    return contrast * ((0.35 if faint else 1.0) * flanks + (1.6 if faint or rng.random() < 0.75 else 0.0) * pit)


def _crater(rng: np.random.Generator, radius: float, contrast: float) -> np.ndarray:
    x, _, r = _grid(radius)
    rim = np.exp(-0.5 * ((r - 0.8) / 0.15) ** 2)
    return contrast * (1.8 * x * np.exp(-2.2 * r**2) + rng.uniform(0.3, 0.9) * rim)


def _spot(rng: np.random.Generator, radius: float, contrast: float) -> np.ndarray:
    x, y, _ = _grid(radius)
    turn, stretch = rng.uniform(0, np.pi), rng.uniform(1.0, 2.0)
    along, across = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
    return 1.6 * contrast * np.exp(-8 * (along**2 / stretch + across**2 * stretch))


def _add(surface: np.ndarray, patch: np.ndarray, x: float, y: float) -> None:
    """Add the part of a patch around the pixel nearest to (x, y) that lies in the picture."""
    h, w = surface.shape
    top, left = round(y) - patch.shape[0] // 2, round(x) - patch.shape[1] // 2
    rows, columns = slice(max(top, 0), top + patch.shape[0]), slice(max(left, 0), left + patch.shape[1])
    inner = patch[rows.start - top : h - top, columns.start - left : w - left]
    surface[rows, columns][: inner.shape[0], : inner.shape[1]] += inner
