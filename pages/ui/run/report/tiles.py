"""Pictures of examples in a report, each a PNG inside the file, with a line of text below."""

from collections.abc import Sequence

import numpy as np

from pages.ui.kit.gallery import Tile, data_uri, thin
from pages.ui.kit.words import short
from pages.ui.run.report.marks import figure, text

LARGEST = 64  # pixels a side


def gallery(pictures: np.ndarray, tiles: Sequence[Tile], see: str) -> str:
    """Pictures (n, h, w[, 3]) with what their tiles say."""
    drawn = "".join(_tile(picture, tile) for picture, tile in zip(thin(pictures, LARGEST), tiles, strict=True))
    return figure(f'<div class="tiles">{drawn}</div>', see)


def _tile(picture: np.ndarray, tile: Tile) -> str:
    side = "plus" if tile.sign > 0 else "minus" if tile.sign < 0 else ""
    words = "<br>".join(text(short(line, 24)) for line in (tile.upper, tile.lower) if line)
    return (
        f'<div class="tile {tile.ring} {side}"><img src="{data_uri(picture)}" alt="{text(short(tile.label, 400))}">'
        f"{words}</div>"
    )
