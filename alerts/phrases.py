"""The words of a message, the same in every channel: headline, facts, basis, amounts. Pure.

Everything returned here is clean of unseen characters and short, whatever the names were; escaping for HTML or Slack
is the renderer's.
"""

from __future__ import annotations

from datetime import date, timedelta
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal

from alerts.message import BudgetLine, Message, MonthLine, WasteLine, WasteNews
from alerts.route import DEFAULT_ROUTE
from sql.text import shortened, visible

NAME_LIMIT = 80
RESENT = "(resent) "
SENDER = "Sent by Overrun."

_SHORTEST_NAME = 16
_CURRENCY_LIMIT = 12
_STEP_LIMIT = 500
_PRECISION = 60
_WITHOUT_MINOR_UNIT = frozenset(
    {"BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF"}
)
_BASES = {"effective": "effective cost", "billed": "billed cost", "list": "list cost at public prices"}


def clean_name(text: str, limit: int = NAME_LIMIT) -> str:
    """Return a name as people may see it: nothing hidden in it, and not longer than `limit` characters."""
    # The cut looks at no character beyond these, and a name may be megabytes.
    return shortened(visible(text[: limit + 1]), limit)


def amount_text(amount: Decimal, currency: str | None = None) -> str:
    """Return `1,234.50 USD`, in the minor unit of the currency; without `currency` in hundredths and bare."""
    step = Decimal(1) if currency in _WITHOUT_MINOR_UNIT else Decimal("0.01")
    rounded = amount.quantize(step, rounding=ROUND_HALF_UP, context=Context(prec=_PRECISION))
    number = f"{abs(rounded) if rounded == 0 else rounded:,f}"
    return number if currency is None else f"{number} {clean_name(currency, _CURRENCY_LIMIT)}"


def percent_text(spent: Decimal, limit: Decimal) -> str | None:
    """Return spend as per cent of the limit, rounded down so that 99.96 is never shown as 100; None without limit."""
    if limit == 0:
        return None
    context = Context(prec=_PRECISION)
    percent = context.divide(spent * 100, limit).quantize(Decimal("0.1"), rounding=ROUND_DOWN, context=context)
    return f"{percent:f}".removesuffix(".0") + " %"


def headline(message: Message, limit: int, *, is_resent: bool = False) -> str:
    """Return one line of at most `limit` characters that says it all, the money first."""
    prefix = RESENT if is_resent else ""
    if not message.lines:
        title = month_title(message.months[0]) if message.months else waste_title(message.waste)
        return shortened(f"{prefix}{title}{_tail(message)}", limit)
    first = message.lines[0]
    if message.kind == "welcome" and first.standing != "crossed":
        return prefix + _calm_headline(message)
    tail = _tail(message)
    lead, verdict = _verdict(first)
    room = max(limit - len(prefix) - len(lead) - len(verdict) - len(tail), _SHORTEST_NAME)
    return shortened(f"{prefix}{lead}{clean_name(first.budget_id, min(room, NAME_LIMIT))}{verdict}{tail}", limit)


def introduction(message: Message) -> str:
    """Return the sentence under the headline."""
    if message.kind == "welcome":
        return (
            "First message to this route. From now on it hears once when a budget crosses a threshold; "
            "thresholds already crossed in this period are marked here and are not told again."
        )
    unknown = sum(line.standing == "unknown" for line in message.lines)
    crossed = len(message.lines) - unknown
    sentences = [f"{counted(crossed, 'budget')} crossed a threshold."] if crossed else []
    if unknown:
        sentences.append(f"{counted(unknown, 'budget')} cannot be judged.")
    if message.months:
        sentences.append(f"There is news of {counted(len(message.months), 'month')} thought settled.")
    if message.waste is not None:
        sentences.append(waste_introduction(message.waste))
    return " ".join(sentences)


def month_title(line: MonthLine) -> str:
    """Return what is new about a month, in one clause, the money first."""
    month = f"{line.billing_month:%B %Y} of {clean_name(line.source)}"
    if line.news == "restated":
        sign = "-" if line.amount < 0 else "+"
        return f"{sign}{amount_text(abs(line.amount), line.billing_currency)}: {month} was final and is restated"
    if line.amount == 0:
        return f"Effective cost not proven: {month} is final"
    return f"{amount_text(line.amount, line.billing_currency)} not accounted for: {month} is final"


