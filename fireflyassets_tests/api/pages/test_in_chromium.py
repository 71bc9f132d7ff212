"""The pages in a real browser: accessible, whole at 320 pixels, safe from markup, used by people.

Here: what only a browser can tell. Not here: what pages say (``test_pages.py``).
"""

import json
from collections.abc import Iterator
from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import Page, Route, expect

from fireflyassets.api.pages.shell import PREFIX
from fireflyassets_tests.api.pages.browser import ROUTES
from fireflyassets_tests.api.pages.site import Site, Watched, chromium, looking, site
from fireflyassets_tests.api.pages.walk import ERRORS, HERE, NO_PAGES, PAGES
from fireflyassets_tests.front_door import ASPECTS, CAMPAIGN, CUSTOMER

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
GRAVE = {"serious", "critical"}
ADDRESSES = {name: where for states in PAGES.values() for name, where in states.items()} | ERRORS
CRAMPED = """[...document.querySelectorAll("main *:not(.scroll):not(.sr)")]
    .filter(one => one.clientWidth && one.scrollWidth > one.clientWidth + 1)
    .filter(one => !one.closest(".scroll"))
    .map(one => one.outerHTML.slice(0, 80))"""
"""Boxes that their content runs out of; a table may, since it can be scrolled."""
in_a_browser = pytest.mark.full


@pytest.fixture(scope="module")
def here() -> Iterator[Site]:
    with site() as made:
        yield made


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with chromium() as started:
        yield started


def faults(page: Page) -> list[str]:
    """Return the serious and critical faults that axe finds on a page."""
    page.evaluate(AXE)
    told = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']}: {one['help']} {json.dumps([node['target'] for node in one['nodes'][:3]])}"
        for one in told["violations"]
        if one["impact"] in GRAVE
    ]


def sideways(page: Page) -> int:
    """Return by how many pixels the page is wider than its window."""
    return int(
        page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    )


def check(watched: Watched, seen: str) -> list[str]:
    """Return what is wrong with what a window shows."""
    page = watched.page
    wrong = [*faults(page), *watched.complaints]
    if sideways(page):
        wrong.append(f"wider than the window by {sideways(page)} px")
    wrong += [f"does not hold its words: {one}" for one in page.evaluate(CRAMPED)]
    if page.locator("h1").count() != 1:
        wrong.append("not one h1")
    watched.complaints.clear()
    return [f"{seen}: {one}" for one in wrong]


def test_every_page_is_in_the_walk() -> None:
    """A new page is not forgotten: it is looked at in a browser, or is said to be none."""
    routes = {path for method, path in ROUTES if method == "GET"}

    assert routes == set(PAGES) | set(NO_PAGES)
    assert all(PAGES.values())


@in_a_browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_every_page_is_accessible(here: Site, browser: Chromium, width: int, *, dark: bool) -> None:
    """No serious fault, nothing cut off at 320 pixels, nothing that the policy has to stop."""
    wrong: list[str] = []
    with looking(browser, width=width, dark=dark) as stranger:
        here.open(stranger.page, "/campaigns")
        wrong += check(stranger, "the embedded issuer")
        stranger.page.goto(f"{here.issuer}/authorize")
        wrong += check(stranger, "a sign-in that is none of ours")
        here.sign_in(stranger.page, "none")
        wrong += check(stranger, "a tenant without campaigns")
    with looking(browser, width=width, dark=dark) as watched:
        here.sign_in(watched.page)
        for name, where in ADDRESSES.items():
            here.open(watched.page, where(here))
            wrong += check(watched, name)
        wrong += planned(here, watched)
        here.open(watched.page, HERE)
        watched.page.get_by_label("Why?").fill("=1+1()")
        watched.page.get_by_role("button", name="Put on hold").click()
        expect(watched.page.get_by_role("alert")).to_be_visible()
        wrong += check(watched, "a form that comes back")
        watched.page.context.clear_cookies()
        watched.page.get_by_role("button", name="Put on hold").click()
        expect(watched.page.get_by_role("heading", level=1)).to_have_text("Your session has ended")
        wrong += check(watched, "a session that has ended")
    assert wrong == []


