"""API keys in DynamoDB, and what was done to them in the table ``audit``.

Belongs here: keys, attributes and conditions. Does not: rules.
"""

from datetime import datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws.attributes import Item, Reader
from fireflyassets.adapters.aws.backoff import Backoff
from fireflyassets.adapters.aws.database import Committed, Database, query
from fireflyassets.adapters.aws.expressions import Change, Condition, new, put, update
from fireflyassets.adapters.aws.tables import Tables
from fireflyassets.core.api_key import KEPT, ApiKey, KeyEntry, KeyState, Scope
from fireflyassets.ports.api_keys import ApiKeyStore

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, TransactWriteItemTypeDef


class DynamoApiKeys(ApiKeyStore):
    """A table shared by every process that reaches it. Safe to share by threads."""

    def __init__(self, client: "DynamoDBClient", *, prefix: str) -> None:
        self._database = Database(client, Backoff())
        self._tables = Tables(prefix)

    def key(self, customer: str, key_id: str) -> ApiKey | None:
        """Return one key, read consistently."""
        item = self._database.get(self._tables.api_keys, _key(customer, key_id))
        return _key_of(item) if item else None

    def keys(self, customer: str) -> list[ApiKey]:
        """Return a customer's keys by id, read consistently."""
        condition = Condition("#customer = :customer", {":customer": to.text(customer)})
        return [
            _key_of(item) for item in self._database.pages(query(self._tables.api_keys, condition))
        ]

    def write(
        self, entry: KeyEntry, *, made: ApiKey | None = None, cut: ApiKey | None = None
    ) -> bool:
        """Keep a new key, cut an older one's life short, or both, with the entry."""
        table = self._tables.api_keys
        writes: list[TransactWriteItemTypeDef] = [
            {"Put": put(self._tables.audit, _entry_item(entry))}
        ]
        if made:
            writes.append({"Put": put(table, _item(made), new("keyId"))})
        if cut:
            change = Change(
                {
                    "cut": to.text(cut.cut or ""),
                    "expiresAt": to.instant(cut.expires_at),
                    "ttl": to.epoch(cut.expires_at + KEPT),
                }
            )
            at = _key(cut.customer, cut.key_id)
            writes.append({"Update": update(table, at, change, _uncut(cut))})
        return isinstance(self._database.transact(writes), Committed)

    def used(self, key: ApiKey, *, at: datetime) -> None:
        """Note when a key was used."""
        change = Change({"lastUsedAt": to.instant(at)})
        where = _key(key.customer, key.key_id)
        there = Condition("#customer = :customer", {":customer": to.text(key.customer)})
        self._database.update(update(self._tables.api_keys, where, change, there))

    def entries(self, customer: str) -> list[KeyEntry]:
        """Return what was done to a customer's keys, in the order of time."""
        condition = Condition("#subject = :subject", {":subject": _subject(customer)})
        return [
            _entry_of(item) for item in self._database.pages(query(self._tables.audit, condition))
        ]


def _uncut(cut: ApiKey) -> Condition:
    """Return the condition under which a key may be cut: a rotated one may still be revoked."""
    there, none = "attribute_exists(#keyId)", "attribute_not_exists(#cut)"
    if cut.cut is KeyState.REVOKED:
        values: Item = {":rotated": to.text(KeyState.ROTATED)}
        return Condition(f"{there} AND ({none} OR #cut = :rotated)", values)
    return Condition(f"{there} AND {none}")


def _key(customer: str, key_id: str) -> Item:
    return {"customer": to.text(customer), "keyId": to.text(key_id)}


def _item(one: ApiKey) -> Item:
    return {
        **_key(one.customer, one.key_id),
        "name": to.text(one.name),
        "scopes": to.texts(sorted(one.scopes)),
        "digest": to.text(one.digest),
        "createdAt": to.instant(one.created_at),
        "createdBy": to.text(one.created_by),
        "expiresAt": to.instant(one.expires_at),
        "ttl": to.epoch(one.expires_at + KEPT),
    }


def _key_of(item: Item) -> ApiKey:
    read = Reader(item)
    cut = read.maybe_text("cut")
    return ApiKey(
        customer=read.text("customer"),
        key_id=read.text("keyId"),
        name=read.text("name"),
        scopes=frozenset(map(Scope, read.texts("scopes"))),
        digest=read.text("digest"),
        created_at=read.instant("createdAt"),
        created_by=read.text("createdBy"),
        expires_at=read.instant("expiresAt"),
        cut=KeyState(cut) if cut else None,
        last_used_at=read.maybe_instant("lastUsedAt"),
    )


def _subject(customer: str) -> "AttributeValueTypeDef":
    return to.text(f"api-keys#{customer}")


def _entry_item(entry: KeyEntry) -> Item:
    return {
        "subject": _subject(entry.customer),
        # Chance keeps two of one millisecond apart.
        "sk": to.text(f"{to.iso(entry.at)}#{uuid4().hex}"),
        "customer": to.text(entry.customer),
        "keyId": to.text(entry.key_id),
        "did": to.text(entry.did),
        "by": to.text(entry.by),
        "at": to.instant(entry.at),
    }


def _entry_of(item: Item) -> KeyEntry:
    read = Reader(item)
    return KeyEntry(
        customer=read.text("customer"),
        key_id=read.text("keyId"),
        did=read.text("did"),
        by=read.text("by"),
        at=read.instant("at"),
    )
