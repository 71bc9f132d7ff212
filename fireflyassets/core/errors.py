"""The error tree. Two families matter to a wave: somebody must act, or the same job later.

Belongs here: every error that crosses a module. Does not: answers a caller branches on and
goes on from; those are return types.

    FactoryError
    ├── Refused              bad input; nothing was written, nothing paid
    │   ├── UnknownCampaign
    │   ├── CampaignOutOfService     its file, or one that it names, can't be used now
    │   ├── CampaignMoved            it is not what a plan was made with any more
    │   ├── BudgetsUnreadable        the customer's budgets can't be read: no cap is no answer then
    │   ├── UnusableTemplate
    │   │   └── TemplateChanged      the document is another one than was read
    │   ├── UnusableConfiguration
    │   ├── UnusableArgument         of a command: it names nothing that is there
    │   └── UndecidableNow       a person's decision that does not fit how a send stands
    ├── JobFailed            this job ends here; someone must act
    │   ├── TextUnfit            a text can't be set into its layer; found before a call is paid
    │   ├── StepRefused          Adobe refused the call for good (class inside)
    │   ├── RenditionMissing     steps were left out that it would have been made of
    │   ├── TagsNotKept          the store does not show the tags that were written
    │   ├── UnreadableManifest   the stored input is gone or another one
    │   └── RenditionDefect      the file that came back is not what was asked
    ├── JobDelayed           the same job, later
    │   ├── Throttled            no ticket within reach, or too many 429s in one step
    │   ├── ServiceUnavailable   the vendor answers 5xx again and again
    │   ├── AwaitingOutcome      a decidable submit whose outcome is not settled yet
    │   ├── Stopped              the wave ends before the job does
    │   └── OutcomeUnknown       a paid call may have run: held until a person decides
    ├── OwnershipLost        another wave owns the job now; stop without a word
    ├── StoreUnavailable     ledger or bucket does not answer now; a write may have happened
    │   ├── ReservationLapsed    rows came too late for their block, which was given back
    │   └── BriefInterrupted     while rows were written; the rest is written by itself
    ├── SecretUnreachable    the store of secrets does not answer now
    └── ServiceDown          a part of the local stack is not there
"""

from collections.abc import Iterable
from datetime import datetime
from typing import ClassVar

from fireflyassets.core.cause import HeldBy
from fireflyassets.core.failure import GUIDANCE, FailureClass, Fault


class FactoryError(Exception):
    """Root of the tree. Every leaf has a remedy."""

    remedy: ClassVar[str] = ""


class Refused(FactoryError):
    """Input that can't be worked with."""


class UnknownCampaign(Refused):
    """No loaded campaign has that name."""

    remedy = "Check the spelling, or add the campaign's YAML file and reload."

    def __init__(self, slug: str) -> None:
        super().__init__(f"There is no campaign {slug!r}.")


class CampaignOutOfService(Refused):
    """A campaign that is configured and can't be worked on until its files are mended."""

    remedy = "Nothing is wrong with the request: send it again once the campaign is mended."

    def __init__(self, slug: str, reason: str) -> None:
        super().__init__(f"Campaign {slug!r} is out of service. {reason}")
        self.reason = reason


class CampaignMoved(Refused):
    """A plan is to be released, and what it was made with has changed since."""

    remedy = "Plan the brief anew, and release that plan."

    def __init__(self, slug: str, *, documents: bool) -> None:
        what = "A template or font of the campaign" if documents else "The campaign"
        super().__init__(f"{what} has changed since the plan was made ({slug}).")


class BudgetsUnreadable(Refused):
    """Budgets that are set and can't be read. Without them a job might take what nobody granted."""

    remedy = "Mend the file that is named: it is read anew within ten seconds."

    def __init__(self, customer: str, reason: str) -> None:
        super().__init__(f"The budgets of {customer} can't be read. {reason}")


class UnusableTemplate(Refused):
    """A template that the recipe can't be run on."""

    remedy = "Mend the PSD or the recipe; run `fireflyassets campaign check`."


class TemplateChanged(UnusableTemplate):
    """A document that was changed after the campaign was read."""

    remedy = (
        "It is read anew within seconds of its last change. If it is locked, put the released "
        "document back, or release this one with `fireflyassets campaign lock`."
    )

    def __init__(self, slug: str, aspect: str, path: str, *, since: datetime | None) -> None:
        when = f"on {since:%Y-%m-%d at %H:%M:%S} UTC" if since else "just now"
        was = "was changed" if since else "was removed"
        super().__init__(
            f"The template {path} of {slug} for {aspect} {was} {when}, after it was read and "
            f"checked; jobs priced by the one may not be made with the other."
        )


class UnusableConfiguration(Refused):
    """A configuration file or setting that can't be used."""

    remedy = "Mend the file or the setting that is named."


class UnusableArgument(Refused):
    """An argument of a command that names nothing, or asks for what can't be."""

    remedy = "Give another one; `--help` says what each argument takes."


class UndecidableNow(Refused):
    """A decision on an unknown outcome that has no object, or whose object has moved."""

    remedy = "Look again with `fireflyassets fence list`; then decide on what is there."


class JobFailed(FactoryError):
    """The job ends in this wave; someone must act."""

    def __init__(self, sentence: str, *, failure: FailureClass, step: str | None = None) -> None:
        super().__init__(sentence)
        self.failure = failure
        self.step = step
        """Where it failed, ``.<aspect>`` behind a step that fans out; None outside the steps."""


