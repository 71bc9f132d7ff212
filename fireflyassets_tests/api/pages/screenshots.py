"""The pictures of the README, taken from a stack that runs (``make up`` after ``make demo``).

Here: which pages, and how big. Not here: pages over doubles (``site.py``).
``python -m fireflyassets_tests.api.pages.screenshots http://127.0.0.1:PORT``
"""

import sys
from pathlib import Path

from playwright.sync_api import Page

from fireflyassets.api.pages.shell import PREFIX
from fireflyassets_tests.api.pages.site import chromium, looking

DOCS = Path(__file__).parents[3] / "docs"
CAMPAIGN = "/campaigns/spring-launch"


def main(url: str) -> None:
    """Sign in at *url* and take the pictures."""
    with chromium() as browser:
        with looking(browser, width=1180) as wide:
            page = wide.page
            page.goto(f"{url}{PREFIX}/")
            page.get_by_role("link", name="Operator of acme").click()
            page.goto(f"{url}{PREFIX}{CAMPAIGN}")
            take(page, "page-campaign", height=900)
            page.locator("tbody a").first.click()
            take(page, "page-job", height=1000)
        with looking(browser, width=390, dark=True) as narrow:
            page = narrow.page
            page.goto(f"{url}{PREFIX}/")
            page.get_by_role("link", name="Operator of acme").click()
            page.goto(f"{url}{PREFIX}{CAMPAIGN}")
            take(page, "page-campaign-phone", height=844)


def take(page: Page, name: str, *, height: int) -> None:
    """Take one picture, once everything in view is loaded."""
    page.set_viewport_size({"width": page.viewport_size["width"], "height": height})
    page.wait_for_load_state("networkidle")
    page.screenshot(path=DOCS / f"{name}.png")


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"))
