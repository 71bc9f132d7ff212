"""The walk: every page by an address that shows it, in each of its states.

Here: addresses. A route of the pages that is in neither table makes a test fail: add it with the
states that people meet. Not here: what is checked of each (``test_in_chromium.py``).
"""

from collections.abc import Callable

from fireflyassets_tests.api.pages.site import HELD, Site
from fireflyassets_tests.front_door import CAMPAIGN

HERE = f"/campaigns/{CAMPAIGN}"

NO_PAGES = {
    "/": "leads to the campaigns",
    "/sign-in": "leads to the provider",
    "/sign-in/done": "leads back from it",
    "/style/{mark}.css": "the style sheet",
    "/campaigns/{campaign}/jobs/{job_id}/pictures/{name}": "a picture",
    "/jobs/{job_id}/outputs/{aspect}": "leads to a file",
    "/jobs/{job_id}/templates/{aspect}": "a picture",
}
"""Routes that answer GET with something else than a page."""

PAGES: dict[str, dict[str, Callable[[Site], str]]] = {
    "/campaigns": {
        "campaigns": lambda _: "/campaigns",
        "campaigns, behind the last": lambda _: "/campaigns?after=zzz",
    },
    "/campaigns/{campaign}": {
        "campaign": lambda _: HERE,
        "campaign, filtered": lambda _: f"{HERE}?status=review",
        "campaign, nothing of the kind": lambda _: f"{HERE}?status=failed",
        "campaign, shown anew by itself": lambda _: f"{HERE}?live=true",
        "campaign, done": lambda _: f"{HERE}?done=hold",
        "campaign on hold, without jobs": lambda _: "/campaigns/summer-garden",
        "campaign out of service": lambda _: "/campaigns/broken",
    },
    "/campaigns/{campaign}/plan": {"plan, before a brief": lambda _: f"{HERE}/plan"},
    "/campaigns/{campaign}/review": {
        "review": lambda _: "/campaigns/reviewed/review",
        "review, nothing waits": lambda _: f"{HERE}/review",
    },
    "/jobs/{job_id}/review": {
        "candidate": lambda here: f"/jobs/{here.jobs['candidate-0']}/review",
        "candidate, decided": lambda here: f"/jobs/{here.jobs['candidate-1']}/review",
    },
    "/jobs/{job_id}": {
        "job done": lambda here: f"/jobs/{here.jobs['done']}",
        "job refused, with markup": lambda here: f"/jobs/{here.jobs['refused']}",
        "job in Arabic": lambda here: f"/jobs/{here.jobs['arabic']}",
        "job on hold": lambda here: f"/jobs/{here.jobs[HELD]}",
    },
    "/new-campaign": {"new campaign": lambda _: "/new-campaign?like=summer-garden"},
    "/dead-letters": {"dead letters": lambda _: "/dead-letters"},
    "/webhooks": {
        "webhooks": lambda _: "/webhooks",
        "webhooks, done": lambda _: "/webhooks?done=test",
    },
    "/recall": {
        "recall": lambda _: "/recall",
        "recall, with hits": lambda _: "/recall?since=2020-01-01T00:00:00Z",
        "recall, refused": lambda _: "/recall?since=yesterday",
    },
    "/metrics": {"metrics": lambda _: "/metrics"},
    "/signed-out": {"signed out": lambda _: "/signed-out"},
}
"""Route -> what one sees -> the address, behind the pages' own."""

ERRORS: dict[str, Callable[[Site], str]] = {
    "not found": lambda _: "/nowhere",
    "no such job": lambda _: "/jobs/none",
    "a sign-in that fails": lambda _: "/sign-in/done?state=x",
    "a cursor that is none": lambda _: f"{HERE}?cursor=x",
}
