"""What eyes tell apart: contrast, and the difference of colours as normal and as colour-blind eyes see them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dprl.figures import style

Array = NDArray[np.float64]

# Machado, Oliveira, Fernandes 2009, severity 1.
EYES = {
    "normal": np.eye(3),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])


def contrast(a: str, b: str) -> float:
    """WCAG 2 contrast ratio, 1 to 21."""
    low, high = sorted((style.luminance(a), style.luminance(b)))
    return (high + 0.05) / (low + 0.05)


def lab(color: str, eye: str) -> Array:
    """CIELAB of #RRGGBB as one of EYES sees it."""
    channels = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(EYES[eye] @ linear, 0, 1) / WHITE
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(one: Array, other: Array) -> Array:
    """CIEDE2000 between colours in CIELAB, [..., 3]; about 2.3 is just noticeable. Sharma, Wu, Dalal 2005, (2)-(22)."""
    L1, a1, b1 = np.moveaxis(one, -1, 0)
    L2, a2, b2 = np.moveaxis(other, -1, 0)
    mean = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    G = 0.5 * (1 - np.sqrt(mean**7 / (mean**7 + 25.0**7)))
    C1, C2 = np.hypot((1 + G) * a1, b1), np.hypot((1 + G) * a2, b2)
    h1 = np.degrees(np.arctan2(b1, (1 + G) * a1)) % 360
    h2 = np.degrees(np.arctan2(b2, (1 + G) * a2)) % 360
    turn = (h2 - h1 + 180) % 360 - 180
    dL, dC, dH = L2 - L1, C2 - C1, 2 * np.sqrt(C1 * C2) * np.sin(np.radians(turn / 2))
    L, C, h = (L1 + L2) / 2, (C1 + C2) / 2, (h1 + turn / 2) % 360
    T = (
        1
        - 0.17 * np.cos(np.radians(h - 30))
        + 0.24 * np.cos(np.radians(2 * h))
        + 0.32 * np.cos(np.radians(3 * h + 6))
        - 0.20 * np.cos(np.radians(4 * h - 63))
    )
    S_L = 1 + 0.015 * (L - 50) ** 2 / np.sqrt(20 + (L - 50) ** 2)
    S_C, S_H = 1 + 0.045 * C, 1 + 0.015 * C * T
    turned = np.sin(np.radians(60 * np.exp(-(((h - 275) / 25) ** 2))))
    R_T = -2 * turned * np.sqrt(C**7 / (C**7 + 25.0**7))
    found = (dL / S_L) ** 2 + (dC / S_C) ** 2 + (dH / S_H) ** 2 + R_T * (dC / S_C) * (dH / S_H)
    return np.asarray(np.sqrt(found))