class TextUnfit(JobFailed):
    """A text of the job that its template can't take; nothing is sent for it."""

    remedy = "Mend the text that is named and send the job under a new key."

    def __init__(self, problems: Iterable[str]) -> None:
        sentence = f"{' '.join(problems)} Send the job under a new key."
        super().__init__(sentence, failure=FailureClass.INVALID_REQUEST)


class StepRefused(JobFailed):
    """Adobe refused a call, or a job of it failed, for good."""

    remedy = "Follow the guidance of the failure's class."

    def __init__(self, step: str, fault: Fault, *, failure: FailureClass) -> None:
        super().__init__(
            f"Step {step}: {fault.told()}. {GUIDANCE[failure]}", failure=failure, step=step
        )
        self.fault = fault


class RenditionMissing(JobFailed):
    """Steps were left out, and what was asked for can't be made without them."""

    remedy = "Look at the steps that may be left out: something must stand in for each."

    def __init__(self, aspects: Iterable[str]) -> None:
        sentence = f"Steps were left out, and nothing stands in for {', '.join(aspects)}."
        super().__init__(sentence, failure=FailureClass.INVALID_REQUEST)


class TagsNotKept(JobFailed):
    """The object store does not show the tags that were just written."""

    remedy = "Run the job again, which writes the files anew; else look at the bucket's policy."

    def __init__(self, aspects: list[str]) -> None:
        sentence = f"The tags of {', '.join(aspects)} are not what was written."
        super().__init__(sentence, failure=FailureClass.STORAGE)


class UnreadableManifest(JobFailed):
    """The job's stored input is gone, or is not the one its row was made from."""

    remedy = "Restore the object from its earlier version; then run the job again."

    def __init__(self, job_id: str) -> None:
        sentence = f"The manifest of job {job_id} is missing or does not fit its row."
        super().__init__(sentence, failure=FailureClass.STORAGE)


class RenditionDefect(JobFailed):
    """A result that is not what was asked for; *unread*: no whole file was had of it."""

    remedy = "Look at the file under its temporary key; regenerate the job if it is Adobe's fault."

    def __init__(self, step: str, what: str, *, unread: bool = False) -> None:
        kind = FailureClass.STORAGE if unread else FailureClass.TEMPLATE_DEFECT
        super().__init__(f"Step {step}: {what}.", failure=kind, step=step)


class JobDelayed(FactoryError):
    """The same job, later: it goes back to the queue, and no attempt is counted."""

    held_by = HeldBy.INCIDENT

    def __init__(self, sentence: str, *, until: datetime | None) -> None:
        super().__init__(sentence)
        self.until = until
        """When it is due again; None holds it until a person decides."""


class Throttled(JobDelayed):
    """No ticket within reach."""

    remedy = "Wait, or ask Adobe for a higher limit."

    def __init__(
        self, sentence: str, *, until: datetime | None, held_by: HeldBy = HeldBy.LIMIT
    ) -> None:
        super().__init__(sentence, until=until)
        self.held_by = held_by


class ServiceUnavailable(JobDelayed):
    """The vendor answers with its own 5xx again and again; more sends now would help nobody."""

    remedy = "Nothing: the job goes on when the vendor answers again."


class Stopped(JobDelayed):
    """The wave stops: a planned shutdown, or its time is over."""

    remedy = "Nothing: the next wave goes on where this one stopped."


class AwaitingOutcome(JobDelayed):
    """A submit that wrote to our own key may still be running."""

    remedy = "Nothing: after 75 minutes the key shows whether it ran."


class OutcomeUnknown(JobDelayed):
    """A paid call may have been accepted, and no answer says so."""

    remedy = "Resolve it with `fireflyassets fence resolve`, from Adobe's usage report."

    def __init__(self, step: str, why: str) -> None:
        super().__init__(f"Step {step}: the outcome of a paid call is unknown ({why}).", until=None)


class OwnershipLost(FactoryError):
    """The row names another wave or epoch: whatever this worker does next does not count."""

    remedy = "Nothing: the wave that owns the job goes on with it."


class StoreUnavailable(FactoryError):
    """The ledger's tables or the bucket do not answer: no fault of the job that met it."""

    remedy = "Nothing, if it passes; else see whether the store can be reached, and its limits."

    def __init__(self, store: str, why: str) -> None:
        super().__init__(f"{store} does not answer now ({why}).")


class ReservationLapsed(StoreUnavailable):
    """The block that rows are recorded under is gone: writing them took too long."""

    remedy = "Send the rest again: what is recorded is known, the rest reserves anew."

    def __init__(self, block_id: str) -> None:
        super().__init__("The ledger", f"the reservation {block_id} was given back meanwhile")


class BriefInterrupted(StoreUnavailable):
    """The store went away while a brief's rows were written: the brief is finished later."""

    remedy = "Send it again, which does the rest and nothing twice, or wait some minutes."

    def __init__(self, rows: int) -> None:
        sentence = f"while {rows} jobs of one brief were written; those that are missing follow"
        super().__init__("The ledger", sentence)


class SecretUnreachable(FactoryError):
    """The store of secrets does not answer; nothing says that the secret is wrong."""

    remedy = "Nothing, if it passes; else see whether the store can be reached from here."


class ServiceDown(FactoryError):
    """A part of the local stack did not start, or died."""

    remedy = "Read its log, which is named; then start again."
