"""Clusters: jobs whose outputs look alike, so that a person looks at them together.

Belongs here: which jobs stand together. Does not: hashes (``core/perceptual.py``), pages.
"""

from collections.abc import Iterable
from typing import Final

from fireflyassets.core.job import JobRow
from fireflyassets.core.perceptual import distance

NEAR: Final = 10
"""Bits of 64 in which two pictures that look alike differ at most: as usual for this hash."""


def clusters(rows: Iterable[JobRow]) -> list[list[JobRow]]:
    """Return *rows* by likeness, the largest cluster first, each in the order given.

    A job joins the first cluster whose first job looks like it in every output. Those without
    hashes stand alone: nobody knows what they look like.
    """
    found: list[list[JobRow]] = []
    for row in rows:
        near = (cluster for cluster in found if is_near(cluster[0].looks, row.looks))
        cluster = next(near, None)
        if cluster is None:
            found.append([row])
        else:
            cluster.append(row)
    return sorted(found, key=len, reverse=True)


def is_near(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Say whether outputs look alike, each as its counterpart."""
    if not one or len(one) != len(other):
        return False
    return all(distance(a, b) <= NEAR for a, b in zip(one, other, strict=True))
