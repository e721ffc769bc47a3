"""The colours of classes, as readers see them who lack a kind of cone."""

import numpy as np
import pytest

from pages.ui.kit import palette

# Machado, Oliveira and Fernandes, IEEE TVCG 15 (2009), severity 1, on linear RGB
SIGHT = {
    "all cones": np.eye(3),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
APART = 17  # CIE76; 2.3 is just seen side by side
PAGES = ("#fdfcfa", "#1a1a18")  # of .streamlit/config.toml, light and dark


def linear(colours):
    rgb = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in colours]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    xyz = rgb.clip(0, 1) @ TO_XYZ.T / (0.95047, 1, 1.08883)
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116).T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


@pytest.mark.parametrize("sight", SIGHT)
def test_ten_classes_are_told_apart_by_their_colours(sight):
    seen = lab(linear(palette.CLASS_COLOURS) @ SIGHT[sight].T)
    assert len(seen) >= 10
    distance = np.linalg.norm(seen[:, None] - seen, axis=-1)
    assert distance[~np.eye(len(seen), dtype=bool)].min() > APART


def test_every_colour_is_seen_on_a_light_and_on_a_dark_page_and_has_a_shape():
    light = linear(palette.CLASS_COLOURS) @ TO_XYZ[1]
    for page in linear(PAGES) @ TO_XYZ[1]:
        contrast = (np.maximum(light, page) + 0.05) / (np.minimum(light, page) + 0.05)
        assert contrast.min() > 1.7
    assert len(set(palette.CLASS_SYMBOLS)) == len(palette.CLASS_COLOURS)
