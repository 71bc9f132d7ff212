"""The chaos bench's customers and operators: everything that knocks on the factory from outside.

Belongs here: HTTP, messages, commands, as people and systems send them. Does not: when.
"""

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import httpx
from bench_place import Place
from chaos_plan import CAMPAIGN, POISON, STRANDED, TENANTS, Planned

from fireflyassets.core.ids import LETTERS
from fireflyassets.core.message import Requested, request_body
from fireflyassets.local.customer import Customer, Doors
from fireflyassets.local.sample import Sample
from fireflyassets.settings import Settings

QUEUE, BUCKET = Settings().queue, Settings().bucket


class Crowd:
    """Whoever sends, cancels, mends."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._access = place.stack.access
        self._open = ExitStack()
        self._customers: dict[str, Customer] = {}

    def __enter__(self) -> Self:
        """Open each customer's client."""
        for tenant in TENANTS:
            api, aws = self._access.url("api"), self._access.url("aws")
            doors = Doors(api, self._access.tokens[tenant.name], aws, QUEUE)
            made = Customer(doors, customer=tenant.name, campaign=CAMPAIGN)
            self._customers[tenant.name] = self._open.enter_context(made)
        return self

    def __exit__(self, *_: object) -> None:
        """Close them."""
        self._open.close()

    def send(self, jobs: Iterable[Planned]) -> None:
        """Send jobs, each by its door; some again, and some into the dead-letter queue."""
        by_tenant: defaultdict[str, list[Planned]] = defaultdict(list)
        for job in jobs:
            by_tenant[job.customer].append(job)
        for name, mine in by_tenant.items():
            self._send(self._customers[name], mine)
            self._cancel([job for job in mine if job.fault.name == "cancelled"])
            self._redrive([job for job in mine if job.fault.name == "redriven"])

    def _send(self, customer: Customer, jobs: Sequence[Planned]) -> None:
        sent = [job for job in jobs if job.fault.name != "redriven"]
        by_hand = {"cancelled"}  # Whose id has to be known before anybody works on it.
        queued = frozenset(
            job.key for job in sent if job.by_queue and job.fault.name not in by_hand
        )
        sample = Sample(tuple(job.request for job in sent), queued)
        if sample.by_api:
            customer.post_csv(sample.csv()).raise_for_status()
        customer.send(sample.by_queue)
        again = [job.request for job in sent if job.fault.name == "sent-again"]
        customer.send([*again, *again])

    def _cancel(self, jobs: Sequence[Planned]) -> None:
        for job in jobs:
            self.cancel(job)

    def cancel(self, job: Planned) -> None:
        """Cancel a job, as its customer."""
        httpx.post(
            f"{self._access.url('api')}/v1/jobs/{job.job_id}/cancel",
            headers={"Authorization": f"Bearer {self._access.tokens[job.customer]}"},
            trust_env=False,
            timeout=30.0,
        ).raise_for_status()

    def _redrive(self, jobs: Sequence[Planned]) -> None:
        """Put requests where SQS puts what was received too often."""
        bodies = [request_body(Requested(job.customer, CAMPAIGN, job.request)) for job in jobs]
        self._message(f"{QUEUE}-dlq", bodies)

    def poison(self) -> None:
        """Send what no job answers for."""
        self._message(QUEUE, POISON)
        self._message(f"{QUEUE}-dlq", STRANDED)

    def _message(self, queue: str, bodies: Sequence[str]) -> None:
        sqs = self._place.aws("sqs")
        url = sqs.get_queue_url(QueueName=queue)["QueueUrl"]
        for body in bodies:
            sqs.send_message(QueueUrl=url, MessageBody=body)
        sqs.close()

    def keys(self, prefix: str) -> set[str]:
        """Return the keys of the bucket under *prefix*."""
        s3 = self._place.aws("s3")
        pages = s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
        found = {one["Key"] for page in pages for one in page.get("Contents", [])}
        s3.close()
        return found

    def drop_letters(self) -> None:
        """Settle the dead letters that no job answers for, once they were read."""
        if keys := sorted(self.keys(LETTERS)):
            print(self.command("dlq", "drop", *keys, "--by", "bench", "--why", "read"), flush=True)

    def command(self, *words: str) -> str:
        """Run an operator's command and return what it says."""
        program = Path(sys.executable).with_name("fireflyassets")
        told = subprocess.run(
            [str(program), *words],
            env=dict(self._place.variables),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        if told.returncode:
            raise SystemExit(f"{' '.join(words)} failed: {told.stdout}{told.stderr}")
        return told.stdout
