"""A small Firefly for the polling bench: it accepts at once and is done after a lognormal time.

Belongs here: token, generate and status, in a process of its own, without pictures and limits.
Does not: the twin's truth; only time matters here.
"""

import itertools
import math
import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from statistics import NormalDist

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

CHANCE = random.Random(1)  # noqa: S311 - latencies are no secret.
NUMBERS = itertools.count(1)
STRATA = 300
ENDS: dict[str, float] = {}


def deviates() -> Iterator[float]:
    """Yield normal deviates: of each block one from each stratum, so that luck moves no figure."""
    normal = NormalDist()
    while True:
        block = [normal.inv_cdf((n + CHANCE.uniform(0.01, 0.99)) / STRATA) for n in range(STRATA)]
        CHANCE.shuffle(block)
        yield from block


DEVIATES: defaultdict[str, Iterator[float]] = defaultdict(deviates)


async def token(_: Request) -> JSONResponse:
    """Mint a token for a day."""
    return JSONResponse({"access_token": "t" * 40, "expires_in": 86399, "token_type": "bearer"})


async def generate(request: Request) -> JSONResponse:
    """Accept a job; its prompt says ``<median seconds> <sigma>``, its id the time and the end."""
    prompt = (await request.json())["prompt"]
    median, sigma = map(float, prompt.split())
    seconds = median * math.exp(sigma * next(DEVIATES[prompt]))
    ends_at = time.time() + seconds  # noqa: TID251 - the truth that the bench compares with.
    name = f"urn:ff:jobs:bench:{next(NUMBERS)}-{seconds:.4f}-{ends_at:.4f}"
    ENDS[name] = ends_at
    url = f"{request.base_url}v3/status/{name}"
    return JSONResponse({"jobId": name, "statusUrl": url, "cancelUrl": url}, 202)


async def status(request: Request) -> JSONResponse:
    """Say whether a job is done."""
    name = request.path_params["name"]
    if time.time() < ENDS[name]:  # noqa: TID251 - see above.
        return JSONResponse({"jobId": name, "status": "running"})
    outputs = [{"seed": 1, "image": {"url": f"{request.base_url}out/{name}"}}]
    return JSONResponse({"jobId": name, "status": "succeeded", "result": {"outputs": outputs}})


APP = Starlette(
    routes=[
        Route("/ims/token/v3", token, methods=["POST"]),
        Route("/v3/images/generate-async", generate, methods=["POST"]),
        Route("/v3/status/{name}", status),
    ]
)

if __name__ == "__main__":
    uvicorn.run(APP, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
