"""Typesetting: what fits a layer and what is refused, by measure or by the budget alone."""

from dataclasses import replace
from decimal import Decimal

import pytest

from fireflyassets.core.font import Font, Metrics, from_json, ranges
from fireflyassets.core.text_rule import Fit, TextFrame, TextRule
from fireflyassets.core.text_style import TextStyle
from fireflyassets.core.typesetting import Misfit, Setting, fit

LETTERS = "abcdefghijklmnopqrstuvwxyz -"
BRAND = Font(
    "Brand",
    ranges(LETTERS),
    Metrics(1000, 800, 200, dict.fromkeys(LETTERS, 500), {"v": {"a": -100}}),
)
"""Each letter half an em wide."""
GREEK = Font("Greek", ranges("αβγ"), Metrics(1000, 800, 200, dict.fromkeys("αβγ", 600)))
FONTS = {"Brand": BRAND, "Greek": GREEK}
STYLE = TextStyle(font="Brand", size=Decimal(100), leading=Decimal(120))
LOCALE = "en-GB"


def frame(size: tuple[float, float] | None = (1000.0, 220.0), **rule: object) -> TextFrame:
    """Return a box of two lines with twenty letters each, under a rule."""
    said = {"budget": 40, "fonts": ("Brand", "Greek")} | rule
    return TextFrame(STYLE, size, {LOCALE: TextRule.model_validate(said)})


def set_in(words: str, given: TextFrame, fonts: dict[str, Font] = FONTS) -> Setting | Misfit:
    return fit(words, given, LOCALE, fonts)


@pytest.mark.parametrize("words", ["spring", "a" * 20, f"{'a' * 20} {'b' * 19}", "spring αβγ"])
def test_what_fits_is_set_as_it_is_written(words: str) -> None:
    """Up to the last letter of the last line, stand-ins included."""
    assert set_in(words, frame()) == Setting(words)


@pytest.mark.parametrize(
    ("words", "rule", "what", "fix"),
    [
        (
            "spring 花 花🌸",
            "glyphs",
            "no font of it draws '花' (U+82B1), '🌸' (U+1F338)",
            "without",
        ),
        ("a" * 21, "width", "a word of 21 letters is 1050 px wide, and a line 1000 px", "about 2 "),
        (" ".join(["a" * 12] * 3), "lines", "it takes 3 lines of 1000 px, and 2 fit", "about 13 "),
        ("a" * 41, "budget", "it has 41 code points, and at most 40 fit", "by 1."),
    ],
)
def test_what_does_not_fit_is_named_with_its_cure(
    words: str, rule: str, what: str, fix: str
) -> None:
    """The characters, or how wide and how wide it may be, and by how much to shorten."""
    told = set_in(words, frame())

    assert isinstance(told, Misfit)
    assert (told.rule, told.what) == (rule, what)
    assert fix in told.fix


def test_kerning_counts() -> None:
    """Five pairs that stand closer make room for a letter; four do not."""
    assert isinstance(set_in("va" * 5 + "b" * 11, frame()), Setting)
    assert isinstance(set_in("va" * 4 + "b" * 13, frame()), Misfit)


def test_tracking_counts() -> None:
    """Letters that are spaced out take more room, as many gaps as there are."""
    spaced = replace(frame(), style=replace(STYLE, tracking=Decimal(100)))

    assert isinstance(set_in("a" * 16, spaced), Setting)
    assert isinstance(set_in("a" * 17, spaced), Misfit)


def test_shrink_takes_the_largest_size_that_fits() -> None:
    """The size falls by whole percents, and not below what the rule allows."""
    shrinking = frame(fit=Fit.SHRINK, shrink_to=80)

    assert set_in("a" * 20, shrinking) == Setting("a" * 20, 100)
    assert set_in("a" * 21, shrinking) == Setting("a" * 21, 95)
    assert set_in("a" * 24, shrinking) == Setting("a" * 24, 83)
    told = set_in("a" * 26, shrinking)
    assert isinstance(told, Misfit)
    assert told.what == "a word of 26 letters is 1040 px wide, and a line 1000 px"


