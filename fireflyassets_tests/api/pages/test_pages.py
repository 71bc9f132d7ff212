"""What the pages show and do. Here: campaigns, one campaign, one job, their forms and errors."""

import json
from dataclasses import asdict, replace
from datetime import timedelta

import pytest

from fireflyassets.api.pages.shell import PREFIX
from fireflyassets.api.reads import FRESH
from fireflyassets.core.campaign import ReviewMode
from fireflyassets.core.failure import FailureClass
from fireflyassets.core.job import Hold
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Wave, WaveState
from fireflyassets.stages.letters import Kind
from fireflyassets.stages.queue import drain
from fireflyassets_tests.api.desk_clerk import finish, finished
from fireflyassets_tests.api.pages.browser import visit
from fireflyassets_tests.front_door import (
    ASPECTS,
    CAMPAIGN,
    CUSTOMER,
    GOOD,
    NOON,
    FixedCatalogue,
    config,
)
from fireflyassets_tests.stages.test_letters import letters
from fireflyassets_tests.stages.test_queue import body

HERE = f"{PREFIX}/campaigns/{CAMPAIGN}"
MARKUP = "<script>alert(1)</script><img src=x onerror=alert(2)> \"' {{ 7*7 }}"


def test_the_campaigns_of_the_tenant_are_summed_up() -> None:
    """Title, how many jobs are done, what it cost so far; nothing of others."""
    ours = visit(catalogue=FixedCatalogue(config(), config(customer="bolt", title="Theirs")))
    finished(ours.desk)
    ours.desk.post(idempotencyKey="second")

    ours.desk.door.clock.jump(FRESH)

    shown = ours.browser.open(f"{PREFIX}/").text

    assert "Spring launch" in shown
    assert "1 of 2 jobs done" in shown
    assert "<dd>3.5</dd>" in shown
    assert "Theirs" not in shown


def test_many_campaigns_come_by_page() -> None:
    """Each is there once."""
    many = [config(campaign=f"c-{number:02}", title=f"Title {number:02}") for number in range(45)]
    ours = visit(catalogue=FixedCatalogue(*many))

    pages = [ours.browser.open(f"{PREFIX}/campaigns").text]
    while 'href="' + PREFIX + "/campaigns?after=" in pages[-1]:
        after = pages[-1].partition("?after=")[2].partition('"')[0]
        pages.append(ours.browser.open(f"{PREFIX}/campaigns?after={after}").text)

    told = "".join(pages)
    assert len(pages) == 3
    assert all(told.count(f">Title {number:02}<") == 1 for number in range(45))


def test_a_tenant_without_campaigns_is_told_what_to_do() -> None:
    """An empty page would look broken."""
    ours = visit("nobody")

    shown = ours.browser.open(f"{PREFIX}/campaigns").text

    assert "There is no campaign here yet." in shown
    assert "set up for nobody" in shown


def test_jobs_are_filtered_and_come_by_page() -> None:
    """Each job is on one page, in the order it came in; a filter goes on over the pages."""
    ours = visit()
    for number in range(60):
        ours.desk.post(idempotencyKey=f"job-{number:02}")
        ours.desk.door.clock.jump(timedelta(seconds=1))
    finished(ours.desk, idempotencyKey="job-99")

    first = ours.browser.open(f"{HERE}?status=queued").text
    link = first.partition("Pages of jobs")[2].partition('href="')[2].partition('"')[0]
    second = ours.browser.open(link.replace("&amp;", "&")).text

    assert [first.count(f">job-{number:02}<") for number in range(50)] == [1] * 50
    assert [second.count(f">job-{number:02}<") for number in range(50, 60)] == [1] * 10
    assert "job-99" not in first + second
    assert "First page" in second
    assert "No job is like that now." in ours.browser.open(f"{HERE}?status=failed").text
    assert ours.browser.ask("GET", f"{HERE}?cursor=none-of-ours").status_code == 400


