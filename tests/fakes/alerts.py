"""Budget conclusions in a real warehouse, and channels that remember what they were asked to send."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal

from alerts.deliver import Sender, Sent
from alerts.errors import DeliveryFailed
from alerts.outbox import OutboxMessage
from alerts.settings import AlertSettings, Channel, Route, SlackWebhookChannel
from sql.contract import ANALYSIS_TABLES, SETTINGS_TABLES
from sql.model import load_models
from sql.secret import SecretReference
from sql.warehouse import Warehouse
from sql.waypoints import waypoint

AS_OF = date(2026, 11, 20)
NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
SLACK = SlackWebhookChannel(id="vision-slack", url=SecretReference("env", "VISION_SLACK_URL"))
TO_SLACK = AlertSettings(channels=(SLACK,), routes=(Route(team=None, channels=("vision-slack",)),))


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetRow:
    """One row of `analysis.budget_state`: by default 150,000 of 180,000 USD, 80 % crossed on 18 November."""

    budget_id: str = "vision-monthly"
    threshold: str = "80%"
    period_start: date = date(2026, 11, 1)
    period_end: date = date(2026, 12, 1)
    team: str | None = "vision"
    basis: str = "effective"
    state: str = "crossed"
    spent_amount: Decimal | None = Decimal(150_000)
    gross_amount: Decimal | None = Decimal(150_000)
    net_amount: Decimal | None = Decimal("141250.5")
    limit_amount: Decimal = Decimal(180_000)
    threshold_amount: Decimal = Decimal(144_000)
    billing_currency: str = "USD"
    crossed_on: date | None = date(2026, 11, 18)
    complete_through: date | None = date(2026, 11, 19)
    month_status: str = "open"
    is_month_restated: bool = False

    def values(self) -> tuple[object, ...]:
        """Return the row in the order of the contract."""
        return tuple(getattr(self, name) for name in self.__slots__)


def spent(amount: int | str, *, crossed_on: date | None = None, **changes: object) -> list[BudgetRow]:
    """Return the 80 % and 100 % rows of a budget of 180,000 USD at `amount`, with `changes` to both."""
    rows = []
    for threshold, threshold_amount in (("80%", Decimal(144_000)), ("100%", Decimal(180_000))):
        is_crossed = Decimal(amount) >= threshold_amount
        row = BudgetRow(
            threshold=threshold,
            threshold_amount=threshold_amount,
            state="crossed" if is_crossed else "ok",
            spent_amount=Decimal(amount),
            gross_amount=Decimal(amount),
            net_amount=Decimal(amount),
            crossed_on=(crossed_on or date(2026, 11, 18)) if is_crossed else None,
        )
        rows.append(replace(row, **changes))  # type: ignore[arg-type]
    return rows


def make_warehouse(rows: Sequence[BudgetRow], scopes: Sequence[tuple[str, str, str]] = ()) -> Warehouse:
    """Return a warehouse in memory that concluded `rows`; `scopes` are (budget, dimension, pattern)."""
    warehouse = Warehouse.in_memory()
    for schema in ("settings", "analysis", "marts"):
        warehouse.execute(f"create schema {schema}")
    warehouse.execute(
        "create table marts.month_news (news varchar, source varchar, billing_month date, billing_currency varchar,"
        " news_cost decimal(38, 12), load_id varchar)"
    )
    for table in (*SETTINGS_TABLES, *ANALYSIS_TABLES):
        warehouse.execute(table.create_statement())
    waste = next(model for model in load_models() if model.full_name == "marts.waste_findings")
    warehouse.execute(f"create view marts.waste_findings as {waste.query.text}")
    marks = ", ".join("?" for _ in BudgetRow.__slots__)
    for row in rows:
        warehouse.execute(f"insert into analysis.budget_state values ({marks})", row.values())
    for scope in scopes:
        warehouse.execute("insert into settings.budget_scope values (?, ?, ?)", scope)
    return warehouse


class Killed(BaseException):
    """The process ends here; nothing that handles errors sees it."""


@dataclass
class FakeChannels:
    """Stands in for all channels: sends what it is given unless `answers` says otherwise."""

    answers: list[DeliveryFailed | Killed | Sent] = field(default_factory=list)
    """What the next sends do, in order; when it is used up every send succeeds."""
    received: list[OutboxMessage] = field(default_factory=list)

    def open(self, channel: Channel) -> Sender:
        """Return the sender of a channel."""

        def send(message: OutboxMessage) -> Sent:
            answer = self.answers.pop(0) if self.answers else None
            if isinstance(answer, DeliveryFailed):
                raise answer
            with waypoint("send", message.channel):
                self.received.append(message)
            if isinstance(answer, Killed):
                raise answer
            return answer or Sent(is_resent=message.is_resent)

        assert channel.id
        return send


@dataclass
class FakeTime:
    """A clock that only moves when somebody sleeps."""

    seconds: float = 0.0
    slept: list[float] = field(default_factory=list)

    def clock(self) -> float:
        """Return the time."""
        return self.seconds

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)
        self.seconds += seconds


def refuse_secret(_: Channel) -> Sender:
    """Return no sender: the channel's secret is not set."""
    raise DeliveryFailed("environment variable VISION_SLACK_URL is not set", is_retryable=True)
