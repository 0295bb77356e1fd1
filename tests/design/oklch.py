"""OKLCH to sRGB and WCAG contrast, from their published definitions (CSS Color 4 §9.3, WCAG 2.2 relative luminance)."""

from __future__ import annotations

import math

Colour = tuple[float, float, float]


def linear_srgb(lightness: float, chroma: float, hue_degrees: float) -> Colour:
    """Give linear-light red, green and blue of an OKLCH colour, cut to what a screen can show."""
    a = chroma * math.cos(math.radians(hue_degrees))
    b = chroma * math.sin(math.radians(hue_degrees))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    red = 4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short
    return (min(max(red, 0.0), 1.0), min(max(green, 0.0), 1.0), min(max(blue, 0.0), 1.0))


def luminance(colour: Colour) -> float:
    """Give the relative luminance of an OKLCH colour."""
    red, green, blue = linear_srgb(*colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Colour, other: Colour) -> float:
    """Give the contrast of two OKLCH colours, from 1 to 21."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)
