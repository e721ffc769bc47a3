"""Small volcanoes in Magellan radar images of Venus: the available images, and the experiments of the tables.

An experiment has the splits whose images are all available, and lists the missing images. If it is complete, its
denominators are those of the scoring table, otherwise the sums over its test images.

Reference: Burl et al., "Learning to recognize volcanoes on Venus", Machine Learning 30, 1998, section 4.
"""

from itertools import chain
from pathlib import Path

import numpy as np

from data.dataset import DataError, NotAtHand
from data.loaders import jartool
from data.loaders.jartool import TablePart
from data.pictures.kinds import Contents, Experiment, Part, Picture, around, counted

TITLES = {"A": "HOM4", "B": "HOM38", "C": "HOM56", "D": "HET36", "E": "HET5"}
ACCEPTED = "the published tables, with the same experiments and images"


def read(paths: list[Path]) -> Contents:
    """The contents of the three tables and all images; .sdt, .spr and .lxyr of one name belong together."""
    files = {path.name.removesuffix(".gz"): path for path in paths}
    rows = jartool.read_experiments(files["Experiments_Images_Table"])
    scoring = jartool.read_scoring(files["Experiments_Scoring_Table"])
    areas = jartool.read_areas(files["Images_Area_Volcanoes_Table"])
    parts: dict[str, list[TablePart]] = {}
    for row in rows:
        parts.setdefault(row.experiment, []).append(row)
    _check_tables(parts, scoring, areas)
    numbers = [number for number in sorted(areas) if all(name in files for name in _names(number))]
    if not numbers:
        raise NotAtHand(
            "The dataset venus has its tables but no image",
            "img1.sdt, img1.spr, img1.lxyr and so on, in the same folder",
        )
    pictures = tuple(_picture(number, [files[name] for name in _names(number)], areas[number]) for number in numbers)
    position = {number: k for k, number in enumerate(numbers)}
    experiments = {name: _experiment(name, parts[name], scoring[name], position, pictures) for name in parts}
    return Contents(pictures, experiments)


def _names(number: int) -> list[str]:
    return [f"img{number}.{kind}" for kind in ("sdt", "spr", "lxyr")]


def _picture(number: int, files: list[Path], counts: tuple[float, int]) -> Picture:
    sdt, spr, lxyr = files
    image = jartool.read_image(sdt, spr)
    category, x, y, radius = jartool.read_truth(lxyr, image.shape).T
    area, opportunities = counts
    return Picture(f"img{number}", image, around(x, y, radius), category.astype(np.int64), float(area), opportunities)


def _experiment(
    name: str, rows: list[TablePart], score: tuple, position: dict[int, int], pictures: tuple[Picture, ...]
) -> Experiment:
    wanted = sorted({number for row in rows for number in (*row.train, *row.test)})
    missing = tuple(f"img{number}" for number in wanted if number not in position)
    title = f"{name}: {TITLES[name]}" if name in TITLES else name
    parts = tuple(
        Part(row.name, tuple(position[n] for n in row.train), tuple(position[n] for n in row.test))
        for row in rows
        if all(number in position for number in (*row.train, *row.test))
    )
    if parts and len(parts) < len(rows):
        return counted(name, title, parts, pictures, missing)
    _, area, opportunities = score
    return Experiment(name, title, parts, float(area), opportunities, missing)


def _check_tables(parts: dict[str, list[TablePart]], scoring: dict, areas: dict) -> None:
    """DataError unless every experiment is scored, has all its splits, and uses images that are listed."""
    for row in chain.from_iterable(parts.values()):
        unknown = [number for number in (*row.train, *row.test) if number not in areas]
        if unknown:
            raise DataError(
                f"Split {row.name} uses image {unknown[0]}, which the table of areas does not list", ACCEPTED
            )
        if row.experiment not in scoring:
            raise DataError(f"Experiment {row.experiment} is not in the scoring table", ACCEPTED)
    for name, (n_parts, _, _) in scoring.items():
        n_listed = len(parts.get(name, ()))
        if n_listed != n_parts:
            raise DataError(f"Experiment {name} has {n_listed} splits, but the scoring table lists {n_parts}", ACCEPTED)