def test_shrink_gains_lines_too() -> None:
    """A smaller type has more letters on a line, and more lines in the box."""
    words = " ".join(["a" * 12] * 3)

    assert set_in(words, frame(fit=Fit.SHRINK, shrink_to=50)) == Setting(words, 80)


def test_most_lines_bind_below_what_the_box_holds() -> None:
    """A designer who wants one line gets one, in any fit."""
    words = f"{'a' * 12} {'b' * 12}"

    told = set_in(words, frame(max_lines=1))

    assert isinstance(told, Misfit)
    assert told.what == "it takes 2 lines of 1000 px, and 1 fit"
    assert isinstance(set_in(words, frame(max_lines=1, fit=Fit.SHRINK, shrink_to=80)), Setting)


def test_lines_are_broken_where_they_were_measured() -> None:
    """The words go out with the breaks, so that nobody else chooses them."""
    given = frame(fit=Fit.LINES, max_lines=2)

    assert set_in("slow mornings and fresh-spring", given) == Setting(
        "slow mornings and\rfresh-spring"
    )
    assert set_in("slow mornings and the fresh-spring", given) == Setting(
        "slow mornings and\rthe fresh-spring"
    )
    assert isinstance(set_in("slow mornings slow mornings slow mornings", given), Misfit)


@pytest.mark.parametrize(
    ("rule", "words", "told"),
    [
        ({}, "花" * 40, Setting("花" * 40)),
        ({"fit": "shrink", "shrink_to": 80}, "a" * 50, Setting("a" * 50, 80)),
        ({"fit": "lines", "max_lines": 2}, f"{'a' * 19} {'b' * 20}", None),
        ({"fit": "lines", "max_lines": 2}, "a" * 21, Misfit),
    ],
)
def test_without_a_font_the_budget_decides(
    rule: dict[str, object], words: str, told: object
) -> None:
    """Nothing is known of the vendor's own fonts: each code point takes its share."""
    found = set_in(words, frame(**rule), {"Greek": GREEK})

    if told is Misfit:
        assert isinstance(found, Misfit)
    else:
        assert found == (told or Setting(words.replace(" ", "\r")))


def test_a_lock_may_know_what_a_font_draws_without_its_file() -> None:
    """Then characters are checked, and widths go by the budget."""
    known = {"Brand": Font("Brand", "61-7A 20")}
    given = frame(fonts=("Brand",))

    assert set_in("a" * 40, given, known) == Setting("a" * 40)
    told = set_in("Spring", given, known)
    assert isinstance(told, Misfit)
    assert told.what == "no font of it draws 'S' (U+0053)"


def test_a_locale_without_a_rule_is_not_judged() -> None:
    """Campaigns without a text layer, or pinned before texts were checked."""
    assert fit("花", frame(), "ja-JP", FONTS) == Setting("花")


def test_a_text_on_a_point_has_no_width() -> None:
    """Only its characters and its budget can be wrong."""
    assert set_in("a" * 40, frame(size=None)) == Setting("a" * 40)
    assert set_in("a" * 20 + " " + "b" * 19, frame(size=None, fit=Fit.LINES, max_lines=2)) == (
        Setting("a" * 20 + "\r" + "b" * 19)
    )


def test_capitals_are_measured_as_they_are_set() -> None:
    """A style of capitals asks for other glyphs than the words."""
    loud = replace(frame(), style=replace(STYLE, capitals="all_caps"))

    told = set_in("spring", loud)

    assert isinstance(told, Misfit)
    assert "'S' (U+0053)" in told.what


def test_fonts_survive_their_json() -> None:
    """With measures and without."""
    for font in (BRAND, Font("Vendor", "20-7E A0")):
        assert from_json(font.to_json()) == font
    assert ranges("abcxz") == "61-63 78 7A"