BRIEF = (
    "key,prompt,locale,headline,aspects\n"
    + "".join(f"planned-{n},A meadow,en-GB,Spring,{ASPECTS[0]}|{ASPECTS[1]}\n" for n in range(3))
    + f"bad,,xx,Spring,{ASPECTS[0]}\n"
).encode()


def plan(watched: Watched, content: bytes) -> None:
    """Choose a file and ask for its plan."""
    chosen = {"name": "brief.csv", "mimeType": "text/csv", "buffer": content}
    watched.page.get_by_label("Brief (CSV)").set_input_files(chosen)  # pyright: ignore[reportArgumentType] - a dictionary of its own kind.
    watched.page.get_by_role("button", name="Show the plan").click()


def planned(here: Site, watched: Watched) -> list[str]:
    """Return what is wrong with the pages of a plan, with a brief and with what is none."""
    here.open(watched.page, f"{HERE}/plan")
    plan(watched, BRIEF)
    expect(watched.page.get_by_role("heading", level=1)).to_have_text(
        "What this brief would come to"
    )
    wrong = check(watched, "a plan")
    plan(watched, b"PK\x03\x04 no brief at all")
    expect(watched.page.get_by_role("alert")).to_be_visible()
    return wrong + check(watched, "a file that is no brief")


@in_a_browser
def test_the_tables_of_a_plan_are_whole_on_a_phone(here: Site, browser: Chromium) -> None:
    """Nobody has to find out that a table goes on to the right: each fits."""
    with looking(browser, width=390) as watched:
        here.sign_in(watched.page)
        here.open(watched.page, f"{HERE}/plan")
        plan(watched, BRIEF)
        hidden = watched.page.locator(".scroll").evaluate_all(
            "all => all.map(one => one.scrollWidth > one.clientWidth)"
        )

    assert hidden == [False, False, False]


@in_a_browser
def test_a_person_plans_a_brief_and_releases_it(browser: Chromium) -> None:
    """A file is chosen, its plan shows what is refused, and one click makes the rest."""
    with site() as fresh, looking(browser, width=1280) as watched:
        fresh.sign_in(watched.page)
        fresh.open(watched.page, HERE)
        watched.page.get_by_role("link", name="Plan a brief").click()
        plan(watched, BRIEF)
        expect(watched.page.get_by_text("prompt is empty.")).to_be_visible()
        before = len(fresh.door.ledger.rows())

        watched.page.get_by_role("button", name="Release the plan").click()

        expect(watched.page.get_by_text("The plan is released without the rows")).to_be_visible()
        expect(watched.page.get_by_role("rowheader", name="Actual")).to_be_visible()
        assert len(fresh.door.ledger.rows()) == before + 3
        assert watched.complaints == []


@in_a_browser
def test_the_check_finds_faults(browser: Chromium) -> None:
    """A check that never finds anything would prove nothing."""
    with looking(browser, width=320) as watched:
        watched.page.set_content(
            "<html lang='en'><title>x</title><h1>x</h1><img src='data:,' width=900>"
            "<p style='color:#bbb;background:#fff'>pale</p><input>"
        )
        told = check(watched, "bad")

    assert {one.split(": ")[1] for one in told} >= {"image-alt", "color-contrast", "label"}
    assert any("wider than the window" in one for one in told)


@in_a_browser
def test_markup_in_a_prompt_never_runs(here: Site, browser: Chromium) -> None:
    """On the job's page and on the campaign's it is read as text, and nothing was even tried."""
    with looking(browser) as watched:
        here.sign_in(watched.page)
        for where in (f"/jobs/{here.jobs['refused']}", f"{HERE}?status=review", "/campaigns"):
            here.open(watched.page, where)
            assert watched.page.title() != "run"
            assert watched.page.locator("script, [onerror]").count() == 0
        here.open(watched.page, f"/jobs/{here.jobs['refused']}")
        expect(watched.page.get_by_text("<script>document.title").first).to_be_visible()
        assert watched.complaints == []


