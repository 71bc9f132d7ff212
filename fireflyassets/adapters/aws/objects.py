"""The object store in S3.

Belongs here: whole objects, their tags and signed URLs. Does not: what tags mean, multipart (a
rendition fits one request), logging of URLs, which are secrets while they live.
"""

from bisect import bisect_left
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from botocore.credentials import Credentials, RefreshableCredentials
from botocore.exceptions import ClientError

from fireflyassets.adapters.aws.outages import told
from fireflyassets.ports.objects import ObjectStore

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import (
        GetObjectRequestTypeDef,
        PaginatorConfigTypeDef,
        PutObjectRequestTypeDef,
        TaggingTypeDef,
    )

_STORE: Final = "S3"
_ABSENT: Final = frozenset({"NoSuchKey", "404", "NotFound"})
"""Codes of a missing object; HEAD has no body and so gives its status instead."""
_BEYOND: Final = "InvalidRange"
"""Of a part that begins where the object has ended."""
_LONGEST: Final = timedelta(days=7)
"""Of a signature of version 4; a longer one is refused by whoever reads it."""


class S3ObjectStore(ObjectStore):
    """One bucket of ours. *client* must sign in version 4, as ``aws/clients.py`` makes it."""

    def __init__(
        self, client: "S3Client", bucket: str, credentials: Credentials | None = None
    ) -> None:
        """Take the *credentials* that *client* signs with, where their end bounds signed URLs."""
        self._client = client
        self._bucket = bucket
        self._credentials = credentials

    @told(_STORE)
    def put(
        self, key: str, content: bytes, *, media_type: str, tags: Mapping[str, str] | None = None
    ) -> None:
        """Write an object with its whole tag set in one request; overwrites."""
        request: PutObjectRequestTypeDef = {
            "Bucket": self._bucket,
            "Key": key,
            "Body": content,
            "ContentType": media_type,
        }
        if tags:
            request["Tagging"] = urlencode(tags)
        self._client.put_object(**request)

    @told(_STORE)
    def get(self, key: str, *, part: tuple[int, int] | None = None) -> bytes | None:
        """Return an object's bytes, or a *part* of them; None where there is none."""
        request: GetObjectRequestTypeDef = {"Bucket": self._bucket, "Key": key}
        if part:
            request["Range"] = f"bytes={part[0]}-{part[1] - 1}"
        try:
            answer = self._client.get_object(**request)
        except ClientError as error:
            return b"" if _code(error) == _BEYOND else _none_if_absent(error)
        with answer["Body"] as body:
            return body.read()

    @told(_STORE)
    def exists(self, key: str) -> bool:
        """Say whether there is an object under *key*."""
        try:
            self._client.head_object(Bucket=self._bucket, Key=key)
        except ClientError as error:
            return bool(_none_if_absent(error))
        return True

    @told(_STORE)
    def keys(self, prefix: str, *, after: str = "", most: int | None = None) -> list[str]:
        """Return the keys that begin with *prefix*, behind *after*, in order."""
        pages = self._client.get_paginator("list_objects_v2")
        bound: PaginatorConfigTypeDef = {} if most is None else {"MaxItems": most}
        found = pages.paginate(
            Bucket=self._bucket, Prefix=prefix, StartAfter=after, PaginationConfig=bound
        )
        return [one.get("Key", "") for page in found for one in page.get("Contents", [])]

    @told(_STORE)
    def delete(self, key: str) -> None:
        """Delete an object; one that is gone already is fine."""
        self._client.delete_object(Bucket=self._bucket, Key=key)

    @told(_STORE)
    def tags(self, key: str) -> dict[str, str] | None:
        """Return the object's tags as the store has them now; None where there is no object."""
        try:
            answer = self._client.get_object_tagging(Bucket=self._bucket, Key=key)
        except ClientError as error:
            return _none_if_absent(error)
        return {tag["Key"]: tag["Value"] for tag in answer["TagSet"]}

    @told(_STORE)
    def retag(self, key: str, tags: Mapping[str, str]) -> bool:
        """Replace the whole tag set of an object; False where there is none."""
        wanted: TaggingTypeDef = {
            "TagSet": [{"Key": name, "Value": value} for name, value in tags.items()]
        }
        try:
            self._client.put_object_tagging(Bucket=self._bucket, Key=key, Tagging=wanted)
        except ClientError as error:
            return bool(_none_if_absent(error))
        return True

    @told(_STORE)
    def copy(self, key: str, to: str, *, tags: Mapping[str, str]) -> bool:
        """Write an object under another key too, with its whole tag set; False: there is none."""
        try:
            self._client.copy_object(
                Bucket=self._bucket,
                Key=to,
                CopySource={"Bucket": self._bucket, "Key": key},
                TaggingDirective="REPLACE",
                Tagging=urlencode(tags),
            )
        except ClientError as error:
            return bool(_none_if_absent(error))
        return True

    @told(_STORE)
    def read_url(self, key: str, *, life: timedelta) -> str:
        """Sign a URL that reads *key* for *life*. Made just before use; never stored or logged."""
        return self._client.generate_presigned_url(
            "get_object", Params={"Bucket": self._bucket, "Key": key}, ExpiresIn=self._seconds(life)
        )

    @told(_STORE)
    def write_url(self, key: str, *, media_type: str, life: timedelta) -> str:
        """Sign a URL that PUTs *key* within *life*, with this media type and no other."""
        return self._client.generate_presigned_url(
            "put_object",
            Params={"Bucket": self._bucket, "Key": key, "ContentType": media_type},
            ExpiresIn=self._seconds(life),
        )

    def _seconds(self, life: timedelta) -> int:
        """Return how long a URL that is signed now really lives: as asked, or less.

        A signature dies with the credentials that made it, whatever the URL says. Those that end
        within a quarter of an hour are refreshed first.
        """
        most = max(1, int(min(life, _LONGEST).total_seconds()))
        credentials = self._credentials
        if not isinstance(credentials, RefreshableCredentials):
            return most
        credentials.get_frozen_credentials()
        return max(1, bisect_left(range(1, most + 1), x=True, key=credentials.refresh_needed))


def _none_if_absent(error: ClientError) -> None:
    if _code(error) not in _ABSENT:
        raise error


def _code(error: ClientError) -> str | None:
    return error.response.get("Error", {}).get("Code")
