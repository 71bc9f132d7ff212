"""A customer's system: what knocks on the factory's two doors and takes its files away.

Belongs here: HTTP to the intake API and raw messages to the job queue, as an outsider sends them.
Does not: anything of the factory's inside; ids are worked out as the API's page says.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, cast

import httpx
from botocore.session import get_session
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fireflyassets.core.errors import FactoryError
from fireflyassets.core.message import Requested, request_body
from fireflyassets.core.request import RawRequest
from fireflyassets.core.status import Status
from fireflyassets.local.environment import DUMMY, REGION

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

TIMEOUT_SECONDS: Final = 30.0
NOT_FOUND: Final = 404
MESSAGES_AT_ONCE: Final = 10
BATCH: Final = "/v1/jobs:batch"
_WAITING: Final = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)


class UnexpectedAnswer(FactoryError):
    """The API answered a customer with what it must not answer."""

    remedy = "Read the API's log in the state folder."

    def __init__(self, asked: str, answer: httpx.Response) -> None:
        # Never the answer's own URL: behind a redirect it is a signed one.
        super().__init__(f"{asked} was answered {answer.status_code}.")


class Job(BaseModel):
    """A job as `GET /v1/jobs/{id}` shows it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    job_id: str = Field(alias="jobId")
    status: Status
    held: bool = False
    reason: str | None = None
    cost_estimate: Decimal = Field(alias="costEstimate")
    cost_actual: Decimal | None = Field(default=None, alias="costActual")
    cost_possible: Decimal | None = Field(default=None, alias="costPossible")


class _Problem(BaseModel):
    row: int | None = None
    field: str
    message: str


class _Told(BaseModel):
    """The part that an accepted brief and a refused one have in common."""

    problems: list[_Problem]


@dataclass(frozen=True, slots=True)
class Doors:
    """Where the two doors are, and the key to them."""

    api_url: str
    token: str
    aws_url: str
    queue: str


class Customer(AbstractContextManager["Customer"]):
    """One customer's client. Its bearer goes to the API alone, not where a redirect leads."""

    def __init__(self, doors: Doors, *, customer: str, campaign: str) -> None:
        self._customer = customer
        self._campaign = campaign
        self._http = httpx.Client(
            base_url=doors.api_url,
            headers={"Authorization": f"Bearer {doors.token}"},
            timeout=TIMEOUT_SECONDS,
            trust_env=False,
        )
        self._sqs = cast(
            "SQSClient",
            get_session().create_client(
                "sqs",
                endpoint_url=doors.aws_url,
                region_name=REGION,
                aws_access_key_id=DUMMY,
                aws_secret_access_key=DUMMY,
            ),
        )
        self._queue_url = self._url_of(doors.queue)
        self._dead_url = self._url_of(f"{doors.queue}-dlq")

    def __enter__(self) -> Self:
        """Return the client."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connections."""
        self._http.close()
        self._sqs.close()

    def post_csv(self, text: str) -> httpx.Response:
        """Send a brief to the API and return its answer, whatever it is."""
        return self._http.post(
            BATCH,
            params={"campaign": self._campaign},
            content=text.encode(),
            headers={"Content-Type": "text/csv; charset=utf-8"},
        )

    def send(self, requests: Sequence[RawRequest]) -> None:
        """Send each request as a raw message to the job queue."""
        bodies = [self._body(request) for request in requests]
        for start in range(0, len(bodies), MESSAGES_AT_ONCE):
            batch = enumerate(bodies[start : start + MESSAGES_AT_ONCE])
            self._sqs.send_message_batch(
                QueueUrl=self._queue_url,
                Entries=[{"Id": str(place), "MessageBody": body} for place, body in batch],
            )

    def waiting_messages(self) -> int:
        """Return how many messages are in the queue, those being read included."""
        return self._count(self._queue_url)

    def dead_messages(self) -> int:
        """Return how many messages the factory has set aside as hopeless."""
        return self._count(self._dead_url)

    def job(self, job_id: str) -> Job | None:
        """Return how a job stands, or None while there is none of that id."""
        path = f"/v1/jobs/{job_id}"
        answer = self._http.get(path)
        if answer.status_code == NOT_FOUND:
            return None
        if not answer.is_success:
            raise UnexpectedAnswer(f"GET {path}", answer)
        return Job.model_validate(answer.json())

    def jobs(self, job_ids: Iterable[str]) -> dict[str, Job]:
        """Return the jobs of *job_ids* that exist."""
        found = ((job_id, self.job(job_id)) for job_id in job_ids)
        return {job_id: job for job_id, job in found if job is not None}

    def output(self, job_id: str, aspect: str) -> bytes:
        """Download a rendition through the API's redirect to a signed URL."""
        path = f"/v1/jobs/{job_id}/outputs/{aspect}"
        answer = self._http.get(path, follow_redirects=True)
        if not answer.is_success:
            raise UnexpectedAnswer(f"GET {path}", answer)
        return answer.content

    def _url_of(self, queue: str) -> str:
        return self._sqs.get_queue_url(QueueName=queue)["QueueUrl"]

    def _count(self, queue_url: str) -> int:
        told = self._sqs.get_queue_attributes(QueueUrl=queue_url, AttributeNames=list(_WAITING))
        return sum(int(told["Attributes"][name]) for name in _WAITING)

    def _body(self, request: RawRequest) -> str:
        return request_body(Requested(self._customer, self._campaign, request))


def refused_rows(answer: httpx.Response) -> list[str]:
    """Return a sentence for each row that the answer to a brief refuses, accepted or not.

    Raises:
        UnexpectedAnswer: The brief was refused without a word about its rows.
    """
    try:
        told = _Told.model_validate_json(answer.content)
    except ValidationError as error:
        raise UnexpectedAnswer(f"POST {BATCH}", answer) from error
    if not told.problems and not answer.is_success:
        raise UnexpectedAnswer(f"POST {BATCH}", answer)
    return [f"row {each.row}, {each.field}: {each.message}" for each in told.problems]
