"""The job ledger in DynamoDB.

Belongs here: the one class, put together from its parts. Does not: any write of its own.

Requests per call, where nothing competes: `record` one for 50 jobs; `claim`, `release`, `finish`
and `bind` one transaction each; `begin_attempt`, `accept_attempt` and `heartbeat` one write.
"""

from fireflyassets.adapters.aws.ledger_dead import LedgerDead
from fireflyassets.adapters.aws.ledger_intake import LedgerIntake
from fireflyassets.adapters.aws.ledger_reviews import LedgerReviews
from fireflyassets.adapters.aws.ledger_waves import LedgerWaves
from fireflyassets.ports.ledger import JobLedger


class DynamoLedger(LedgerIntake, LedgerWaves, LedgerDead, LedgerReviews, JobLedger):
    """The truth, in tables under one prefix. Safe to share by threads."""
