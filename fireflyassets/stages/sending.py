"""Sending: a producer's requests on their way into the job queue.

In: requests of jobs. Out: messages, and in the bucket what the queue does not take.
Spends: nothing. A producer may as well write messages itself, by their schema.
"""

import hashlib
from collections.abc import Sequence

from fireflyassets.core import ids
from fireflyassets.core.message import BODY_LIMIT, Pointed, Requested, pointer_body, request_body
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.ports.queue import JobQueue, check_sizes


def send_requests(queue: JobQueue, objects: ObjectStore, requests: Sequence[Requested]) -> None:
    """Send a producer's requests; one that the queue does not take goes through the bucket.

    Raises:
        ValueError: A request is larger than anybody reads; none was sent.
    """
    bodies = [request_body(request) for request in requests]
    check_sizes(bodies, BODY_LIMIT)
    for customer in dict.fromkeys(request.customer for request in requests):
        mine = [
            _fitting(queue, objects, body, customer)
            for request, body in zip(requests, bodies, strict=True)
            if request.customer == customer
        ]
        queue.send(mine, tenant=customer)


def _fitting(queue: JobQueue, objects: ObjectStore, body: str, customer: str) -> str:
    content = body.encode()
    if len(content) <= queue.most_bytes:
        return body
    digest = hashlib.sha256(content).hexdigest()
    # Before its message: whoever reads that one finds it.
    objects.put(ids.inbox_key(customer, digest), content, media_type="application/json")
    return pointer_body(Pointed(customer, digest))
