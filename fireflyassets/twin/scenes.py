"""The pictures' motifs: hills, bubbles, ribbons, panes, dunes seen through an arch.

Belongs here: one function per motif, from dice, a coordinate grid and colours to a colour field.
Does not belong here: choosing the motif, scaling and encoding (`art.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fireflyassets.twin.palette import Field, blend, ramp


@dataclass(frozen=True)
class Grid:
    """Pixel coordinates: x over the width, y over the height, in units of the shorter side."""

    x: Field
    y: Field
    width: float
    height: float


def grid_of(width: int, height: int) -> Grid:
    """Return the grid of a picture of *width* x *height* pixels."""
    shorter = min(width, height)
    xs = np.arange(width, dtype=np.float32) / shorter
    ys = np.arange(height, dtype=np.float32) / shorter
    x, y = np.meshgrid(xs, ys)
    return Grid(x, y, width / shorter, height / shorter)


def soft(edge: Field, blur: float) -> Field:
    """Return 1 where *edge* is negative, 0 where positive, smooth over *blur*."""
    return np.clip(0.5 - edge / max(blur, 1e-6), 0, 1)


def slope(grid: Grid, angle: float) -> Field:
    """Return a gradient from 0 to 1 across the picture along *angle* (radians)."""
    level = grid.x * np.float32(np.cos(angle)) + grid.y * np.float32(np.sin(angle))
    low, high = level.min(), level.max()
    return (level - low) / (high - low)


def hills(dice: np.random.Generator, grid: Grid, colours: Field) -> Field:
    """Layered ridges under a low sun."""
    picture = ramp(slope(grid, np.pi / 2 + dice.uniform(-0.4, 0.4)), colours[[1, 2, 3, 4]])
    sun_x = dice.uniform(0.15, 0.85) * grid.width
    sun_y = dice.uniform(0.12, 0.5) * grid.height
    distance = np.hypot(grid.x - sun_x, grid.y - sun_y)
    picture = blend(picture, colours[4], soft(distance - dice.uniform(0.08, 0.2), 0.01))
    picture = blend(picture, colours[3], 0.6 * np.exp(-((distance / 0.35) ** 2)))
    layers = int(dice.integers(3, 6))
    top = dice.uniform(0.35, 0.6)
    for layer in range(layers):
        share = layer / max(1, layers - 1)
        height = (top + (0.95 - top) * share) * grid.height
        ridge = np.full_like(grid.x[0], height)
        for octave in range(1, 5):
            swing = dice.uniform(0.03, 0.16) / octave
            ridge += swing * np.sin(grid.x[0] * octave * dice.uniform(2, 5) + dice.uniform(0, 6.3))
        tint = colours[3] * (1 - share) ** 1.4 + colours[0] * share**0.7
        picture = blend(picture, np.clip(tint, 0, 1), soft(ridge[None, :] - grid.y, 0.006))
    return picture


def bubbles(dice: np.random.Generator, grid: Grid, colours: Field) -> Field:
    """Soft glowing discs of many sizes over a gradient."""
    picture = ramp(slope(grid, dice.uniform(0, 6.3)), colours[[0, 1, 2]])
    for _ in range(int(dice.integers(9, 15))):
        size = dice.uniform(0.06, 0.42)
        distance = np.hypot(
            grid.x - dice.uniform(0, 1) * grid.width, grid.y - dice.uniform(0, 1) * grid.height
        )
        cover = soft(distance - size, dice.choice([0.01, 0.04, size]))
        shine = np.clip(1.15 - distance / size * dice.uniform(0.2, 0.7), 0, 1)
        picture = blend(
            picture, colours[int(dice.integers(1, 5))], cover * shine * dice.uniform(0.45, 0.9)
        )
    return picture


def ribbons(dice: np.random.Generator, grid: Grid, colours: Field) -> Field:
    """Warped bands, as silk or marble."""
    angle = dice.uniform(0, np.pi)
    along = grid.x * np.float32(np.cos(angle)) + grid.y * np.float32(np.sin(angle))
    across = grid.y * np.float32(np.cos(angle)) - grid.x * np.float32(np.sin(angle))
    warp = np.zeros_like(along)
    for octave in range(1, 4):
        warp += np.sin(across * octave * dice.uniform(2, 5) + dice.uniform(0, 6.3)) * (
            dice.uniform(0.2, 0.5) / octave
        )
    phase = along * dice.uniform(2.5, 6) + warp * dice.uniform(1, 2.4) + dice.uniform(0, 6.3)
    picture = ramp(0.5 + 0.5 * np.sin(phase), colours)
    light = 0.82 + 0.18 * np.sin(phase * 2 + across * dice.uniform(1, 4))
    return picture * light[..., None]


def panes(dice: np.random.Generator, grid: Grid, colours: Field) -> Field:
    """Stained glass: cells around scattered points, each with its own light."""
    count = int(dice.integers(10, 22))
    nearest = np.full_like(grid.x, 9.0)
    second = np.full_like(grid.x, 9.0)
    shade = np.zeros_like(grid.x)
    for _ in range(count):
        distance = np.hypot(
            grid.x - dice.uniform(0, 1) * grid.width, grid.y - dice.uniform(0, 1) * grid.height
        )
        closer = distance < nearest
        second = np.where(closer, nearest, np.minimum(second, distance))
        nearest = np.where(closer, distance, nearest)
        shade = np.where(closer, np.float32(dice.random()), shade)
    picture = ramp(np.clip(shade + 0.16 * (slope(grid, dice.uniform(0, 6.3)) - 0.5), 0, 1), colours)
    return blend(picture, colours[0] * 0.5, soft(second - nearest - 0.012, 0.01))


def arches(dice: np.random.Generator, grid: Grid, colours: Field) -> Field:
    """A row of nested arches on a ground, lit from one side."""
    picture = ramp(slope(grid, dice.uniform(0, 6.3)), colours[[4, 3]])
    ground = dice.uniform(0.68, 0.9) * grid.height
    picture = blend(picture, colours[1], soft(ground - grid.y, 0.004))
    for _ in range(int(dice.integers(1, 4))):
        centre = dice.uniform(0.15, 0.85) * grid.width
        crown = dice.uniform(0.3, 0.6) * grid.height
        radius = dice.uniform(0.16, 0.36)
        tints = dice.permutation(5)
        for ring in range(4):
            size = radius * (1 - ring * 0.22)
            dome = np.hypot(grid.x - centre, grid.y - crown) - size
            post = np.abs(grid.x - centre) - size
            edge = np.where(grid.y < crown, dome, np.maximum(post, grid.y - ground))
            picture = blend(picture, colours[int(tints[ring])], soft(edge, 0.006))
    light = 0.8 + 0.25 * slope(grid, dice.uniform(0, 6.3))
    return picture * light[..., None]


Scene = Callable[[np.random.Generator, Grid, Field], Field]
SCENES: tuple[Scene, ...] = (hills, bubbles, ribbons, panes, arches)
