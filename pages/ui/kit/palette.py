"""The colours of the lab, the same in every figure and gallery, legible on light and dark pages.

Okabe and Ito's palette, safe for colour-blind readers: blue = class +1 or a positive value, orange = class -1 or a
negative value, grey for everything else.
"""

BLUE = "#0072B2"
ORANGE = "#D55E00"
GREY = "#8A8F98"
INK = "#1F2024"
FAINT = "rgba(138,143,152,0.55)"  # grey that stands back: lines of single machines, a button until it is pointed at

CLEAR_BLUE = "rgba(0,114,178,0)"  # where a scale from nothing to blue, or to orange, begins: the page's colour
CLEAR_ORANGE = "rgba(213,94,0,0)"

BLUE_RGB = (0, 114, 178)
ORANGE_RGB = (213, 94, 0)

# Of classes, machines and runs, in the order in which they take them; more start again. Okabe and Ito's hues and four
# more, told apart without red or green cones too (tests/test_palette.py); beside each hue a shape, never a hue alone.
CLASS_COLOURS = (
    ORANGE, BLUE, "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#773300", "#005544", "#EEAA66", "#5599FF"
)  # fmt: skip
CLASS_SYMBOLS = (
    "square", "circle", "diamond", "triangle-up", "cross", "star", "triangle-down", "pentagon", "hexagram", "bowtie"
)  # fmt: skip


def signed(value: float) -> str:
    """Blue for positive values, orange for negative ones, grey for zero."""
    return BLUE if value > 0 else ORANGE if value < 0 else GREY
