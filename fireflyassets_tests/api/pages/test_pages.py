"""What the pages show and do. Here: campaigns, one campaign, one job, their forms and errors."""

from datetime import timedelta

import pytest

from fireflyassets.api.pages.shell import PREFIX
from fireflyassets.core.campaign import ReviewMode
from fireflyassets.core.failure import FailureClass
from fireflyassets.core.status import Status
from fireflyassets_tests.api.desk_clerk import finish, finished
from fireflyassets_tests.api.pages.browser import visit
from fireflyassets_tests.front_door import ASPECTS, CAMPAIGN, CUSTOMER, GOOD, FixedCatalogue, config

HERE = f"{PREFIX}/campaigns/{CAMPAIGN}"
MARKUP = "<script>alert(1)</script><img src=x onerror=alert(2)> \"' {{ 7*7 }}"


def test_the_campaigns_of_the_tenant_are_summed_up() -> None:
    """Title, how many jobs are done, what it cost so far; nothing of others."""
    ours = visit(catalogue=FixedCatalogue(config(), config(customer="bolt", title="Theirs")))
    finished(ours.desk)
    ours.desk.post(idempotencyKey="second")

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


def test_a_job_s_page_says_what_to_change() -> None:
    ours = visit()
    job_id = ours.desk.post().json()["jobId"]
    unsafe = FailureClass.UNSAFE_CONTENT
    finish(ours.desk.door, job_id, status=Status.REVIEW, failure=unsafe)

    assert "Say it in other words" in ours.browser.open(f"{PREFIX}/jobs/{job_id}").text
