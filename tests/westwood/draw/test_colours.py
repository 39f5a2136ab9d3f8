# SPDX-License-Identifier: BSD-3-Clause
"""Any two colours of the catalogue are distinct for all kinds of colour vision.

Colour blindness follows Machado, Oliveira and Fernandes (2009, severity 1), and the distance of two
colours is CIEDE2000 (Sharma, Wu and Dalal 2005). About 2 is just noticeable.
"""

import itertools

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.colors import to_rgb

from westwood.control.catalogue import LOOKS, PROTOCOLS
from westwood.draw.style import PALETTE

Floats = npt.NDArray[np.float64]

EYES: dict[str, Floats] = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
OFTEN = ("reno", "newreno", "sack", "westwood", "westwood+", "cubic", "bbr")
APART, OFTEN_APART, FILES_APART = 14.5, 20.0, 10.5


def lab(colour: str, eye: Floats) -> Floats:
    """Returns the CIELAB (D65) coordinates of a colour for this kind of vision."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(eye @ linear, 0, 1)
    relative = (XYZ @ seen) / XYZ.sum(axis=1)
    f = np.where(relative > 216 / 24389, np.cbrt(relative), (24389 / 27 * relative + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def ciede2000(colour: Floats, two: Floats) -> float:
    (l1, a1, b1), (l2, a2, b2) = colour, two
    chroma = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    g = 0.5 * (1 - np.sqrt(chroma**7 / (chroma**7 + 25.0**7)))
    c1, c2 = np.hypot(a1 * (1 + g), b1), np.hypot(a2 * (1 + g), b2)
    h1 = np.degrees(np.arctan2(b1, a1 * (1 + g))) % 360
    h2 = np.degrees(np.arctan2(b2, a2 * (1 + g))) % 360
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    hue_difference = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn) / 2)
    mean_l, mean_c = (l1 + l2) / 2, (c1 + c2) / 2
    mean_h = h1 + h2 if c1 * c2 == 0 else (h1 + turn / 2) % 360
    t = (
        1
        - 0.17 * np.cos(np.radians(mean_h - 30))
        + 0.24 * np.cos(np.radians(2 * mean_h))
        + 0.32 * np.cos(np.radians(3 * mean_h + 6))
        - 0.20 * np.cos(np.radians(4 * mean_h - 63))
    )
    s_l = 1 + 0.015 * (mean_l - 50) ** 2 / np.sqrt(20 + (mean_l - 50) ** 2)
    s_c, s_h = 1 + 0.045 * mean_c, 1 + 0.015 * mean_c * t
    rotation = -np.sin(np.radians(60 * np.exp(-(((mean_h - 275) / 25) ** 2))))
    rotation *= 2 * np.sqrt(mean_c**7 / (mean_c**7 + 25.0**7))
    parts = (l2 - l1) / s_l, (c2 - c1) / s_c, hue_difference / s_h
    return float(np.sqrt(sum(p * p for p in parts) + rotation * parts[1] * parts[2]))


def nearest(left: str, right: str) -> float:
    """Returns the smallest distance over all kinds of vision."""
    return min(ciede2000(lab(left, eye), lab(right, eye)) for eye in EYES.values())


@pytest.mark.parametrize(
    ("left", "right", "distance"),  # test data of Sharma, Wu and Dalal
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((50, 2.5, 0), (58, 24, 15), 19.4535),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_distance_is_ciede2000(left, right, distance):
    assert ciede2000(np.array(left), np.array(right)) == pytest.approx(distance, abs=5e-5)


def test_any_two_protocols_can_be_told_apart():
    """Variants of one protocol share its colour but have other lines and marks."""
    colours = {protocol.style.color: name for name, protocol in PROTOCOLS.items()}
    assert len(colours) >= 12
    for left, right in itertools.combinations(colours, 2):
        assert nearest(left, right) > APART, (colours[left], colours[right])


def test_protocols_often_drawn_together_differ_most():
    colours = [PROTOCOLS[name].style.color for name in OFTEN]
    for left, right in itertools.combinations(colours, 2):
        assert nearest(left, right) > OFTEN_APART, (left, right)


def test_controls_from_files_can_be_told_apart_from_what_is_often_beside_them():
    files = [look.partition(" ")[0] for look in LOOKS]
    often = [PROTOCOLS[name].style.color for name in OFTEN]
    for place, file in enumerate(files):
        for two in [*often, *files[:place]]:
            assert nearest(file, two) > FILES_APART, (file, two)


def test_colours_of_the_palette_can_be_told_apart():
    for left, right in itertools.combinations(PALETTE, 2):
        assert nearest(left, right) > APART, (left, right)
