"""HTML of a report, from numbers, texts and pictures. Whatever a text is, it comes out as text."""

import html
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pages.ui.kit.gallery import Tile, data_uri, thin
from pages.ui.kit.words import short

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 Georgia, "Source Serif 4", serif; color: #1f2024; background: #fff; margin: 2rem auto;
  padding: 0 1rem; max-width: 60rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; border-bottom: 1px solid #c9cad0; }
p, dd, figcaption { overflow-wrap: anywhere; }
td, th { overflow-wrap: break-word; }
.lead { font-size: 1.15rem; font-weight: bold; }
.quiet, figcaption { color: #55585f; font-size: .85rem; }
figure { margin: .8rem 0; break-inside: avoid; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)); gap: 0 1.5rem; }
svg { width: 100%; max-width: 30rem; height: auto; font: 12px sans-serif; }
dl { display: grid; grid-template-columns: fit-content(40%) 1fr; gap: .1rem 1rem; margin: .5rem 0; }
dt { color: #55585f; } dd { margin: 0; }
table { border-collapse: collapse; font: 13px/1.35 sans-serif; margin: .5rem 0; }
th, td { border: 1px solid #dcdde2; padding: .15rem .45rem; text-align: right; max-width: 14rem; }
th { font-weight: 600; background: #f4f4f6; } td.text, th.text { text-align: left; }
td { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
.wide { overflow-x: auto; }
.tiles { display: flex; flex-wrap: wrap; gap: .5rem; }
.tile { font: 10px/1.3 sans-serif; width: 4.4rem; text-align: center; break-inside: avoid; overflow-wrap: anywhere; }
.tile img { image-rendering: pixelated; width: 56px; height: 56px; object-fit: contain; display: block;
  margin: 0 auto 2px; }
.free img, .bound img, .virtual img, .virtual-bound img { margin: 6px auto 8px; }
.free img { outline: 2px solid #8a8f98; } .bound img { outline: 5px double #8a8f98; }
.virtual img { outline: 2px dotted #8a8f98; }
.virtual-bound img { outline: 2px dotted #8a8f98; outline-offset: 3px; border: 2px solid #8a8f98; }
.virtual-bound.plus img { border-color: #0072b2; } .virtual-bound.minus img { border-color: #d55e00; }
.plus img { outline-color: #0072b2; } .minus img { outline-color: #d55e00; }
pre { background: #f4f4f6; padding: .7rem; font-size: .8rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.asked { display: flex; flex-wrap: wrap; gap: 0 1.5rem; }
.asked > * { flex: 1 1 16rem; margin: 0; } .asked > :has(.tiles) { flex: 2 1 24rem; } .asked svg { max-width: 19rem; }
.asked > div { display: flex; flex-direction: column; }
.choices { list-style: "☐  "; } .choices .right { list-style: "☑  "; font-weight: bold; }
.room { border: 1px dashed #8a8f98; height: 50mm; }
.lines { flex: 1; min-height: 24mm; background: repeating-linear-gradient(transparent 0 7.6mm, #8a8f98 7.6mm 8mm); }
.link { display: flex; align-items: center; gap: 1rem; } .link svg { width: 24mm; }
.picture { width: 100%; }
section section h2 { font-size: .85rem; margin: 0; border: 0; } section:has(> .asked) { break-inside: avoid; }
@media print { body { margin: 0; max-width: none; font-size: 11pt; } h2 { break-after: avoid; } }
@page { margin: 16mm; }
"""
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
