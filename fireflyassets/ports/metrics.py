"""Where numbers go and come from again, as ports.

Does not belong here: what is counted (``core/metric.py``), what is drawn (``core/plots.py``).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime

from fireflyassets.core.plots import Line, Plot
from fireflyassets.core.tally import Series


class MetricSink(ABC):
    """Keeps numbers for people and alarms; never for decisions about money."""

    @abstractmethod
    def send(self, series: Sequence[Series], *, at: datetime) -> int:
        """Keep *series* under the time *at*; return how many of them were not taken.

        Never raises for want of whoever keeps them: numbers are lost before work is.
        """


class MetricHistory(ABC):
    """Tells numbers of the past, for people to look at."""

    @abstractmethod
    def lines(self, plot: Plot, *, until: datetime) -> list[Line]:
        """Return a plot's lines over its span, which ends with *until*; empty ones are left out.

        Raises:
            StoreUnavailable: Whoever keeps the numbers does not answer now.
        """