def month_meaning(line: MonthLine) -> str:
    """Return what that means and where to look."""
    if line.news == "restated":
        return "Its billed cost differs by this amount from what it was when final: see marts.restatements."
    if line.amount == 0:
        return (
            "Its effective cost is not proven: the export does not carry amortised costs of commitments."
            " Billed cost ties."
        )
    return (
        "Its effective cost is not proven: what usage is charged of commitments differs by this amount from what they"
        " cost. Billed cost ties. See amortisation_gap_cost in marts.reconciliation."
    )


def waste_title(waste: WasteNews | None) -> str:
    """Return what is wasted in all, the money first."""
    if waste is None:
        return "Nothing is wasted"
    amounts = " and ".join(amount_text(amount, currency) for currency, amount in waste.monthly_totals)
    count = counted(waste.new_count + waste.still_count, "finding")
    return f"{amounts} a month for nothing: {count}"


def waste_introduction(waste: WasteNews) -> str:
    """Return how many findings are new and how many still are, and which cost is meant."""
    if waste.is_baseline:
        told = (
            f"{counted(waste.still_count, 'thing')} found that cost money for nothing; new ones are told from now on."
        )
    else:
        parts = [f"{waste.new_count} new"] if waste.new_count else []
        parts += [f"{waste.still_count} that still are"] if waste.still_count else []
        told = f"Of what costs money for nothing: {', '.join(parts)}."
    return f"{told} Amounts are effective costs before promotional credits, of a month of 730 hours."


def waste_line_title(line: WasteLine) -> str:
    """Return what one finding is, in one line."""
    amount = amount_text(line.monthly_cost, line.billing_currency)
    news = "New: " if line.is_new else ""
    return f"{news}{amount} a month: {clean_name(line.title)}, {clean_name(line.subject)}"


def waste_facts(line: WasteLine) -> tuple[tuple[str, str], ...]:
    """Return label and value of each fact about a finding, in reading order."""
    so_far = f"{amount_text(line.so_far_cost, line.billing_currency)} since {line.first_seen.isoformat()}"
    return (
        ("Project", clean_name(line.project)),
        ("So far", so_far),
        *([("Cash", _cash(line))] if line.cash_saving_share < 1 else []),
        ("Seen", clean_name(line.evidence, _STEP_LIMIT)),
        ("Stop it", clean_name(line.stop_step, _STEP_LIMIT)),
        ("Finding", line.finding_id),
    )


def waste_rest(waste: WasteNews) -> str | None:
    """Return how many findings are not shown, and where they are; None where all are."""
    hidden = waste.new_count + waste.still_count - len(waste.lines)
    return f"and {counted(hidden, 'finding')} more: overrun waste, or marts.waste_findings" if hidden else None


def _cash(line: WasteLine) -> str:
    """Return how much of the amount stopping saves, where a commitment pays the rest."""
    if line.cash_saving_share == 0:
        return "none: a commitment pays for it, which stopping would free"
    saved = line.monthly_cost * line.cash_saving_share
    return f"{amount_text(saved, line.billing_currency)} a month; a commitment pays for the rest"


def footer(message: Message) -> str:
    """Return the last line: how often such a message comes, and who sent it."""
    sentences = ["Each threshold is told once per period."] if message.lines else []
    if message.waste is not None:
        sentences.append("New waste is told once, what still is once a week; overrun waste dismiss ID ends that.")
    return " ".join([*sentences, SENDER])


def provenance(message: Message) -> str:
    """Return whom the message is for and which day counted as today."""
    audience = "the default route" if message.route == DEFAULT_ROUTE else clean_name(message.route)
    return f"As of {message.as_of.isoformat()}, for {audience}."


def standing(line: BudgetLine) -> str:
    """Return where a budget stands, in words."""
    if line.standing == "unknown":
        return "cannot be judged"
    if line.threshold is None:
        return "below every threshold"
    return f"crossed {clean_name(line.threshold)}"


