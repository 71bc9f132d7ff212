"""What every store of API keys promises. Here: keys and entries. Not here: who may make one."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

from fireflyassets.core.api_key import ApiKey, KeyEntry, KeyState, Scope
from fireflyassets.ports.api_keys import ApiKeyStore
from fireflyassets_tests.contracts.ledgers import ACME, NOON

DAY = timedelta(days=1)


def a_key(key_id: str = "a" * 16, customer: str = ACME) -> ApiKey:
    """Return a key that serves for ninety days."""
    scopes = frozenset({Scope.READ, Scope.WRITE})
    return ApiKey(customer, key_id, "DAM 🌿", scopes, "d" * 64, NOON, "ann", NOON + 90 * DAY)


def entry(did: str = "issued") -> KeyEntry:
    """Return an entry about the key; what follows its making is a day later."""
    return KeyEntry(ACME, "a" * 16, did, "ann", NOON + DAY * (did != "issued"))


def test_key_reads_back_whole(api_keys: ApiKeyStore) -> None:
    """By its customer and id; other customers' are not there."""
    assert api_keys.write(entry(), made=a_key())

    assert api_keys.key(ACME, "a" * 16) == a_key()
    assert api_keys.keys(ACME) == [a_key()]
    assert api_keys.key("bolt", "a" * 16) is None
    assert api_keys.keys("bolt") == []


def test_rotation_keeps_both_and_says_so(api_keys: ApiKeyStore) -> None:
    """The successor is written with the cut of the older one, and with the entry."""
    older, newer = a_key(), a_key("b" * 16)
    api_keys.write(entry(), made=older)

    assert api_keys.write(entry("rotated"), made=newer, cut=older.rotated(NOON))

    assert api_keys.keys(ACME) == [older.rotated(NOON), newer]
    assert [one.did for one in api_keys.entries(ACME)] == ["issued", "rotated"]
    assert api_keys.entries("bolt") == []


def test_one_of_many_rotations_wins(api_keys: ApiKeyStore) -> None:
    """Two people who rotate at once do not make two successors."""
    older = a_key()
    api_keys.write(entry(), made=older)

    def rotate(number: int) -> bool:
        made = a_key(f"{number:016x}")
        return api_keys.write(entry("rotated"), made=made, cut=older.rotated(NOON))

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(rotate, range(6))) == [False] * 5 + [True]
    assert len(api_keys.keys(ACME)) == 2
    assert len(api_keys.entries(ACME)) == 2


def test_revoked_key_can_not_be_rotated_back(api_keys: ApiKeyStore) -> None:
    """A rotated one may still be revoked; a revoked one stays so, and nothing is noted."""
    key = a_key()
    api_keys.write(entry(), made=key)
    api_keys.write(entry("rotated"), made=a_key("b" * 16), cut=key.rotated(NOON))

    assert api_keys.write(entry("revoked"), cut=key.revoked(NOON))
    assert not api_keys.write(entry("rotated"), made=a_key("c" * 16), cut=key.rotated(NOON))
    assert not api_keys.write(entry("revoked"), cut=key.revoked(NOON))

    stands = api_keys.key(ACME, key.key_id)
    assert stands is not None
    assert stands.cut is KeyState.REVOKED
    assert len(api_keys.entries(ACME)) == 3


def test_what_is_not_there_is_not_cut(api_keys: ApiKeyStore) -> None:
    """No late write makes half a key."""
    assert not api_keys.write(entry("revoked"), cut=a_key().revoked(NOON))
    assert api_keys.keys(ACME) == []
    assert api_keys.entries(ACME) == []


def test_use_is_noted_and_changes_nothing_else(api_keys: ApiKeyStore) -> None:
    """And of a key that is gone nothing comes to be."""
    api_keys.write(entry(), made=a_key())

    api_keys.used(a_key(), at=NOON + DAY)
    api_keys.used(a_key("b" * 16), at=NOON)

    assert api_keys.keys(ACME) == [replace(a_key(), last_used_at=NOON + DAY)]
