"""The spend fence: the one way a paid call is made, so that no credit is spent twice unseen.

Belongs here: ticket -> attempt row -> submit -> vendor id -> poll, and what each answer means.
Does not: request bodies and what becomes of results (``stages/``).

Adobe has no idempotency key. So the intent is written before the call and the vendor's id after
it, without any condition; a send whose answer is lost is never repeated blindly.
"""
