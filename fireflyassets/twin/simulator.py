"""The parts of one twin, put together.

Belongs here: building every part from the settings and the journal, the keys, and the base of
the URLs handed out. Does not belong here: HTTP routes (`app.py`) and rules.
"""

import hashlib
from datetime import datetime, timedelta
from random import Random
from typing import cast

import httpx
from starlette.requests import Request

from fireflyassets.twin.accounts import Accounts
from fireflyassets.twin.bills import Bills, CallRow
from fireflyassets.twin.clock import Clock
from fireflyassets.twin.endpoints import BY_NAME, Endpoint
from fireflyassets.twin.faults import Faults
from fireflyassets.twin.jobs import Job, Jobs
from fireflyassets.twin.journal import Journal
from fireflyassets.twin.limiter import Limiter
from fireflyassets.twin.limits import DAY
from fireflyassets.twin.outputs import OutputStore, Signer
from fireflyassets.twin.pool import Pool
from fireflyassets.twin.records import call_from, job_from, job_row
from fireflyassets.twin.rendering import Renderer
from fireflyassets.twin.settings import Settings
from fireflyassets.twin.transfer import Transfer
from fireflyassets.twin.uploads import Upload, Uploads


class Simulator:
    """Everything one running twin knows and does."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        *,
        renderer: Renderer,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.settings = settings
        self.clock = clock
        self.renderer = renderer
        self.started_at = clock.now()
        self.journal = Journal(settings.state)
        self.accounts = Accounts(settings.clients, key=self._key("token"))
        self.signer = Signer(self._key("url"))
        self.limiter = Limiter(settings)
        self.faults = Faults(settings.seed)
        self.bills = Bills(
            rates=settings.rates, photoshop_billing=settings.photoshop_billing, keep=self._keep_call
        )
        self.jobs = Jobs(settings.retention)
        self.store = OutputStore(self.journal.folder, cache_bytes=settings.picture_cache_bytes)
        self.uploads = Uploads(self.store, ttl=settings.upload_ttl)
        self.transfer = Transfer(transport)
        self.pool = Pool(settings.render_in, settings.render_workers)
        self._restore()

    def dice(self, purpose: str, ordinal: int) -> Random:
        """Return dice that fall the same for the same seed, purpose and ordinal."""
        return Random(f"{self.settings.seed}:{purpose}:{ordinal}")

    def base_url(self, request: Request) -> str:
        """Return the base of output URLs, as the caller reaches this twin."""
        return (self.settings.public_url or str(request.base_url)).rstrip("/")

    def status_base_url(self, request: Request) -> str:
        """Return the base of status and cancel URLs."""
        return (self.settings.status_url or self.base_url(request)).rstrip("/")

    def admit(self, organisation: str, endpoint: Endpoint, *, factor: float) -> timedelta:
        """Count the call and return zero, or return how long its caller has to wait."""
        return self.limiter.admit(organisation, endpoint, self.clock.now(), factor=factor)

    def keep_job(self, job: Job) -> None:
        """Write a job's record down."""
        self.journal.append("job", job_row(job))

    def keep_upload(self, upload: Upload) -> None:
        """Write an upload's record down."""
        self.journal.append("upload", {**vars(upload), "ends_at": upload.ends_at.isoformat()})

    def tidy(self) -> None:
        """Forget job records past retention, and their bytes."""
        for output in self.jobs.forget_old(self.clock.now()):
            self.store.drop(output.id)

    def close(self) -> None:
        """Write the counters down and let go of files and workers."""
        counters = {
            "polls": dict(self.bills.polls),
            "mints": dict(self.bills.mints),
            "throttled": dict(self.bills.throttled),
        }
        self.journal.append("counters", counters)
        self.journal.close()
        self.pool.close()
        self.store.close()

    def _key(self, purpose: str) -> bytes:
        return hashlib.sha256(f"{self.settings.seed}:{purpose}".encode()).digest()

    def _keep_call(self, row: CallRow) -> None:
        self.journal.append("call", row.as_json())

    def _restore(self) -> None:
        jobs: dict[str, Job] = {}
        for row in self.journal.read():
            if row["kind"] == "call":
                self.bills.restore(call_from(row))
            elif row["kind"] == "job":
                jobs[str(row["id"])] = job_from(row)
            elif row["kind"] == "upload":
                self._restore_upload(row)
            else:
                self._restore_counters(row)
        for job in sorted(jobs.values(), key=lambda job: job.accepted_at):
            self.jobs.add(job)
        self._recount()

    def _restore_upload(self, row: dict[str, object]) -> None:
        self.uploads.restore(
            Upload(
                id=str(row["id"]),
                organisation=str(row["organisation"]),
                ends_at=datetime.fromisoformat(str(row["ends_at"])),
            )
        )

    def _restore_counters(self, row: dict[str, object]) -> None:
        counted = cast("dict[str, dict[str, int]]", row)
        self.bills.polls.clear()
        self.bills.polls.update(counted["polls"])
        self.bills.mints.clear()
        self.bills.mints.update(counted["mints"])
        self.bills.throttled.clear()
        self.bills.throttled.update(counted["throttled"])

    def _recount(self) -> None:
        """Fill the limit windows with the calls of the last day: a restart gives no fresh day."""
        oldest = self.clock.now() - DAY
        for row in self.bills.rows:
            if row.counted and row.organisation and row.at > oldest:
                self.limiter.count(row.organisation, BY_NAME[row.endpoint], row.at)
