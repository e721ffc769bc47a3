"""HTML of a report, from numbers, texts and pictures. Whatever a text is, it comes out as text."""

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from pages.ui.kit.gallery import Tile, data_uri, thin
from pages.ui.kit.words import short

STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
LARGEST = 64  # pixels a side


def text(value: object) -> str:
    """A text of any origin as HTML that shows it letter by letter."""
    return html.escape(str(value), quote=True)


def page(title: str, body: Iterable[str]) -> str:
    """A whole file: no script, and nothing asked of any server."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; style-src '
        "'unsafe-inline'\">"
        f"<title>{text(title)}</title><style>{STYLE}</style></head>\n<body>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</body></html>\n"
    )


def section(title: str, *parts: str) -> str:
    """A part of the sheet under its heading."""
    return f"<section><h2>{text(title)}</h2>\n" + "\n".join(parts) + "</section>"


def paragraph(said: object, kind: str = "") -> str:
    """One paragraph; kind: "lead" or "quiet"."""
    return f'<p class="{kind}">{text(said)}</p>' if kind else f"<p>{text(said)}</p>"


def emphasised(markdown: str) -> str:
    """A sentence of the lab's own, whose Markdown is *this*, **this** and `this`."""
    bare = text(re.sub(r"\\([^\w\s])", r"\1", markdown))
    bare = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", bare)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", re.sub(r"\*(.+?)\*", r"<em>\1</em>", bare))


def facts(pairs: Mapping[str, object]) -> str:
    """Names with their values, one a line."""
    return "<dl>" + "".join(f"<dt>{text(k)}</dt><dd>{text(v)}</dd>" for k, v in pairs.items()) + "</dl>"


def code(source: str) -> str:
    return f"<pre><code>{text(source)}</code></pre>"


def figure(inner: str, see: str) -> str:
    """Something drawn, with the line that says what is seen."""
    return f"<figure>{inner}<figcaption>{text(see)}</figcaption></figure>"


def table(head: Sequence[object], rows: Iterable[Sequence[object]], caption: str, shades: Mapping = {}) -> str:
    """Rows under a head, the first cell of each naming it. shades: (row, column) -> 0 to 1, how dark a cell is."""
    lines = ["<tr>" + "".join(f'<th scope="col">{text(name)}</th>' for name in head) + "</tr>"]
    for at, (name, *cells) in enumerate(rows):
        drawn = "".join(f"<td{_shade(shades.get((at, j)))}>{text(cell)}</td>" for j, cell in enumerate(cells))
        lines.append(f'<tr><th scope="row" class="text">{text(name)}</th>{drawn}</tr>')
    drawn = f'<div class="wide"><table aria-label="{text(caption)}">{"".join(lines)}</table></div>'
    return figure(drawn, caption)


def _shade(dark: float | None) -> str:
    if dark is None:
        return ""
    grey = [round(236 + dark * (end - 236)) for end in (138, 143, 152)]
    return f' style="background: rgb({grey[0]}, {grey[1]}, {grey[2]})"'


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