@in_a_browser
def test_the_policy_stops_what_slips_through(here: Site, browser: Chromium) -> None:
    """Were markup ever to reach a page, its script would not run, nor its style, nor its frame."""
    slipped = (
        "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
        "<p style='color:red' id=styled>x</p>"
    )
    with looking(browser) as watched:
        here.sign_in(watched.page)

        def inject(route: Route) -> None:
            answer = route.fetch()
            route.fulfill(
                response=answer, body=answer.text().replace("</main>", slipped + "</main>")
            )

        watched.page.route(f"**{PREFIX}/campaigns", inject)
        here.open(watched.page, "/campaigns")
        watched.page.wait_for_load_state()
        colour = watched.page.evaluate("getComputedStyle(document.getElementById('styled')).color")

        assert watched.page.title() != "run"
        assert colour != "rgb(255, 0, 0)"
        assert watched.complaints


@in_a_browser
def test_another_site_can_neither_frame_nor_send(here: Site, browser: Chromium) -> None:
    """A page of somebody else's, looked at by a person who is signed in here, moves nothing."""
    with looking(browser) as watched:
        here.sign_in(watched.page)
        evil = watched.page.context.new_page()
        evil.route(
            "http://evil.test/",
            lambda route: route.fulfill(
                content_type="text/html",
                body=f"<iframe src='{here.url}{PREFIX}{HERE}'></iframe>"
                f"<form method=post action='{here.url}{PREFIX}{HERE}/hold'>"
                "<input name=reason value=evil><button>Win a prize</button></form>",
            ),
        )
        evil.goto("http://evil.test/")
        framed = evil.frames[1].content()
        evil.get_by_role("button").click()
        expect(evil.get_by_role("heading", level=1)).to_contain_text("sent by another site")

    assert "Spring launch" not in framed
    assert here.door.ledger.campaign_hold(CUSTOMER, CAMPAIGN) is None


@in_a_browser
def test_the_keyboard_is_enough(here: Site, browser: Chromium) -> None:
    """Sign in, skip to the content, filter, hold and resume: without a mouse, focus always seen."""
    with looking(browser) as watched:
        page = watched.page
        here.open(page, "/campaigns")
        page.get_by_role("link", name=f"Operator of {CUSTOMER}").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Campaigns")
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
        expect(page.get_by_role("link", name="Skip to content")).to_be_in_viewport()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('main') !== null")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        page.get_by_role("link", name="Spring launch").press("Enter")
        page.get_by_label("Why?").focus()
        page.keyboard.type("Legal asks")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("The campaign is on hold")
        page.get_by_role("button", name="Resume the campaign").press("Space")
        expect(page.get_by_role("status")).to_contain_text("The campaign goes on")

    assert here.door.ledger.campaign_hold(CUSTOMER, CAMPAIGN) is None


@in_a_browser
def test_no_script_is_needed(here: Site, browser: Chromium) -> None:
    """With scripts switched off one filters, pages, looks at pictures and steers."""
    with looking(browser, script=False) as watched:
        page = watched.page
        here.sign_in(page)
        page.get_by_role("link", name="Spring launch").click()
        page.get_by_role("link", name="Next page").click()
        expect(page.get_by_role("link", name="waiting-54")).to_be_visible()
        page.get_by_label("Show").select_option("Finished")
        page.get_by_role("button", name="Apply").click()
        expect(page.locator("tbody tr")).to_have_count(1)
        page.get_by_role("link", name="done").click()
        pictures = page.locator(".pictures img")
        expect(pictures).to_have_count(3)
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("You are signed out")


@in_a_browser
def test_a_reviewer_works_by_the_keyboard(here: Site, browser: Chromium) -> None:
    """Ticked by the space bar, rejected and undone by keys: no mouse and no script."""
    with looking(browser, script=False) as watched:
        page = watched.page
        here.sign_in(page, role="Reviewer")
        here.open(page, "/campaigns/reviewed/review")
        box = page.get_by_role("checkbox", name="candidate-4")
        box.focus()
        page.keyboard.press("Space")
        page.get_by_label("Reason code").focus()
        page.keyboard.type("R-QUALITY")
        page.get_by_role("button", name="Reject selected").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("1 rejected")
        expect(box).to_have_count(0)
        page.get_by_role("button", name="Undo").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("1 open again")
        expect(box).to_be_visible()