def test_what_is_on_hold_is_counted_and_shown_apart_from_what_waits() -> None:
    """A held job waits for a person, not for its turn."""
    ours = visit()
    for number in range(60):
        ours.desk.post(idempotencyKey=f"job-{number:02}")
        ours.desk.door.clock.jump(timedelta(seconds=1))
    ledger = ours.desk.door.ledger
    rows = ledger.campaign_jobs(CUSTOMER, CAMPAIGN)
    held = [row for row in rows if row.idempotency_key > "job-57"]
    hold = ledger.hold_campaign(CUSTOMER, CAMPAIGN, Hold("x", NOON, "campaign"))
    assert all(ledger.hold_with_campaign(row, hold, now=NOON) for row in held)

    whole = ours.browser.open(HERE).text
    shown = ours.browser.open(f"{HERE}?status=held").text

    assert "<dt>Waiting</dt><dd>58 <small>jobs" in whole
    assert "<dt>On hold</dt><dd>2 <small>jobs" in whole
    assert [f">job-{number}<" in shown for number in (57, 58, 59)] == [False, True, True]


def test_the_newest_jobs_come_first_where_that_is_asked() -> None:
    """And so over the pages."""
    ours = visit()
    for number in range(51):
        ours.desk.post(idempotencyKey=f"job-{number:02}")
        ours.desk.door.clock.jump(timedelta(seconds=1))

    first = ours.browser.open(f"{HERE}?order=newest").text
    link = first.partition("Pages of jobs")[2].partition('href="')[2].partition('"')[0]
    second = ours.browser.open(link.replace("&amp;", "&")).text

    assert first.index(">job-50<") < first.index(">job-49<") < first.index(">job-01<")
    assert (">job-00<" in first, ">job-00<" in second) == (False, True)
    assert "checked> Newest first" in second


def test_what_is_not_there_is_told_in_words_for_a_browser() -> None:
    """Nobody who signed in has a token to check."""
    ours = visit()

    nowhere = ours.browser.open(f"{PREFIX}/nowhere").text
    nobody = ours.browser.open(f"{PREFIX}/jobs/none").text

    assert "<h1>There is no such page.</h1>" in nowhere
    assert "<h1>There is no such job.</h1>" in nobody
    assert all("Check the address." in page for page in (nowhere, nobody))
    assert all("token" not in page and "URI" not in page for page in (nowhere, nobody))


def test_a_picture_has_its_place_before_it_is_there() -> None:
    """In its own proportions, so that nothing jumps."""
    ours = visit()
    job_id = finished(ours.desk)

    shown = ours.browser.open(f"{PREFIX}/jobs/{job_id}").text

    assert 'width="288" height="162"' in shown
    assert 'width="162" height="288"' in shown


def test_a_job_shows_why_it_waits_what_was_asked_and_what_was_made() -> None:
    """In words for people, with its pictures by our own addresses."""
    ours = visit()
    job_id = finished(ours.desk)

    shown = ours.browser.open(f"{PREFIX}/jobs/{job_id}").text
    picture = ours.browser.ask("GET", f"{HERE}/jobs/{job_id}/pictures/{ASPECTS[0]}")
    whole = ours.browser.ask("GET", f"{PREFIX}/jobs/{job_id}/outputs/{ASPECTS[0]}")

    assert "Finished" in shown
    assert GOOD.prompt in shown
    assert f'<h1 lang="{GOOD.locale}" dir="auto">{GOOD.headline}</h1>' in shown
    assert "<dd>3.5</dd>" in shown
    assert all(f"{HERE}/jobs/{job_id}/pictures/{aspect}" in shown for aspect in ASPECTS)
    assert '<time datetime="2026-11-30T12:00:00+00:00">2026-11-30 12:00Z</time>' in shown
    assert picture.headers["Content-Type"] == "image/webp"
    assert (whole.status_code, whole.headers["Cache-Control"]) == (307, "no-store")


@pytest.mark.parametrize(
    ("status", "label", "who"),
    [
        (Status.REVIEW, "Needs attention", "names nothing of the request, ask an operator"),
        (Status.DLQ, "Can be run again", "An operator runs it again once the cause is gone."),
    ],
)
def test_a_job_that_ended_badly_says_who_acts(status: Status, label: str, who: str) -> None:
    """No new text is asked for where none would help."""
    ours = visit()
    job_id = ours.desk.post().json()["jobId"]
    finish(ours.desk.door, job_id, status=status)

    shown = ours.browser.open(f"{PREFIX}/jobs/{job_id}").text

    assert label in shown
    assert who in shown
    assert "Needs a new text" not in shown + ours.browser.open(HERE).text


