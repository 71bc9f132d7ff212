"""Copy that can't be set, met by a wave: jobs that were queued before the rules said so."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

from fireflyassets.core.campaign import Campaign
from fireflyassets.core.font import Font, Metrics, ranges
from fireflyassets.core.status import Status
from fireflyassets.core.text_rule import TextFrame, TextRule
from fireflyassets.core.text_style import TextStyle
from fireflyassets.limiter.virtual_time import run
from fireflyassets_tests.floor import ASPECTS, config, floor, recipe
from fireflyassets_tests.front_door import FixedCatalogue
from fireflyassets_tests.paid_services import Take

LETTERS = "Spring 0123456789"
STYLE = TextStyle(font="Brand", size=Decimal(100), leading=Decimal(120))
METRICS = Metrics(1000, 800, 200, dict.fromkeys(LETTERS, 500))
FONT = Font("Brand", ranges(LETTERS), METRICS)
POOR = replace(FONT, metrics=replace(METRICS, advances={"S": 500}))
"""The same font, cut down to one letter."""


class Changing(FixedCatalogue):
    """A catalogue whose campaign learns rules after jobs were queued."""

    def __init__(self) -> None:
        templates = {aspect: f"{aspect}.psd" for aspect in ASPECTS}
        super().__init__(config(aspects=ASPECTS, templates=templates, recipe=recipe()))

    def learn(self, font: Font) -> None:
        """Give every document a box of 400 by 130 pixels: one line of eight letters."""
        rule = TextRule(budget=38, fonts=("Brand",))
        frame = TextFrame(STYLE, (400.0, 130.0), {"en-GB": rule})
        self._campaigns: Mapping[str, Campaign] = {
            slug: replace(
                one,
                version="ruled",
                frames={aspect: {"Headline": frame} for aspect in ASPECTS},
                fonts={"Brand": font},
            )
            for slug, one in self._campaigns.items()
        }


def test_nothing_is_paid_for_copy_that_no_font_draws() -> None:
    """The job was queued when nobody knew; it ends in review with the field that its writer has."""

    async def scenario() -> None:
        known = Changing()
        here = floor(catalogue=known)
        jobs = here.order(2)
        known.learn(POOR)

        await here.work(jobs)

        assert (here.images.vendor.sent, here.documents.vendor.sent) == (0, 0)
        row = here.row(jobs[0])
        assert row.status is Status.REVIEW
        assert row.cost_actual in {None, Decimal(0)}
        assert (row.reason or "").startswith("headline can't be set in 'Headline' of 32x18,")
        assert "no font of it draws 'p' (U+0070)" in (row.reason or "")
        assert (row.reason or "").endswith("Send the job under a new key.")

    run(scenario)


def test_rules_of_the_day_are_pinned_and_met_again() -> None:
    """What passed intake passes the wave, by the rules that were pinned with it."""

    async def scenario() -> None:
        known = Changing()
        known.learn(FONT)
        here = floor(catalogue=known)
        jobs = here.order(2)
        known.learn(POOR)

        await here.work(jobs)

        assert {here.row(job).status for job in jobs} == {Status.SUCCEEDED}

    run(scenario)


def test_what_was_sent_is_not_judged_again() -> None:
    """A picture is paid and its composites too: new rules do not throw them away."""

    async def scenario() -> None:
        known = Changing()
        here = floor(catalogue=known)
        (job,) = here.order(1)
        for _ in ASPECTS:
            here.documents.vendor.script.append(Take(seconds=10_000))
        await here.work([job])
        assert here.row(job).status is not Status.SUCCEEDED
        known.learn(POOR)
        billed = list(here.documents.vendor.billed)

        await here.work([job])

        assert here.row(job).status is not Status.REVIEW
        assert here.documents.vendor.billed[: len(billed)] == billed

    run(scenario)