def facts(line: BudgetLine, as_of: date) -> tuple[tuple[str, str], ...]:
    """Return label and value of each fact about a budget, in reading order."""
    period = f"{line.period_start.isoformat()} to {(line.period_end - timedelta(days=1)).isoformat()}"
    return (
        *_money_facts(line),
        *([("Crossed on", line.crossed_on.isoformat())] if line.crossed_on else []),
        ("Period", period),
        *([("Month", month_text(line))] if line.month_status else []),
        ("Data complete through", _completeness(line, as_of)),
        ("Basis", basis_text(line)),
    )


def month_text(line: BudgetLine) -> str:
    """Return `October 2026 is estimated`; a month that was changed after it was final says so."""
    month = f"{line.period_start:%B %Y}"
    if line.month_status == "no data":
        return f"{month} has no data yet"
    restated = "; restated in part" if line.is_month_restated and line.month_status != "restated" else ""
    return f"{month} is {clean_name(line.month_status or '')}{restated}"


def basis_text(line: BudgetLine) -> str:
    """Return which cost is meant and what is in and out of it."""
    switches = (
        ("negotiated prices", line.basis != "list"),
        ("promotional credits", line.includes_credits),
        ("tax", line.includes_tax),
        ("purchase refunds", line.includes_refunds),
        ("shared costs", line.includes_shared),
    )
    included = ", ".join(name for name, is_in in switches if is_in)
    excluded = ", ".join(name for name, is_in in switches if not is_in)
    basis = _BASES.get(line.basis, clean_name(line.basis))
    return f"{basis}: {included} in; {excluded} out" if included else f"{basis}: {excluded} out"


def counted(count: int, noun: str) -> str:
    """Return `1 budget` or `2 budgets`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _money_facts(line: BudgetLine) -> tuple[tuple[str, str], ...]:
    """Return the amounts of a budget, or that there is none to give."""
    currency = line.billing_currency
    limit = () if line.limit_amount is None else (("Limit", amount_text(line.limit_amount, currency)),)
    if line.spent_amount is None:
        shown = clean_name(currency, _CURRENCY_LIMIT)
        return (("Spent", f"not known: its charges are not all in {shown} (see marts.budget_status)"), *limit)
    percent = None if line.limit_amount is None else percent_text(line.spent_amount, line.limit_amount)
    spent = f"at least {amount_text(line.spent_amount, currency)}" + (f" ({percent})" if percent else "")
    credit_views = (
        ("Gross, before promotional credits", line.gross_amount),
        ("Net, after promotional credits", line.net_amount),
    )
    credits = tuple((label, amount_text(amount, currency)) for label, amount in credit_views if amount is not None)
    return (("Spent", spent), *limit, *credits)


def _completeness(line: BudgetLine, as_of: date) -> str:
    """Return through when the data is whole, how far that is from today, and whether days of the period may grow."""
    if line.complete_through is None:
        return "unknown"
    day, days_before = line.complete_through.isoformat(), (as_of - line.complete_through).days
    distance = f" ({counted(days_before, 'day')} before)" if days_before > 0 else ""
    is_provisional = line.complete_through + timedelta(days=1) < line.period_end
    return f"{day}{distance}{'; later days may still grow' if is_provisional else ''}"


def _verdict(line: BudgetLine) -> tuple[str, str]:
    """Return what stands before and after the budget's name in a headline."""
    if line.spent_amount is None or line.limit_amount is None:
        return "No figure: ", " cannot be judged"
    spent = amount_text(line.spent_amount, line.billing_currency).removesuffix(
        f" {clean_name(line.billing_currency, _CURRENCY_LIMIT)}"
    )
    return f"{spent} of {amount_text(line.limit_amount, line.billing_currency)}: ", f" {standing(line)}"


def _tail(message: Message) -> str:
    """Return how much there is beside what the headline names."""
    if message.kind == "welcome":
        return f"; {len(message.lines)} watched"
    others = len(message.lines) + len(message.months) - (1 if message.lines or message.months else 0)
    others += 1 if message.waste is not None and (message.lines or message.months) else 0
    return f", and {others} more" if others else ""


def _calm_headline(message: Message) -> str:
    """Return the headline of a digest in which nothing is crossed."""
    unknown = sum(line.standing == "unknown" for line in message.lines)
    watched = f"{counted(len(message.lines), 'budget')} watched, none past a threshold"
    return f"{watched}, {unknown} not judged" if unknown else watched
