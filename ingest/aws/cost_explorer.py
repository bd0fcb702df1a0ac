"""What AWS Cost Explorer says a month cost, by account and record type: GetCostAndUsage, asked once by `reconcile`.

Source: AWS Billing and Cost Management API Reference, GetCostAndUsage. `End` is exclusive, must be later than `Start`,
and must lie neither past the first day of the next month nor past tomorrow. Cost Explorer keeps the current month and
the 13 before it, 38 where that is enabled and only in whole months. Each page of an answer costs 0.01 USD.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from ingest.aws.errors import Request, aws_errors
from ingest.errors import SourceUnreadable
from ingest.source import SourceSettings
from sql.text import shortened, visible

if TYPE_CHECKING:
    from mypy_boto3_ce import CostExplorerClient

METRICS = ("UnblendedCost", "NetUnblendedCost", "AmortizedCost", "NetAmortizedCost")
PERMISSION = "ce:GetCostAndUsage"
_ABOUT_THE_QUESTION = {"ValidationException", "DataUnavailableException", "BillExpirationException"}
_NOT_ENABLED = "not enabled for cost explorer"
_TEXT_LIMIT = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCost:
    """One amount of an answer, in `currency`; `account` and `record_type` as Cost Explorer names them."""

    account: str
    record_type: str
    metric: str
    currency: str
    amount: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class CostExplorerAnswer:
    """One month as Cost Explorer has it."""

    costs: tuple[RecordedCost, ...]
    is_estimated: bool
    """Whether AWS may still change the month."""
    pages: int
    """How many were paid for."""


def cost_explorer_window(month: date, as_of: date) -> tuple[date, date]:
    """Return (Start, End) of the part of a month that Cost Explorer can be asked for on the day `as_of`, half-open.

    `month` is its first day. A month before that of `as_of` is whole, which is also the only form in which Cost
    Explorer answers for a month more than 13 before it. Raises ValueError for a month that has not begun.
    """
    if month.day != 1:
        raise ValueError(f"{month} is not the first day of a month")
    if month > as_of:
        raise ValueError(f"{month:%Y-%m} has not begun on {as_of}")
    next_month = date(month.year + month.month // 12, month.month % 12 + 1, 1)
    return month, min(next_month, as_of + timedelta(days=1))


def ask_month(settings: SourceSettings, month: date, as_of: date) -> CostExplorerAnswer:
    """Return what Cost Explorer has of `month`, all pages, asked with a source's credentials.

    Raises SourceUnreadable where it cannot be asked, refuses, or gives what is no answer.
    """
    from ingest.aws.session import client

    request = Request(access=settings.access, permission=PERMISSION, resource="*")
    try:
        with aws_errors(request), _refusals(month):
            return _read_pages(_pages(client(settings, "ce"), *cost_explorer_window(month, as_of)))
    except SourceUnreadable as error:
        raise error.located(source=settings.name, billing_month=month) from error.__cause__


@contextmanager
def _refusals(month: date) -> Iterator[None]:
    """Report what Cost Explorer says about the question itself in its own words; nothing else is repeated of it."""
    from botocore.exceptions import ClientError

    try:
        yield
    except ClientError as error:
        answer = error.response.get("Error", {})
        text = shortened(visible(str(answer.get("Message", ""))), _TEXT_LIMIT)
        if answer.get("Code") in _ABOUT_THE_QUESTION:
            raise SourceUnreadable(
                f"Cost Explorer refuses: {text}",
                hint=f"{month:%Y-%m} may be older than what it keeps: the current month and the 13 before it, or 38"
                " months once that is switched on in its preferences",
            ) from error
        if _NOT_ENABLED in text.lower():
            raise SourceUnreadable(
                "Cost Explorer is not switched on for these credentials",
                hint="open it once in the console of the management account, let its linked accounts use it, and ask"
                " again a day later",
            ) from error
        raise


def _read_pages(pages: Iterable[Mapping[str, Any]]) -> CostExplorerAnswer:
    """Return what the pages say; raises SourceUnreadable where one has another form than is documented."""
    costs: list[RecordedCost] = []
    count, is_estimated = 0, False
    try:
        for page in pages:
            count += 1
            for period in page["ResultsByTime"]:
                is_estimated = is_estimated or bool(period.get("Estimated"))
                costs += [cost for group in period["Groups"] for cost in _costs(group)]
    except (KeyError, ValueError) as error:
        raise SourceUnreadable(
            "Cost Explorer's answer has another form than is documented", hint="check `endpoint_url` of the [[source]]"
        ) from error
    return CostExplorerAnswer(costs=tuple(costs), is_estimated=is_estimated, pages=count)


def _pages(client: CostExplorerClient, start: date, end: date) -> Iterator[Mapping[str, Any]]:
    """Yield each page; boto3 has no paginator for this call.

    A token that comes twice would be asked, and paid, for ever.
    """
    token: str | None = None
    seen: set[str] = set()
    while True:
        more: Any = {} if token is None else {"NextPageToken": token}
        page = client.get_cost_and_usage(
            TimePeriod={"Start": start.isoformat(), "End": end.isoformat()},
            Granularity="MONTHLY",
            Metrics=list(METRICS),
            GroupBy=[{"Type": "DIMENSION", "Key": "LINKED_ACCOUNT"}, {"Type": "DIMENSION", "Key": "RECORD_TYPE"}],
            **more,
        )
        yield page
        token = page.get("NextPageToken")
        if not token:
            return
        if token in seen:
            raise SourceUnreadable("Cost Explorer gives the same page again and again", hint="try again later")
        seen.add(token)


def _costs(group: Mapping[str, Any]) -> Iterator[RecordedCost]:
    """Yield the amounts of one group."""
    account, record_type = group["Keys"]
    for metric in METRICS:
        value = group["Metrics"].get(metric)
        if value is not None:
            yield RecordedCost(
                account=account,
                record_type=record_type,
                metric=metric,
                currency=value.get("Unit", ""),
                amount=_amount(value.get("Amount", "")),
            )


def _amount(text: str) -> Decimal:
    """Return the number that `text` is; raises SourceUnreadable where it is none."""
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite():
        raise SourceUnreadable(
            f"Cost Explorer gives {text!r} where an amount belongs", hint="try again later, or look in the console"
        )
    return amount
