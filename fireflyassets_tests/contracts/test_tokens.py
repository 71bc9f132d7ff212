"""What every token store promises, whatever keeps its tokens.

Here: tokens, their end, and the right to refresh. Not here: asking for tokens.
"""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

from fireflyassets.ports.tokens import StoredToken
from fireflyassets_tests.contracts.stores import TokenWorld

ENTRY = "acme-main#openid,firefly_api"
HOUR = timedelta(hours=1)
LIFE = timedelta(seconds=30)


def test_token_reads_back_until_it_ends(token_world: TokenWorld) -> None:
    """An expired token counts as none, at the very moment it ends."""
    token = StoredToken("secret-1", token_world.clock.now() + HOUR)
    assert token_world.store.read(ENTRY) is None

    token_world.store.write(ENTRY, token)

    assert token_world.store.read(ENTRY) == token
    assert token_world.store.read("other") is None
    token_world.clock.jump(HOUR)
    assert token_world.store.read(ENTRY) is None


def test_new_token_replaces_the_old_one(token_world: TokenWorld) -> None:
    newer = StoredToken("secret-2", token_world.clock.now() + 2 * HOUR)
    token_world.store.write(ENTRY, StoredToken("secret-1", token_world.clock.now() + HOUR))

    token_world.store.write(ENTRY, newer)

    assert token_world.store.read(ENTRY) == newer


def test_only_the_token_that_was_refused_is_dropped(token_world: TokenWorld) -> None:
    """A worker with an old token does not throw away the new one of another."""
    newer = StoredToken("secret-2", token_world.clock.now() + HOUR)
    token_world.store.write(ENTRY, newer)

    token_world.store.drop(ENTRY, "secret-1")
    assert token_world.store.read(ENTRY) == newer
    token_world.store.drop(ENTRY, "secret-2")
    token_world.store.drop(ENTRY, "secret-2")
    token_world.store.drop("other", "secret-2")

    assert token_world.store.read(ENTRY) is None


def test_lock_is_held_by_one_until_it_ends(token_world: TokenWorld) -> None:
    """A holder that dies blocks nobody longer than it said."""
    assert token_world.store.lock(ENTRY, life=LIFE)
    assert not token_world.store.lock(ENTRY, life=LIFE)
    assert token_world.store.lock("other", life=LIFE)

    token_world.clock.jump(LIFE)

    assert token_world.store.lock(ENTRY, life=LIFE)


def test_writing_a_token_frees_the_lock(token_world: TokenWorld) -> None:
    token_world.store.lock(ENTRY, life=LIFE)

    token_world.store.write(ENTRY, StoredToken("secret-1", token_world.clock.now() + HOUR))

    assert token_world.store.lock(ENTRY, life=LIFE)


def test_released_lock_is_free_at_once(token_world: TokenWorld) -> None:
    """A mint that failed makes nobody wait for the lock's life; the token stays as it was."""
    token = StoredToken("secret-1", token_world.clock.now() + HOUR)
    token_world.store.write(ENTRY, token)
    lock = token_world.store.lock(ENTRY, life=LIFE)
    assert lock is not None

    token_world.store.release(ENTRY, lock)
    token_world.store.release("other", lock)

    assert token_world.store.read(ENTRY) == token
    assert token_world.store.lock(ENTRY, life=LIFE)


def test_late_release_does_not_free_the_lock_of_another(token_world: TokenWorld) -> None:
    """A worker that comes back after its right has run out takes nothing from its successor."""
    late = token_world.store.lock(ENTRY, life=LIFE)
    assert late is not None
    token_world.clock.jump(LIFE)
    assert token_world.store.lock(ENTRY, life=LIFE)

    token_world.store.release(ENTRY, late)

    assert token_world.store.lock(ENTRY, life=LIFE) is None


def test_lock_leaves_the_token_where_it_is(token_world: TokenWorld) -> None:
    """Others work on with the old token while one asks for the new one."""
    token = StoredToken("secret-1", token_world.clock.now() + HOUR)
    token_world.store.write(ENTRY, token)

    token_world.store.lock(ENTRY, life=LIFE)

    assert token_world.store.read(ENTRY) == token


def test_one_of_many_takes_the_lock(token_world: TokenWorld) -> None:
    """Sixteen workers whose token ended at once: one of them asks for a new one."""
    barrier = Barrier(16)

    def lock(_: int) -> bool:
        barrier.wait()
        return token_world.store.lock(ENTRY, life=LIFE) is not None

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(lock, range(16))).count(True) == 1


def test_no_token_shows_in_a_repr(token_world: TokenWorld) -> None:
    token_world.store.write(ENTRY, StoredToken("secret-1", token_world.clock.now() + HOUR))

    assert "secret-1" not in repr(token_world.store.read(ENTRY))
