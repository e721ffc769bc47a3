"""The colours of the lab, the same in every figure and gallery, legible on light and dark pages.

Okabe and Ito's palette, safe for colour-blind readers: blue = class +1 or a positive value, orange = class -1 or a
negative value, grey for everything else.
"""

BLUE = "#0072B2"
ORANGE = "#D55E00"
GREY = "#8A8F98"
PAPER = "#ECEDF0"  # the lightest grey of a shaded cell, and the ink of numbers on it, in both themes
INK = "#1F2024"

LIGHT_BLUE = "#C5DDED"  # where a scale from nothing to blue, or to orange, begins
LIGHT_ORANGE = "#F6D9C8"

BLUE_RGB = (0, 114, 178)
ORANGE_RGB = (213, 94, 0)

# Okabe and Ito's hues in the order in which classes of a plane take them; more classes start again.
CLASS_COLOURS = (ORANGE, BLUE, "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#8A8F98")


def signed(value: float) -> str:
    """Blue for positive values, orange for negative ones, grey for zero."""
    return BLUE if value > 0 else ORANGE if value < 0 else GREY