def test_no_address_that_is_signed_is_on_a_page() -> None:
    """Pages are kept by browsers and sent around."""
    ours = visit()
    job_id = finished(ours.desk)
    signed = ours.browser.ask("GET", f"{PREFIX}/jobs/{job_id}/outputs/{ASPECTS[0]}")

    shown = ours.browser.open(f"{PREFIX}/jobs/{job_id}").text + ours.browser.open(HERE).text

    assert signed.headers["Location"].partition("?")[0] not in shown


def test_markup_is_text() -> None:
    """In a prompt, a headline, a reason, a name and an address."""
    ours = visit(catalogue=FixedCatalogue(config(title=MARKUP, headline_limit=100)))
    ours.provider.id_claims = {"name": MARKUP}
    ours.sign_in()
    job_id = ours.desk.post(prompt=MARKUP, headline=MARKUP).json()["jobId"]
    ours.browser.send(HERE, f"{HERE}/hold", reason=MARKUP)

    for where in (
        f"{PREFIX}/campaigns",
        HERE,
        f"{HERE}?reason={MARKUP}",
        f"{PREFIX}/jobs/{job_id}",
        f"{PREFIX}/nowhere/{MARKUP}",
    ):
        shown = ours.browser.open(where).text
        assert "<script" not in shown
        assert "<img src=x" not in shown
    assert "&lt;script&gt;alert(1)" in ours.browser.open(f"{PREFIX}/jobs/{job_id}").text


def test_a_campaign_is_held_and_resumed_with_a_name_and_a_reason() -> None:
    """By the same use case as over the API: both see the same."""
    ours = visit()
    job_id = ours.desk.post().json()["jobId"]

    held = ours.browser.send(HERE, f"{HERE}/hold", reason="Legal asks")
    shown = ours.browser.open(held.headers["Location"]).text
    told = ours.desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}").json()["hold"]
    waiting = ours.browser.open(f"{PREFIX}/jobs/{job_id}").text
    resumed = ours.browser.send(HERE, f"{HERE}/resume")

    assert told == f"The campaign is on hold (system-of-{CUSTOMER}): Legal asks"
    assert told in shown
    assert "The campaign is on hold. What is in production goes on to its end." in shown
    assert "It goes on when the campaign is resumed." in waiting
    assert "Its jobs are due at once." in ours.browser.open(resumed.headers["Location"]).text
    assert ours.desk.door.ledger.campaign_hold(CUSTOMER, CAMPAIGN) is None


@pytest.mark.parametrize("reason", ["", " ", "x" * 201, "a\nb"])
def test_a_reason_that_is_none_comes_back_with_what_was_typed(reason: str) -> None:
    """Nothing is done, the fault is named, nothing is typed twice."""
    ours = visit()

    answer = ours.browser.send(HERE, f"{HERE}/hold", reason=reason)

    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert 'aria-invalid="true"' in answer.text
    assert f'value="{reason}"' in answer.text
    assert ours.desk.door.ledger.campaign_hold(CUSTOMER, CAMPAIGN) is None


def test_a_campaign_is_cancelled_only_by_somebody_who_means_it() -> None:
    """One click alone ends nothing for good."""
    ours = visit()
    job_id = ours.desk.post().json()["jobId"]

    by_mistake = ours.browser.send(HERE, f"{HERE}/cancel")
    before = ours.desk.door.ledger.job(job_id)
    meant = ours.browser.send(HERE, f"{HERE}/cancel", sure="yes")
    after = ours.desk.door.ledger.job(job_id)

    assert (by_mistake.status_code, meant.status_code) == (422, 303)
    assert before is not None
    assert after is not None
    assert (before.status, after.status) == (Status.QUEUED, Status.CANCELLED)


