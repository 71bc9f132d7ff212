"""The way a job fails after it was accepted.

Belongs here: the one exception the work raises; it crosses process borders, so its arguments are
all it is. Does not belong here: HTTP answers (`rejections.py`).
"""


class JobFailedError(Exception):
    """The job ends as `failed` with the service's own code and a sentence."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
