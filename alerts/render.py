"""What a message looks like: Slack blocks, an email's text and HTML, a terminal's text. Pure.

Slack's limits are kept with room to spare: 50 blocks, 150 characters in a header, 3,000 in a section, and about
13,200 in all blocks together, which Slack does not document but refuses.
"""

from __future__ import annotations

import json
from html import escape

from alerts import phrases
from alerts.message import BudgetLine, Message, MonthLine, WasteLine

Block = dict[str, object]

SUBJECT_LIMIT = 69
"""With `Subject: ` before it a line of 78 characters, which no mail program folds."""
HEADER_LIMIT = 150
SECTION_LIMIT = 3_000
TEXT_LIMIT = 1_500
BLOCKS_LIMIT = 20
CHARACTERS_LIMIT = 8_000

_FRAME_BLOCKS = 4
_LABEL_WIDTH = 33
_COLOURS = {"crossed": "#b42318", "unknown": "#8a5a00", "ok": "#1a7f37"}


def subject(message: Message, *, is_resent: bool = False) -> str:
    """Return an email's subject: one line of at most SUBJECT_LIMIT characters."""
    return phrases.headline(message, SUBJECT_LIMIT, is_resent=is_resent)


def plain_text(message: Message, *, is_resent: bool = False) -> str:
    """Return the message for a terminal or the text part of an email; safe to print, its last line is ended."""
    paragraphs = [
        phrases.headline(message, HEADER_LIMIT, is_resent=is_resent),
        f"{phrases.introduction(message)}\n{phrases.provenance(message)}",
        *(_plain_budget(line, message) for line in message.lines),
        *(f"{phrases.month_title(month)}\n  {phrases.month_meaning(month)}" for month in message.months),
        *_plain_waste(message),
        phrases.footer(message),
    ]
    return "\n\n".join(paragraphs) + "\n"


def html(message: Message, *, is_resent: bool = False) -> str:
    """Return the HTML part of an email: inline style, no image, no link, readable in light and dark."""
    title = escape(phrases.headline(message, HEADER_LIMIT, is_resent=is_resent))
    budgets = "\n".join(
        [
            *(_html_budget(line, message) for line in message.lines),
            *(_html_month(month) for month in message.months),
            *_html_waste(message),
        ]
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">'
        f"<title>{title}</title></head>\n"
        '<body style="font-family:Helvetica,Arial,sans-serif;font-size:15px;line-height:1.45;margin:0;padding:16px">\n'
        '<table role="presentation" width="600" style="max-width:100%;border-collapse:collapse"><tr><td>\n'
        f'<h1 style="font-size:19px;margin:0 0 8px">{title}</h1>\n'
        f'<p style="margin:0 0 16px">{escape(phrases.introduction(message))}<br>'
        f"{escape(phrases.provenance(message))}</p>\n{budgets}\n"
        f'<p style="font-size:13px;margin:24px 0 0">{escape(phrases.footer(message))}</p>\n'
        "</td></tr></table>\n</body></html>\n"
    )


def slack_body(message: Message, *, is_resent: bool = False) -> dict[str, object]:
    """Return the JSON body for a Slack webhook: blocks, and the text that notifications and screen readers use.

    Names stand in plain text objects only, where Slack interprets nothing; all other text is escaped. What does not
    fit is counted in a last line, the most urgent budgets being shown.
    """
    opening: list[Block] = [
        {
            "type": "header",
            "text": _plain_object(phrases.headline(message, HEADER_LIMIT, is_resent=is_resent)),
        },
        _context(f"{phrases.introduction(message)} {phrases.provenance(message)}"),
    ]
    wanted = [_slack_section(line, message) for line in message.lines] + [
        _slack_month(month) for month in message.months
    ]
    wanted += [_slack_waste(line) for line in message.waste.lines] if message.waste else []
    sections = _fitting(wanted)
    hidden = len(wanted) - len(sections)
    where = "marts.budget_status and marts.month_news"
    where = f"{where}, marts.waste_findings" if message.waste else where
    closing = [_context(f"and {hidden} more: see {where}")] if hidden else []
    rest = phrases.waste_rest(message.waste) if message.waste else None
    closing += [_context(rest)] if rest else []
    return {
        "text": slack_text(message, is_resent=is_resent),
        "blocks": [*opening, *sections, *closing, _context(phrases.footer(message))],
        "unfurl_links": False,
        "unfurl_media": False,
        "link_names": False,
        "parse": "none",
    }


def slack_text(message: Message, *, is_resent: bool = False) -> str:
    """Return the fallback text, escaped, at most TEXT_LIMIT characters."""
    lines = [escape_mrkdwn(phrases.headline(message, HEADER_LIMIT, is_resent=is_resent))]
    room = TEXT_LIMIT - len(lines[0])
    sentences = [f"{_title(line)}; {_spent(line, message)}" for line in message.lines]
    # The headline has the first month already where there are no budgets.
    sentences += [phrases.month_title(month) for month in message.months[0 if message.lines else 1 :]]
    if message.waste is not None:
        sentences += map(phrases.waste_line_title, message.waste.lines)
    for sentence in map(escape_mrkdwn, sentences):
        room -= len(sentence) + 1
        if room < 0:
            break
        lines.append(sentence)
    return "\n".join(lines)


