"""Opens one credential's clients for the length of a wave.

Belongs here: opening and closing. Does not: wiring (``factory.py``).
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fireflyassets.adapters.adobe import call_log
from fireflyassets.adapters.adobe.factory import Shared, adobe_clients
from fireflyassets.adapters.memory.uploads import MemoryUploads
from fireflyassets.core.tally import Tally
from fireflyassets.ports.catalogue import Credential
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.references import UploadCache
from fireflyassets.ports.secrets import SecretStore
from fireflyassets.ports.tokens import TokenStore
from fireflyassets.ports.workshop import PaidServices, Workshop
from fireflyassets.settings import Settings


class AdobeWorkshop(Workshop):
    """Adobe, or whatever the settings' base URLs point to."""

    def __init__(
        self,
        settings: Settings,
        secrets: SecretStore,
        tokens: TokenStore,
        clock: Clock,
        uploads: UploadCache | None = None,
        tally: Tally | None = None,
    ) -> None:
        """Take the parts; without *uploads* each process remembers its own."""
        self._settings = settings
        self._secrets = secrets
        self._tokens = tokens
        self._clock = clock
        self._shared = Shared(uploads or MemoryUploads(clock), tally or Tally())

    @asynccontextmanager
    async def open(self, credential: Credential) -> AsyncGenerator[PaidServices]:
        """Open the clients; leaving the context closes their connections."""
        # In a thread: it reads the secret, and others' calls go on in this loop meanwhile.
        clients = await asyncio.to_thread(
            adobe_clients,
            self._settings,
            credential,
            self._secrets,
            self._tokens,
            self._clock,
            shared=self._shared,
        )
        try:
            clients.tokens.warm()
            yield PaidServices(
                images=clients.images,
                documents=clients.documents,
                cutter=clients.cutter,
                references=clients.references,
                models=clients.models,
                token_counts=lambda: clients.tokens.counts,
            )
        finally:
            clients.meter.count_tokens(clients.tokens.counts)
            call_log.write_token_counts(clients.tokens.client_id, clients.tokens.counts)
            await clients.aclose()
