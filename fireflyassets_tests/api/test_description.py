"""The API's description. Here: what it promises is what the routes do, asked in every odd way."""

import json
from importlib.metadata import version

import schemathesis
from schemathesis.config import (
    GenerationConfig,
    ProjectConfig,
    ProjectsConfig,
    SchemathesisConfig,
)
from schemathesis.specs.openapi.checks import positive_data_acceptance

from fireflyassets.api.bodies import PICTURES
from fireflyassets.api.problems import MEDIA_TYPE
from fireflyassets_tests.api.desk_clerk import TOKEN, clerk, finished
from fireflyassets_tests.front_door import ASPECTS, CAMPAIGN

DESK = clerk()
JOB_ID = finished(DESK)
HOOKED = DESK.ask("POST", "/v1/endpoints", json={"url": "https://hooks.example.com/in"}).json()
TESTED = DESK.ask("POST", f"/v1/endpoints/{HOOKED['endpointId']}/test").json()
SCHEMA = schemathesis.openapi.from_dict(
    DESK.app.openapi(),
    config=SchemathesisConfig(
        seed=20261130,
        projects=ProjectsConfig(
            default=ProjectConfig(
                generation=GenerationConfig(
                    max_examples=15,
                    deterministic=True,
                    database="none",
                    with_security_parameters=False,
                )
            )
        ),
    ),
)
SCHEMA.app = DESK.app


@schemathesis.serializer(*PICTURES, "text/csv", "application/x-ndjson")
def _as_text(_: object, value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


@SCHEMA.parametrize()
def test_every_route_answers_as_described(case: schemathesis.Case) -> None:
    """Statuses, media types, headers and bodies are those of the description, whatever is asked."""
    case.call_and_validate(
        headers={"Authorization": f"Bearer {TOKEN}"},
        # A campaign's own rules (its locales, its aspects) are in no schema.
        excluded_checks=[positive_data_acceptance],
    )


@SCHEMA.include(method="GET").parametrize()
def test_what_is_there_is_told_as_described(case: schemathesis.Case) -> None:
    """So are the answers about a job that has run, which no invented id ever finds."""
    there = {"job_id": JOB_ID, "campaign": CAMPAIGN, "aspect": ASPECTS[0]}
    there |= {name: TESTED[f"{name[:-3]}Id"] for name in ("endpoint_id", "delivery_id")}
    case.path_parameters = {name: there[name] for name in case.path_parameters}

    answer = case.call_and_validate(
        headers={"Authorization": f"Bearer {TOKEN}"},
        excluded_checks=[positive_data_acceptance],
        allow_redirects=False,
    )

    assert case.method != "GET" or answer.status_code in {200, 304, 307, 400, 422}


def test_the_description_is_of_this_release() -> None:
    """OpenAPI 3.1, the package's version, and the address that customers use."""
    told = clerk().ask("GET", "/openapi.json", token=None).json()

    assert told["openapi"].startswith("3.1")
    assert told["info"]["version"] == version("fireflyassets")
    assert told["servers"] == [{"url": "https://assets.example"}]


def test_every_route_describes_what_it_answers() -> None:
    """A schema for each success with a body, an example for each problem, and the token."""
    paths = clerk().app.openapi()["paths"]

    for path, operations in paths.items():
        for operation in operations.values():
            assert operation["security"], path
            for status, answer in operation["responses"].items():
                if status.startswith("2"):
                    (schema,) = (kind["schema"] for kind in answer["content"].values())
                    is_table = set(answer["content"]) == {"text/csv"}
                    assert schema == {"type": "string"} if is_table else schema["$ref"], path
                elif not status.startswith("3"):
                    assert set(answer["content"]) == {MEDIA_TYPE}, (path, status)
                    assert answer["content"][MEDIA_TYPE]["example"]["status"] == int(status)


def test_no_shape_is_described_that_is_never_sent() -> None:
    """What FastAPI describes for its own validation errors is not what we answer."""
    assert "HTTPValidationError" not in json.dumps(clerk().app.openapi())