def escape_mrkdwn(text: str) -> str:
    """Return `text` with the three characters escaped that Slack interprets, and no others.

    Source: https://api.slack.com/reference/surfaces/formatting#escaping
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _title(line: BudgetLine) -> str:
    """Return a budget's name and where it stands."""
    return f"{phrases.clean_name(line.budget_id)}: {phrases.standing(line)}"


def _spent(line: BudgetLine, message: Message) -> str:
    """Return the first fact about a budget as one phrase."""
    label, value = phrases.facts(line, message.as_of)[0]
    return f"{label.lower()} {value}"


def _plain_budget(line: BudgetLine, message: Message) -> str:
    """Return one budget as lines of text."""
    rows = (f"  {label:<{_LABEL_WIDTH}} {value}" for label, value in phrases.facts(line, message.as_of))
    return "\n".join((_title(line), *rows))


def _html_budget(line: BudgetLine, message: Message) -> str:
    """Return one budget as a heading and a table."""
    rows = "".join(
        '<tr><th scope="row" style="text-align:left;font-weight:normal;padding:2px 16px 2px 0;vertical-align:top">'
        f'{escape(label)}</th><td style="padding:2px 0">{escape(value)}</td></tr>\n'
        for label, value in phrases.facts(line, message.as_of)
    )
    bar = f"border-left:4px solid {_COLOURS[line.standing]}"
    return (
        f'<h2 style="font-size:16px;margin:16px 0 4px;padding-left:8px;{bar}">{escape(_title(line))}</h2>\n'
        f'<table style="border-collapse:collapse">\n{rows}</table>'
    )


def _html_month(month: MonthLine) -> str:
    """Return one month as a heading and a sentence."""
    bar = f"border-left:4px solid {_COLOURS['unknown']}"
    title = escape(phrases.month_title(month))
    return (
        f'<h2 style="font-size:16px;margin:16px 0 4px;padding-left:8px;{bar}">{title}</h2>\n'
        f'<p style="margin:0">{escape(phrases.month_meaning(month))}</p>'
    )


def _plain_waste(message: Message) -> list[str]:
    """Return each finding as lines of text, and how many are not shown."""
    if message.waste is None:
        return []
    paragraphs = [
        "\n".join(
            (phrases.waste_line_title(line), *(f"  {label:<8} {value}" for label, value in phrases.waste_facts(line)))
        )
        for line in message.waste.lines
    ]
    rest = phrases.waste_rest(message.waste)
    return [*paragraphs, rest] if rest else paragraphs


def _html_waste(message: Message) -> list[str]:
    """Return each finding as a heading and a table, and how many are not shown."""
    if message.waste is None:
        return []
    parts = [_html_waste_line(line) for line in message.waste.lines]
    rest = phrases.waste_rest(message.waste)
    return [*parts, f'<p style="margin:16px 0 0">{escape(rest)}</p>'] if rest else parts


def _html_waste_line(line: WasteLine) -> str:
    """Return one finding as a heading and a table."""
    bar = f"border-left:4px solid {_COLOURS['unknown']}"
    rows = "".join(
        '<tr><th scope="row" style="text-align:left;font-weight:normal;padding:2px 16px 2px 0;vertical-align:top">'
        f'{escape(label)}</th><td style="padding:2px 0">{escape(value)}</td></tr>\n'
        for label, value in phrases.waste_facts(line)
    )
    return (
        f'<h2 style="font-size:16px;margin:16px 0 4px;padding-left:8px;{bar}">'
        f"{escape(phrases.waste_line_title(line))}</h2>\n"
        f'<table style="border-collapse:collapse">\n{rows}</table>'
    )


def _slack_waste(line: WasteLine) -> Block:
    """Return one finding as a section of plain text."""
    facts = "\n".join(f"{label}: {value}" for label, value in phrases.waste_facts(line))
    return {"type": "section", "text": _plain_object(f"{phrases.waste_line_title(line)}\n{facts}")}


def _slack_month(month: MonthLine) -> Block:
    """Return one month as a section of plain text."""
    return {
        "type": "section",
        "text": _plain_object(f"{phrases.month_title(month)}\n{phrases.month_meaning(month)}"),
    }


def _slack_section(line: BudgetLine, message: Message) -> Block:
    """Return one budget as a section: its name as plain text, its facts as fields."""
    return {
        "type": "section",
        "text": _plain_object(_title(line)),
        "fields": [
            {"type": "mrkdwn", "text": f"*{escape_mrkdwn(label)}*\n{escape_mrkdwn(value)}"}
            for label, value in phrases.facts(line, message.as_of)
        ],
    }


def _fitting(sections: list[Block]) -> list[Block]:
    """Return as many sections, from the first, as Slack takes in one message."""
    fitting: list[Block] = []
    characters = 0
    for section in sections[: BLOCKS_LIMIT - _FRAME_BLOCKS]:
        characters += len(json.dumps(section, ensure_ascii=False))
        if characters > CHARACTERS_LIMIT:
            break
        fitting.append(section)
    return fitting


def _context(text: str) -> Block:
    """Return a line of small plain text."""
    return {"type": "context", "elements": [_plain_object(text)]}


def _plain_object(text: str) -> Block:
    """Return a text object in which Slack interprets nothing."""
    return {"type": "plain_text", "text": text, "emoji": False}
