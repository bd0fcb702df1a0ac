from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from datetime import date
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts import phrases, render
from alerts.message import BudgetLine, Message

CROSSED = BudgetLine(
    budget_id="vision-monthly",
    standing="crossed",
    threshold="80%",
    crossed_on=date(2026, 11, 18),
    spent_amount=Decimal("150000.004"),
    gross_amount=Decimal("150000.004"),
    net_amount=Decimal("141250.5"),
    limit_amount=Decimal(180_000),
    billing_currency="USD",
    basis="effective",
    includes_credits=False,
    includes_tax=False,
    includes_refunds=False,
    period_start=date(2026, 11, 1),
    period_end=date(2026, 12, 1),
    complete_through=date(2026, 11, 19),
    month_status="open",
)
CALM = replace(
    CROSSED,
    budget_id="audio-monthly",
    standing="ok",
    threshold=None,
    crossed_on=None,
    spent_amount=Decimal(1_234_567),
    gross_amount=Decimal(1_234_567),
    net_amount=Decimal(1_234_567),
    limit_amount=Decimal(9_000_000),
    billing_currency="JPY",
    basis="list",
    includes_tax=True,
)
UNKNOWN = replace(
    CROSSED,
    budget_id="shared-monthly",
    standing="unknown",
    threshold=None,
    crossed_on=None,
    spent_amount=None,
    gross_amount=None,
    net_amount=None,
    complete_through=None,
    month_status="no data",
)
BREACH = Message(kind="budget", route="team vision", as_of=date(2026, 11, 20), lines=(CROSSED,))
DIGEST = Message(kind="welcome", route="default", as_of=date(2026, 11, 20), lines=(CROSSED, UNKNOWN, CALM))
PING = "<!channel> & <https://evil.example|click>"


def named(name: str, lines: int = 1) -> Message:
    """Return a message about budgets of that name."""
    return replace(BREACH, route=name, lines=(replace(CROSSED, budget_id=name),) * lines)


def plain_objects(body: object) -> list[str]:
    """Return the texts of a Slack body in which Slack interprets nothing."""
    return [text for kind, text in text_objects(body) if kind == "plain_text"]


def text_objects(node: object) -> list[tuple[str, str]]:
    """Return (type, text) of every text object in a Slack body, the fallback text as mrkdwn."""
    if isinstance(node, list):
        return [found for child in node for found in text_objects(child)]
    if not isinstance(node, dict):
        return []
    own = [(str(node.get("type", "mrkdwn")), node["text"])] if isinstance(node.get("text"), str) else []
    return own + [found for child in node.values() for found in text_objects(child)]


@pytest.mark.parametrize(("name", "message", "is_resent"), [("breach", BREACH, True), ("digest", DIGEST, False)])
@pytest.mark.parametrize("form", ["txt", "html", "slack.json"])
def test_messages_look_as_reviewed(name: str, message: Message, is_resent: bool, form: str, repository: Path) -> None:
    if form == "txt":
        text = f"{render.subject(message, is_resent=is_resent)}\n\n{render.plain_text(message, is_resent=is_resent)}"
    elif form == "html":
        text = render.html(message, is_resent=is_resent)
    else:
        body = render.slack_body(message, is_resent=is_resent)
        text = json.dumps(body, indent=2, ensure_ascii=False) + "\n"
    golden = repository / "tests" / "golden" / "messages" / f"{name}.{form}"
    if "UPDATE_GOLDEN" in os.environ:
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_amounts_are_in_the_minor_unit_of_their_currency() -> None:
    assert phrases.amount_text(Decimal("1234567.895"), "USD") == "1,234,567.90 USD"
    assert phrases.amount_text(Decimal("1234567.5"), "JPY") == "1,234,568 JPY"
    assert phrases.amount_text(Decimal("-0.001"), "EUR") == "0.00 EUR"
    assert phrases.amount_text(Decimal("-12.5"), "EUR") == "-12.50 EUR"
    assert phrases.amount_text(Decimal("9" * 26 + ".123456789012"), "USD").startswith("99,999,999")


def test_a_percentage_never_claims_what_is_not_reached() -> None:
    assert phrases.percent_text(Decimal("99.96"), Decimal(100)) == "99.9 %"
    assert phrases.percent_text(Decimal(100), Decimal(100)) == "100 %"
    assert phrases.percent_text(Decimal(70), Decimal(80)) == "87.5 %"
    assert phrases.percent_text(Decimal(5), Decimal(0)) is None


