"""How colours look: their contrast, their lightness, and what is left of them without a cone."""

import numpy as np
from matplotlib.colors import to_rgb

#: what no cone of one kind leaves of linear red, green and blue: Machado, Oliveira and Fernandes,
#: "A Physiologically-based Model for Simulation of Color Vision Deficiency", 2009, severity 1.0
EYES = {
    "all cones": np.eye(3),
    "protanopia": np.array([
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ]),
    "deuteranopia": np.array([
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]),
    "tritanopia": np.array([
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ]),
}  # fmt: skip


def linear(colour) -> np.ndarray:
    """Red, green and blue as amounts of light: `linear("white")` -> 1, 1, 1."""
    rgb = np.array(to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def luminance(colour, eye="all cones") -> float:
    return float(np.clip(EYES[eye] @ linear(colour), 0, 1) @ (0.2126, 0.7152, 0.0722))


def contrast(one, other) -> float:
    """As WCAG counts it: `contrast("black", "white")` -> 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def lightness(colour, eye="all cones") -> float:
    """L* of CIELAB: 0 is black, 100 is white."""
    y = luminance(colour, eye)
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y


def hue(colour, eye) -> np.ndarray:
    """a* and b* of CIELAB: what is left of a colour besides its lightness."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    seen = np.array(to_xyz) @ np.clip(EYES[eye] @ linear(colour), 0, 1) / (0.9505, 1, 1.089)
    x, y, z = np.where(seen > 0.008856, np.cbrt(seen), 7.787 * seen + 16 / 116)
    return np.array((500 * (x - y), 200 * (y - z)))