def test_a_job_is_cancelled_once_and_then_has_no_button() -> None:
    """A form that was open in a second tab is told how the job stands by now."""
    ours = visit()
    job_id = ours.desk.post().json()["jobId"]
    page, action = f"{PREFIX}/jobs/{job_id}", f"{PREFIX}/jobs/{job_id}/cancel"
    other = ours.desk.post(idempotencyKey="other").json()["jobId"]

    done = ours.browser.send(page, action)
    shown = ours.browser.open(done.headers["Location"]).text
    finish(ours.desk.door, other)
    proof = shown.partition('name="proof" value="')[2].partition('"')[0]
    late = ours.browser.ask("POST", f"{PREFIX}/jobs/{other}/cancel", data={"proof": proof})

    assert "The job is cancelled." in shown
    assert action not in shown
    assert late.status_code == 409
    assert "The job is succeeded already." in late.text
    assert "Finished" in late.text


def test_a_job_in_production_is_called_back_and_not_called_cancelled() -> None:
    """Its wave ends it; until then the page says so and offers no second button."""
    ours = visit()
    job_id = ours.desk.post().json()["jobId"]
    wave = Wave("w-1", CUSTOMER, CAMPAIGN, "v", "c", WaveState.FORMING, (job_id,), NOON)
    ours.desk.door.ledger.form(wave)
    ours.desk.door.ledger.claim(job_id, CUSTOMER, "w-1", now=NOON)
    page, action = f"{PREFIX}/jobs/{job_id}", f"{PREFIX}/jobs/{job_id}/cancel"

    done = ours.browser.send(page, action)
    shown = ours.browser.open(done.headers["Location"]).text
    row = ours.desk.door.ledger.job(job_id)

    assert row is not None
    assert (row.status, row.cancel is not None) == (Status.RUNNING, True)
    assert "is being cancelled" in shown
    assert "Being cancelled" in shown
    assert "The job is cancelled." not in shown
    assert action not in shown


def test_cancelling_a_campaign_says_that_production_is_called_back() -> None:
    """What the box is ticked for is what happens."""
    ours = visit()
    job_id = ours.desk.post().json()["jobId"]
    wave = Wave("w-1", CUSTOMER, CAMPAIGN, "v", "c", WaveState.FORMING, (job_id,), NOON)
    ours.desk.door.ledger.form(wave)
    ours.desk.door.ledger.claim(job_id, CUSTOMER, "w-1", now=NOON)

    asked = ours.browser.open(HERE).text
    done = ours.browser.send(HERE, f"{HERE}/cancel", sure="yes")
    shown = ours.browser.open(done.headers["Location"]).text
    row = ours.desk.door.ledger.job(job_id)

    assert row is not None
    assert row.cancel is not None
    assert "whose calls at Adobe are called back" in asked
    assert "what is in production is being called back" in shown


def test_who_may_only_look_sees_no_levers() -> None:
    """A button that answers 403 is a trap."""
    ours = visit(scope="jobs:read")
    job_id = ours.desk.post().json()["jobId"]

    shown = ours.browser.open(HERE).text + ours.browser.open(f"{PREFIX}/jobs/{job_id}").text

    assert "/hold" not in shown
    assert "/cancel" not in shown


def test_what_nobody_has_approved_is_shown_to_reviewers_alone() -> None:
    """The page says how the review stands; pictures and files stay back."""
    desk = visit(catalogue=FixedCatalogue(config(review=ReviewMode.REQUIRED)))
    job_id = finished(desk.desk)
    reader, reviewer = desk.of(CUSTOMER, "jobs:read"), desk.of(CUSTOMER, "jobs:read review")
    picture = f"{HERE}/jobs/{job_id}/pictures/{ASPECTS[0]}"

    theirs = reader.open(f"{PREFIX}/jobs/{job_id}").text

    assert "Not yet looked at" in theirs
    assert "/pictures/" not in theirs
    assert reader.ask("GET", picture).status_code == 404
    assert reviewer.ask("GET", picture).status_code == 200
    assert "/pictures/" in reviewer.open(f"{PREFIX}/jobs/{job_id}").text
    assert reviewer.ask("GET", f"{PREFIX}/jobs/{job_id}/outputs/{ASPECTS[0]}").status_code == 409


def test_a_request_that_is_gone_does_not_take_the_page_down() -> None:
    """The row still says how the job stands."""
    ours = visit()
    job_id = ours.desk.post().json()["jobId"]
    ours.desk.door.objects._objects.clear()

    shown = ours.browser.open(f"{PREFIX}/jobs/{job_id}")

    assert shown.status_code == 200
    assert "The request is no longer kept." in shown.text


