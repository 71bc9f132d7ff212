"""Uploads and custom models."""

from datetime import timedelta
from uuid import UUID

import pytest

from fireflyassets_tests.twin.rehearsal import EVE, Rehearsal, picture, rehearse

UPLOAD = "/v2/storage/image"
MODELS = "/v3/custom-models"


async def uploaded(twin: Rehearsal) -> str:
    headers = {**await twin.headers(), "Content-Type": "image/png"}
    answer = await twin.http.post(UPLOAD, content=picture(), headers=headers)
    assert answer.status_code == 200
    upload_id: str = answer.json()["images"][0]["id"]
    return upload_id


def similar(upload_id: str) -> dict[str, object]:
    return {"image": {"source": {"uploadId": upload_id}}}


def test_upload_can_be_used_for_a_week() -> None:
    """The id is a UUID 4, works for its organisation only, and dies after seven days."""

    async def steps(twin: Rehearsal) -> None:
        upload_id = await uploaded(twin)
        assert UUID(upload_id).version == 4
        path = "/v3/images/generate-similar-async"
        assert (await twin.post(path, similar(upload_id))).status_code == 202
        assert (await twin.post(path, similar(upload_id), client=EVE)).status_code == 422
        twin.clock.shift = timedelta(days=7)
        twin.tokens.clear()
        assert (await twin.post(path, similar(upload_id))).status_code == 422

    rehearse(steps)


@pytest.mark.parametrize(
    ("content", "media_type", "status"),
    [
        (picture(), "application/json", 415),
        (b"", "image/png", 400),
        (b"not a picture", "image/jpeg", 400),
        (b"\xff" * 15_000_001, "image/jpeg", 413),
    ],
)
def test_bad_upload_is_refused(content: bytes, media_type: str, status: int) -> None:
    """Wrong type, nothing, no image, too much."""

    async def steps(twin: Rehearsal) -> None:
        headers = {**await twin.headers(), "Content-Type": media_type}
        answer = await twin.http.post(UPLOAD, content=content, headers=headers)
        assert answer.status_code == status

    rehearse(steps)


def test_uploads_are_not_paid_calls() -> None:
    """They are neither listed nor counted."""

    async def steps(twin: Rehearsal) -> None:
        await uploaded(twin)
        assert await twin.calls() == []

    rehearse(steps)


def test_models_are_listed_in_pages() -> None:
    """The list has the documented names; start and limit cut it."""

    async def steps(twin: Rehearsal) -> None:
        headers = {**await twin.headers(), "x-request-id": "r"}
        whole = (await twin.http.get(MODELS, headers=headers)).json()
        assert whole["total_count"] == 2
        assert {each["baseModel"]["name"] for each in whole["custom_models"]} == {
            "image3",
            "image4",
        }
        page = await twin.http.get(MODELS, headers=headers, params={"start": 1, "limit": 1})
        assert page.json()["custom_models"] == whole["custom_models"][1:]

    rehearse(steps)


@pytest.mark.parametrize(
    ("headers", "params"),
    [
        ({}, {}),
        ({"x-request-id": "r"}, {"limit": "1"}),
        ({"x-request-id": "r"}, {"start": "0", "limit": "51"}),
        ({"x-request-id": "r"}, {"start": "x"}),
        ({"x-request-id": "r"}, {"sortBy": "colour"}),
        ({"x-request-id": "r"}, {"publishedState": "lost"}),
    ],
)
def test_bad_listing_has_an_error_shape_of_its_own(
    headers: dict[str, str], params: dict[str, str]
) -> None:
    """`reason` and `message`, not `error_code`."""

    async def steps(twin: Rehearsal) -> None:
        answer = await twin.http.get(
            MODELS, headers={**await twin.headers(), **headers}, params=params
        )
        assert answer.status_code == 400
        assert set(answer.json()) == {"reason", "message"}

    rehearse(steps)
