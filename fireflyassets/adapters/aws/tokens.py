"""The token store in DynamoDB.

Belongs here: one item per entry, its token and its lock. Does not: asking for tokens. Items do
not expire by themselves: there are few, and an expiry could take a lock with it.
"""

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws.attributes import Item, Reader
from fireflyassets.adapters.aws.backoff import Backoff
from fireflyassets.adapters.aws.database import Applied, Database
from fireflyassets.adapters.aws.expressions import Change, Condition, put, update
from fireflyassets.adapters.aws.tables import Tables
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.tokens import StoredToken, TokenStore

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoTokenStore(TokenStore):
    """Tokens shared by every process that reaches the table."""

    def __init__(self, client: "DynamoDBClient", *, prefix: str, clock: Clock) -> None:
        self._database = Database(client, Backoff())
        self._table = Tables(prefix).tokens
        self._clock = clock

    def read(self, entry: str) -> StoredToken | None:
        """Return the token, or None where there is none; an expired one counts as none."""
        item = self._database.get(self._table, _key(entry))
        read = Reader(item or {})
        if not read.has("token"):
            return None
        stored = StoredToken(read.text("token"), read.instant("expiresAt"))
        return stored if stored.expires_at > self._clock.now() else None

    def write(self, entry: str, token: StoredToken) -> None:
        """Keep *token* and free the entry's lock."""
        item: Item = {
            **_key(entry),
            "token": to.text(token.token),
            "expiresAt": to.instant(token.expires_at),
        }
        self._database.put(put(self._table, item))

    def drop(self, entry: str, token: str) -> None:
        """Forget *token* if it is still the stored one."""
        forgotten = Change({"token": None, "expiresAt": None})
        condition = Condition("#token = :token", {":token": to.text(token)})
        self._database.update(update(self._table, _key(entry), forgotten, condition))

    def lock(self, entry: str, *, life: timedelta) -> str | None:
        """Take the right to refresh for *life* and return its name; None while another holds it."""
        now = self._clock.now()
        name = str(uuid4())
        holder = to.text(name)
        locked = Change({"lockedUntil": to.instant(now + life), "holder": holder})
        condition = Condition(
            "attribute_not_exists(#lockedUntil) OR #lockedUntil <= :now",
            {":now": to.instant(now)},
        )
        request = update(self._table, _key(entry), locked, condition)
        answer = self._database.update(request)
        # The client repeats a write whose answer was lost; then the lock in the way is our own.
        held = isinstance(answer, Applied) or (answer.item or {}).get("holder") == holder
        return name if held else None

    def release(self, entry: str, lock: str) -> None:
        """Give back a right that led to no token, if it is still the one in force."""
        freed = Change({"lockedUntil": None, "holder": None})
        condition = Condition("#holder = :holder", {":holder": to.text(lock)})
        self._database.update(update(self._table, _key(entry), freed, condition))


def _key(entry: str) -> Item:
    return {"entry": to.text(entry)}
