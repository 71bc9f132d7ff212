"""The real embedded AWS when it can't write: a limit on the size of files stands for a disk."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from botocore.session import get_session

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.local import keeping
from fireflyassets.local.access import Access, recall
from fireflyassets.local.environment import DUMMY, REGION, compose
from fireflyassets.local.folder import StateFolder
from fireflyassets.local.keeping import StateLost
from fireflyassets.local.service import Service
from fireflyassets.local.services import Composition, phases
from fireflyassets.local.stack import Stack, stopped_at_the_end

pytestmark = pytest.mark.stack

PROJECT = Path(__file__).parents[2]
NO_FILE_ABOVE_64_KB = 'ulimit -f 128; exec "$0" "$@"'


def embedded_aws(folder: StateFolder, access: Access, temporary: Path) -> Service:
    """Return the service as the stack starts it."""
    variables = compose(
        {}, folder=folder, access=access, project=PROJECT, secrets={}, temporary=temporary
    )
    made = Composition(
        folder=folder, access=access, environment=variables, project=PROJECT, module=""
    )
    (first, *_), *_ = phases(made)
    assert isinstance(first, Service)
    return first


def work(stack: Stack, service: Service, *, items: int) -> None:
    """Start the service, keep some items in it, touch the others that must be saved, and stop."""
    url = stack.access.url("aws")
    keys = {"aws_access_key_id": DUMMY, "aws_secret_access_key": DUMMY}
    made = (
        get_session().create_client(name, endpoint_url=url, region_name=REGION, **keys)
        for name in ("dynamodb", "s3", "sqs")
    )
    with stopped_at_the_end(stack):
        stack.start(((service,),))
        keeping.mark(stack.folder)
        dynamodb, s3, sqs = cast("list[Any]", list(made))
        if "table" not in dynamodb.list_tables()["TableNames"]:
            dynamodb.create_table(
                TableName="table",
                AttributeDefinitions=[{"AttributeName": "k", "AttributeType": "S"}],
                KeySchema=[{"AttributeName": "k", "KeyType": "HASH"}],
                BillingMode="PAY_PER_REQUEST",
            )
        for n in range(items):
            dynamodb.put_item(
                TableName="table", Item={"k": {"S": str(n)}, "v": {"S": "x" * 50_000}}
            )
        s3.create_bucket(Bucket="bucket")
        sqs.create_queue(QueueName="queue")
        for client in (dynamodb, s3, sqs):
            client.close()


def test_save_that_fails_is_said_and_the_next_start_refused(tmp_path: Path) -> None:
    """What an earlier stop saved stays on the disk, so that its age alone tells."""
    folder = StateFolder(tmp_path / "state")
    folder.prepare(needed_bytes=0)
    access = recall(folder, asked={}, customers=[], clock=SystemClock())
    stack = Stack(folder, access, lambda _: None, least_bytes=0)
    service = embedded_aws(folder, stack.access, tmp_path)
    with keeping.kept(folder):
        work(stack, service, items=1)
    keeping.require_whole(folder)
    narrow = replace(service, command=("/bin/sh", "-c", NO_FILE_ABOVE_64_KB, *service.command))

    with pytest.raises(StateLost, match=r"did not save dynamodb\.json in .* The disk at /"):
        stop_and_look(stack, narrow)

    with pytest.raises(StateLost, match=r"ended without saving dynamodb\.json"):
        keeping.require_whole(folder)


def stop_and_look(stack: Stack, service: Service) -> None:
    """Work with the service as a stack does, from its start to the look at what was saved."""
    with keeping.kept(stack.folder):
        work(stack, service, items=3)