def test_a_subject_puts_money_first_and_stays_short() -> None:
    assert render.subject(BREACH) == "150,000.00 of 180,000.00 USD: vision-monthly crossed 80%"
    several = replace(BREACH, lines=(CROSSED, UNKNOWN, CALM))
    assert render.subject(several) == "150,000.00 of 180,000.00 USD: vision-monthly crossed 80%, and 2 more"
    assert render.subject(several, is_resent=True).startswith("(resent) 150,000.00")
    assert render.subject(DIGEST) == "150,000.00 of 180,000.00 USD: vision-monthly crossed 80%; 3 watched"
    calm = replace(DIGEST, lines=(UNKNOWN, CALM))
    assert render.subject(calm) == "2 budgets watched, none past a threshold, 1 not judged"
    long = render.subject(named("v" * 61_440))
    assert (long, len(long)) == ("150,000.00 of 180,000.00 USD: " + "v" * 26 + "… crossed 80%", 69)


def test_an_unknown_budget_shows_no_amount_but_its_limit() -> None:
    text = render.plain_text(replace(BREACH, lines=(UNKNOWN,)))
    assert re.findall(r"[\d,]+\.\d\d", text) == ["180,000.00"]


def test_nothing_of_a_name_pings_anyone_in_slack() -> None:
    body = render.slack_body(named(PING))
    for kind, text in text_objects(body):
        if kind == "mrkdwn":
            assert "<" not in text
            assert ">" not in text
    assert "&lt;!channel&gt; &amp; &lt;https://evil.example|click&gt;" in str(body["text"])
    assert any(f"{PING}: crossed 80%" == text for text in plain_objects(body))


def test_quotes_are_not_escaped_in_slack() -> None:
    assert render.escape_mrkdwn('it\'s "so" & <so>') == 'it\'s "so" &amp; &lt;so&gt;'


def test_a_hostile_currency_or_threshold_pings_no_one_either() -> None:
    line = replace(CROSSED, billing_currency="<!here>", threshold="<!channel>")
    for kind, text in text_objects(render.slack_body(replace(BREACH, lines=(line,)))):
        assert kind == "plain_text" or "<" not in text


def test_a_name_stays_text_in_html() -> None:
    class Tags(HTMLParser):
        """Collects tags and text."""

        tags: set[str]
        text: str

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
            self.tags.add(tag)

        def handle_data(self, data: str) -> None:
            self.text += data

    parser = Tags()
    parser.tags, parser.text = set(), ""
    name = '<img src=x onerror=alert(1)></script><a href="javascript:x">'
    parser.feed(render.html(named(name)))
    assert not parser.tags & {"img", "script", "a"}
    assert f"{name}: crossed 80%" in parser.text


def test_control_characters_are_shown_everywhere() -> None:
    message = named("\x1b[2J\u202eevil\r\nBcc: x\0")
    shown = "\\u001B[2J\\u202Eevil\\u000D\\u000ABcc: x\\u0000"
    for text in (render.plain_text(message), render.html(message), render.slack_text(message)):
        assert shown in text
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)


@pytest.mark.parametrize("name", ["x" * 61_440, "&" * 61_440, "\u202e" * 61_440, "🇩🇪" * 9_000, "e" + "\u0301" * 60_000])
@pytest.mark.parametrize("lines", [1, 500])
def test_huge_names_and_many_budgets_stay_within_slack_limits(name: str, lines: int) -> None:
    body = render.slack_body(named(name, lines))
    blocks = body["blocks"]
    assert isinstance(blocks, list)
    assert len(blocks) <= 20
    assert len(json.dumps(body, ensure_ascii=False)) < 10_000 + render.TEXT_LIMIT
    assert len(json.dumps(blocks, ensure_ascii=False)) < 10_000
    assert len(str(body["text"])) <= render.TEXT_LIMIT
    assert len(blocks[0]["text"]["text"]) <= 150
    for block in blocks:
        assert len(block.get("text", {}).get("text", "")) <= render.SECTION_LIMIT
        assert len(block.get("fields", ())) <= 10
        assert all(len(field["text"]) <= 2_000 for field in block.get("fields", ()))
    if lines > 1:
        shown = sum(block["type"] == "section" for block in blocks)
        assert shown >= 5
        assert any(f"and {500 - shown} more budgets" in text for text in plain_objects(body))


@given(name=st.text(min_size=1), route=st.text(), currency=st.text(max_size=20), threshold=st.text(max_size=200))
def test_any_name_renders_in_every_form(name: str, route: str, currency: str, threshold: str) -> None:
    line = replace(CROSSED, budget_id=name, billing_currency=currency, threshold=threshold)
    for kind in ("budget", "welcome"):
        message = replace(DIGEST, kind=kind, route=route, lines=(line, UNKNOWN, CALM))
        assert len(render.subject(message)) <= 69
        assert "\r" not in render.plain_text(message)
        json.dumps(render.slack_body(message)).encode()
        render.html(message).encode()