@pytest.mark.parametrize("where", ["/campaigns/nowhere", "/jobs/nothing", "/nothing/at/all"])
def test_what_is_not_there_is_a_page_too(where: str) -> None:
    """With the way back, and the words that another tenant's things get."""
    ours = visit()

    answer = ours.browser.ask("GET", f"{PREFIX}{where}")

    assert answer.status_code == 404
    assert "<h1>" in answer.text
    assert "To the campaigns" in answer.text


def test_the_style_is_kept_by_browsers_under_its_own_mark() -> None:
    """A page never meets the style of another release."""
    ours = visit()
    shown = ours.browser.open(f"{PREFIX}/campaigns").text
    marked = shown.partition('rel="stylesheet" href="')[2].partition('"')[0]

    right = ours.browser.ask("GET", marked)
    other = ours.browser.ask("GET", f"{PREFIX}/style/0000.css")

    assert "immutable" in right.headers["Cache-Control"]
    assert other.headers["Cache-Control"] == "no-cache"
    assert right.headers["Content-Type"].startswith("text/css")
    assert len(right.content) < 12_000


def test_a_browser_at_the_bare_address_is_led_to_the_pages() -> None:
    """A program is told that there is nothing, as everywhere."""
    ours = visit()

    led = ours.desk.ask("GET", "/", headers={"Accept": "text/html,*/*"}, token=None)
    told = ours.desk.ask("GET", "/", token=None)

    assert (led.status_code, led.headers["Location"]) == (303, f"{PREFIX}/")
    assert (told.status_code, told.headers["Content-Type"]) == (404, "application/problem+json")


def test_dead_jobs_are_shown_by_class_with_price_cause_and_advice() -> None:
    """To operators alone; a class that goes says so, one that waits says for what."""
    ours = visit()
    for key, failure in (("s", FailureClass.STALE_REFERENCE), ("q", FailureClass.QUOTA)):
        job_id = ours.desk.post(idempotencyKey=key).json()["jobId"]
        finish(ours.desk.door, job_id, status=Status.DLQ, failure=failure)

    shown = ours.browser.open(f"{PREFIX}/dead-letters").text

    for word in ("stale-reference", "quota", "--mended", "Our quota at Adobe is used up."):
        assert word in shown
    assert "prompt_unsafe" not in shown  # That is on the job's own page.
    assert "Dead letters" in ours.browser.open(f"{PREFIX}/campaigns").text
    looker = ours.of(CUSTOMER, "jobs:read")
    assert looker.open(f"{PREFIX}/dead-letters").status_code == 403
    assert "Dead letters" not in looker.open(f"{PREFIX}/campaigns").text


def test_letters_of_the_tenant_are_shown_where_no_job_is_dead() -> None:
    """With the reason and without the text; nobody's and other tenants' are the operators'."""
    ours = visit()
    door = ours.desk.door
    assert "No job is dead" in ours.browser.open(f"{PREFIX}/dead-letters").text
    door.queue.send([body(locale="fr-FR"), "<xml/>"])
    drain(door.queue, door.intake, most=10)
    letters(door).sort(most=10)
    (refused,) = (one for one in letters(door).put_aside() if one.customer)
    theirs = replace(refused, kind=Kind.OTHER_TENANT, reason="It came as bolt's.", body="{}")
    content = json.dumps(asdict(theirs), default=str).encode()
    door.objects.put(theirs.key, content, media_type="application/json")

    shown = ours.browser.open(f"{PREFIX}/dead-letters").text

    assert "No job is dead" not in shown
    assert shown.count("<td>refused</td>") == 1
    for hidden in ("elderflower", "bolt", "foreign", "other-tenant"):
        assert hidden not in shown


def test_a_job_s_page_says_what_to_change() -> None:
    ours = visit()
    job_id = ours.desk.post().json()["jobId"]
    unsafe = FailureClass.UNSAFE_CONTENT
    finish(ours.desk.door, job_id, status=Status.REVIEW, failure=unsafe)

    assert "Say it in other words" in ours.browser.open(f"{PREFIX}/jobs/{job_id}").text
