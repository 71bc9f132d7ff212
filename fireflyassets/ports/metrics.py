"""Where numbers go, as a port. Does not belong here: what is counted (``core/metric.py``)."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime

from fireflyassets.core.tally import Series


class MetricSink(ABC):
    """Keeps numbers for people and alarms; never for decisions about money."""

    @abstractmethod
    def send(self, series: Sequence[Series], *, at: datetime) -> int:
        """Keep *series* under the time *at*; return how many of them were not taken.

        Never raises for want of whoever keeps them: numbers are lost before work is.
        """
