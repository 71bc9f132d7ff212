"""The twin's own routes, `/_twin/…`: faults, calls, totals, health.

Belongs here: what whoever rehearses asks of the twin itself. No credentials are needed, so the
twin must not be reachable by strangers. Does not belong here: anything of Adobe's.
"""

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from fireflyassets.twin.fault_language import FAULT_REQUESTS
from fireflyassets.twin.flaws import NotJsonError, read_json
from fireflyassets.twin.simulator import Simulator
from fireflyassets.twin.summary import summarised


class Control:
    """Answers the routes under `/_twin`."""

    def __init__(self, simulator: Simulator) -> None:
        self._sim = simulator

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/_twin/health", self.health, methods=["GET"]),
            Route("/_twin/calls", self.calls, methods=["GET"]),
            Route("/_twin/summary", self.summary, methods=["GET"]),
            Route("/_twin/faults", self.add_faults, methods=["POST"]),
            Route("/_twin/faults", self.faults, methods=["GET"]),
            Route("/_twin/faults", self.remove_faults, methods=["DELETE"]),
            Route("/_twin/faults/{fault_id}", self.remove_faults, methods=["DELETE"]),
            Route("/_twin/tokens", self.revoke_tokens, methods=["DELETE"]),
        ]

    async def health(self, _: Request) -> Response:
        """Say that the twin is up, and for how long."""
        age = self._sim.clock.now() - self._sim.started_at
        return JSONResponse(
            {
                "status": "ok",
                "started_at": self._sim.started_at.isoformat(),
                "uptime_seconds": round(age.total_seconds(), 3),
                "jobs": len(self._sim.jobs),
            }
        )

    async def calls(self, request: Request) -> Response:
        """List the calls on paid endpoints in order of arrival, after the row id `after`."""
        after = request.query_params.get("after")
        rows = self._sim.bills.rows
        first = 0
        if after is not None:
            first = next((index + 1 for index, row in enumerate(rows) if row.id == after), 0)
        polls = self._sim.bills.polls
        return JSONResponse(
            {
                "calls": [row.as_json(polls=polls[row.job_id or ""]) for row in rows[first:]],
                "mints": dict(self._sim.bills.mints),
            }
        )

    async def summary(self, _: Request) -> Response:
        """Return totals."""
        return JSONResponse(summarised(self._sim.bills))

    async def add_faults(self, request: Request) -> Response:
        """Put one fault, or a list of them, in force."""
        try:
            asked = read_json(await request.body())
            wanted = FAULT_REQUESTS.validate_python(asked if isinstance(asked, list) else [asked])
        except NotJsonError:
            return JSONResponse({"error": "not JSON"}, 400)
        except ValidationError as error:
            details = error.errors(include_url=False, include_context=False, include_input=False)
            return JSONResponse({"error": "not a fault", "details": details}, 422)
        now = self._sim.clock.now()
        added = [self._sim.faults.add(each, now) for each in wanted]
        return JSONResponse({"faults": [fault.as_json() for fault in added]}, 201)

    async def faults(self, _: Request) -> Response:
        """List the faults in force, with how often each matched and fired."""
        return JSONResponse({"faults": [fault.as_json() for fault in self._sim.faults.listed()]})

    async def remove_faults(self, request: Request) -> Response:
        """Lift one fault, or all."""
        fault_id: str | None = request.path_params.get("fault_id")
        removed = self._sim.faults.remove(fault_id)
        if fault_id is not None and not removed:
            return JSONResponse({"error": "no such fault"}, 404)
        return JSONResponse({"removed": removed})

    async def revoke_tokens(self, _: Request) -> Response:
        """End every token minted so far: the next call of each is answered 401014."""
        self._sim.accounts.revoke(self._sim.clock.now())
        return Response(status_code=204)
