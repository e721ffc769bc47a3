"""The picture of what a fit of ours takes beside scikit-learn-intelex's, by the number of examples: an SVG of lines.

x     n, logarithmic
y     ours / intelex, seconds of one run, logarithmic; below 1 ours is quicker
"""

from __future__ import annotations

import math
from pathlib import Path
from xml.sax.saxutils import escape

from tests.bench.problems import ONEDAL, PROBLEMS

PATH = Path(__file__).parent / "measured" / "peers.svg"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 420, 58, 130, 34, 46
NS, RATIOS = (200, 500, 1000, 2000, 5000, 10000, 20000, 60000), (0.1, 0.2, 0.5, 1, 2)
COLOURS = (  # on light and dark
    "#1f7fc4", "#d55e00", "#009e73", "#6a9a1f", "#cc79a7", "#a08000", "#35a7e0", "#8a7fd0", "#b0533c"
)  # fmt: skip
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#333}.grid{stroke:#999;stroke-opacity:.3}"
    ".one{stroke:#333;stroke-width:1.5}@media(prefers-color-scheme:dark){text{fill:#ddd}.one{stroke:#ddd}}"
)
LINE = 15  # pixels between two labels


def of(row: dict) -> float | None:
    """Ours / intelex of a problem's row; None where one of them was not measured."""
    seconds = [row["candidates"].get(who, {}).get("seconds") for who in ("ours", ONEDAL)]
    return seconds[0] / seconds[1] if all(seconds) else None


def lines(rows: dict) -> dict[str, list[tuple[int, float]]]:
    """Kind -> (n, ours / intelex), ascending, of kinds that were measured at two sizes or more."""
    found: dict[str, list[tuple[int, float]]] = {}
    for name, row in rows.items():
        kind, ratio = PROBLEMS[name].kind, of(row)
        if kind and ratio:
            found.setdefault(kind, []).append((row["n"], ratio))
    return {kind: sorted(points) for kind, points in found.items() if len(points) > 1}


def picture(rows: dict) -> str:
    """The SVG of what was measured: problem -> row."""
    found = lines(rows)
    ratios = [ratio for points in found.values() for _, ratio in points]
    low, high = min([*ratios, RATIOS[0]]), max([*ratios, RATIOS[-1]])

    def x(n):
        return round(between(n, NS[0], NS[-1], LEFT, WIDTH - RIGHT), 1)

    def y(ratio):
        return round(between(ratio, low * 0.9, high * 1.1, HEIGHT - BOTTOM, TOP), 1)

    parts = [text(LEFT, 16, "seconds of a fit, ours / scikit-learn-intelex", "start")]
    for n in NS:
        parts += [rule(x(n), x(n), TOP, HEIGHT - BOTTOM, "grid"), text(x(n), HEIGHT - BOTTOM + 18, f"{n:,}")]
    for ratio in RATIOS:
        parts.append(rule(LEFT, WIDTH - RIGHT, y(ratio), y(ratio), "one" if ratio == 1 else "grid"))
        parts.append(text(LEFT - 8, y(ratio) + 4, f"{ratio:g}", "end"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "examples"))
    ends = _apart({kind: y(points[-1][1]) for kind, points in found.items()})
    for colour, (kind, points) in zip(COLOURS, found.items(), strict=False):
        at = [(x(n), y(ratio)) for n, ratio in points]
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{joined(at)}"/>')
        parts += [f'<circle cx="{a}" cy="{b}" r="3.5" fill="{colour}"/>' for a, b in at]
        label = f'<tspan style="fill:{colour};font-weight:600">{escape(kind)}</tspan>'
        parts.append(f'<text x="{WIDTH - RIGHT + 12}" y="{ends[kind] + 4:.1f}">{label}</text>')
        parts.append(rule(at[-1][0] + 5, WIDTH - RIGHT + 9, at[-1][1], ends[kind], "grid"))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
    return "\n".join([head, f"<style>{STYLE}</style>", *parts, "</svg>\n"])


def between(value, low, high, first, last) -> float:
    """A logarithmic scale: low at `first`, high at `last`."""
    return first + (last - first) * math.log(value / low) / math.log(high / low)


def _apart(heights: dict[str, float]) -> dict[str, float]:
    """Heights of labels at least a line apart, in their order."""
    placed, least = {}, -math.inf
    for kind, height in sorted(heights.items(), key=lambda item: item[1]):
        placed[kind] = least = max(height, least + LINE)
    over = max(0.0, least - (HEIGHT - BOTTOM))
    return {kind: height - over for kind, height in placed.items()}


def joined(points) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def text(x, y, words: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'


def rule(x1, x2, y1, y2, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}"/>'
