"""A program that makes the stack's tables, bucket and queues, as often as it is run.

Belongs here: handing the settings to the one function that makes them. Does not: what is made.
It runs as a process of its own, so that it reads the very environment that the services read.
"""

from fireflyassets.adapters.aws import clients
from fireflyassets.adapters.aws.provision import provision
from fireflyassets.settings import Settings


def main() -> None:
    """Make what is missing."""
    settings = Settings()
    provision(
        clients.dynamodb(),
        clients.s3(),
        clients.sqs(),
        prefix=settings.table_prefix,
        bucket=settings.bucket,
        queue=settings.queue,
    )


if __name__ == "__main__":
    main()
