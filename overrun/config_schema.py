"""The shape of `overrun.toml`: one model per table, unknown keys refused.

Only `overrun.config` and the JSON Schema read these models; everything else reads the frozen `Config`. Values stay
text here, checked by the parsers of `overrun.config_values`; `overrun.config_build` turns them into what they mean.
The string under each field is its description in the JSON Schema that editors show.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from overrun import config_values as values


def _checked(parse: Callable[[str], object]) -> AfterValidator:
    """Return a validator that runs `parse` and keeps the text."""

    def check(text: str) -> str:
        parse(text)
        return text

    return AfterValidator(check)


def _as_amount(value: object) -> str:
    """Take an amount as text or as an integer; a float has already lost what was written."""
    is_inexact = isinstance(value, float)
    if is_inexact:
        raise ValueError("must be in quotes, since a number with a decimal point is not kept exactly")
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    values.parse_amount(text)
    return text


def _as_globs(value: object) -> list[str]:
    """Take one glob or a list of them."""
    globs = [value] if isinstance(value, str) else value
    if not isinstance(globs, list) or not globs or not all(isinstance(glob, str) for glob in globs):
        raise ValueError('must be a text or a list of texts, like "vision*" or ["vision", "detector"]')
    for glob in globs:
        values.parse_glob(glob)
    return globs


def _as_tables(value: object) -> list[str]:
    """Take one table or a list of them."""
    tables = [value] if isinstance(value, str) else value
    if not isinstance(tables, list) or not tables or not all(isinstance(table, str) for table in tables):
        raise ValueError("must be project.dataset.table, or a list of such names")
    for table in tables:
        values.parse_bigquery_table(table)
    if len(set(tables)) < len(tables):
        raise ValueError("names a table twice, whose costs would then count twice")
    return tables


Name = Annotated[str, _checked(values.parse_name)]
Label = Annotated[str, _checked(values.parse_label)]
ExactLabel = Annotated[str, _checked(values.parse_exact_label)]
Month = Annotated[str, _checked(values.parse_month)]
PathText = Annotated[str, _checked(values.parse_path)]
Currency = Annotated[str, _checked(values.parse_currency)]
Reference = Annotated[str, _checked(values.parse_reference)]
Address = Annotated[str, _checked(values.parse_address)]
Instant = Annotated[str, _checked(values.parse_instant)]
ThresholdText = Annotated[str, _checked(values.check_threshold)]
Amount = Annotated[str, BeforeValidator(_as_amount), WithJsonSchema({"type": ["string", "integer"]})]
Globs = Annotated[
    list[str],
    BeforeValidator(_as_globs),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]


class Table(BaseModel):
    """What all tables share: no unknown keys, no conversions, no values in error texts."""

    model_config = ConfigDict(
        extra="forbid", strict=True, hide_input_in_errors=True, use_attribute_docstrings=True, frozen=True
    )


class WarehouseTable(Table):
    """Where data is kept and how much of the machine may be used."""

    path: PathText = "warehouse.duckdb"
    """The working database; only Overrun opens it."""
    publish: PathText = "finance.duckdb"
    """The copy for people, replaced each night."""
    landing: PathText = "landing"
    """Folder of delivered files, kept unchanged."""
    keep_landed: Literal["open-months", "newest", "all"] = "open-months"
    """Versions of delivered files that are kept; open-months: all of a month until it is settled, then the newest."""
    state: PathText = "state.sqlite"
    """Runs, sent messages and human decisions."""
    memory_limit: Annotated[str, _checked(values.parse_memory)] = "1GB"
    """Memory that DuckDB may use."""
    threads: Annotated[int, Field(ge=1, le=1024)] | None = None
    """Threads that DuckDB may use; without it, one per processor."""
    temp_directory: PathText | None = None
    """Where DuckDB puts what does not fit in memory; without it, beside the warehouse."""
    storage_version: Annotated[str, _checked(values.parse_storage_version)] = "v1.2.0"
    """Oldest DuckDB version that can open the files."""


class ReportTable(Table):
    """Static pages for people."""

    path: PathText = "site"
    """Folder of the pages."""


class PublishTable(Table):
    """A further copy for people that holds only what belongs to the named teams."""

    path: PathText
    """File of the copy."""
    team: Annotated[list[ExactLabel], Field(min_length=1)]
    """Teams whose charges the copy holds."""


TableNames = Annotated[
    list[str],
    BeforeValidator(_as_tables),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]


class SourceTable(Table):
    """One place that exports are read from."""

    name: Name
    """Name of the source, in tables, messages and folders; keep it for good."""
    kind: Literal["aws-export", "gcp-export", "gcp-bigquery", "focus-export"]
    """What is read: aws-export tells legacy CUR, CUR 2.0 and FOCUS apart by itself."""
    location: Annotated[str, _checked(values.parse_location)] | None = None
    """Needed but for gcp-bigquery: a folder or one file, on disk, as s3://BUCKET/PREFIX or as gs://BUCKET/PREFIX."""
    profile: Label | None = None
    """Profile of the AWS configuration files that AWS is asked with."""
    role_arn: Annotated[str, _checked(values.parse_role_arn)] | None = None
    """Role that is assumed to ask AWS."""
    external_id: Annotated[str, _checked(values.parse_external_id)] | None = None
    """External id that the role's trust policy asks for."""
    region: Annotated[str, _checked(values.parse_region)] | None = None
    """Region of the bucket; without it, that of the AWS configuration."""
    endpoint_url: Annotated[str, _checked(values.parse_endpoint)] | None = None
    """Address that AWS, Cloud Storage or BigQuery is asked at, as a private one; without it, the provider's own."""
    period: Annotated[str, _checked(values.parse_period)] | None = None
    """For files without a manifest: the month they bill, or from-rows (default of gcp-export and focus-export)."""
    currency: Currency | None = None
    """Currency of AWS files without a manifest that carry none."""
    settle_days: Annotated[int, Field(ge=0, le=60)] | None = None
    """Days after which a day's usage counts as complete; default 1 for aws-export, else 2."""
    quiet_days: Annotated[int, Field(ge=1, le=90)] | None = None
    """Sources of GCP: days without a change, from the 5th of the next month on, until a month is final; default 7."""
    replaces: Name | None = None
    """Source whose months this one takes over."""
    was: Name | None = None
    """Earlier name of this source."""
    from_: Annotated[Month | None, Field(alias="from")] = None
    """First month that belongs to this source."""
    until: Month | None = None
    """First month that no longer belongs to this source."""
    amortise: bool = True
    """Whether to spread the fees of commitments over the usage that they cover; gcp-export only."""
    organizations: bool = False
    """Whether to ask AWS Organizations for names and tags of accounts each night; aws-export only."""
    projects: bool = False
    """Whether to ask Cloud Billing for the projects of the loaded billing accounts each night; kinds of GCP only."""
    billing_endpoint: Annotated[str, _checked(values.parse_loopback)] | None = None
    """HOST:PORT on this machine that Cloud Billing is asked at, without credentials; for tests."""
    table: TableNames | None = None
    """For gcp-bigquery: the export's table as project.dataset.table, or a list of those of several accounts."""
    job_project: Annotated[str, _checked(values.parse_gcp_project)] | None = None
    """Project that pays for queries; without it, that of the first table."""
    lookback_months: Annotated[int, Field(ge=0, le=120)] | None = None
    """Invoice months before the current one that are looked at each night; default 2."""
    max_bytes_billed: Annotated[str, _checked(values.parse_bytes)] | None = None
    """What one query may bill at most; default 100 GB."""
    credentials: Reference | None = None
    """Where a service-account file stands, env:NAME or file:PATH; without it, application default credentials."""
    storage_endpoint_url: Annotated[str, _checked(values.parse_endpoint)] | None = None
    """Address that BigQuery's Storage API is asked at; beside endpoint_url without it, it is not asked."""


class MatchTable(Table):
    """Conditions of a rule; all of them must hold, and a list is one of its globs."""

    tag: dict[Label, Globs] | None = None
    """Tag keys, exactly spelt, and globs over the whole value."""
    account: Globs | None = None
    """Globs over the AWS usage account or GCP project id."""

    @model_validator(mode="after")
    def _has_condition(self) -> Self:
        if not self.tag and self.account is None:
            raise ValueError("must have at least one condition: tag or account")
        return self


class RuleTable(Table):
    """Charges that match belong to this project, team or both; the first match for each wins."""

    project: ExactLabel | None = None
    """Project that is set."""
    team: ExactLabel | None = None
    """Team that is set."""
    match: MatchTable
    """What a charge must look like."""

    @model_validator(mode="after")
    def _sets_something(self) -> Self:
        if self.project is None and self.team is None:
            raise ValueError("must set at least one of project and team")
        return self


class AttributionTable(Table):
    """Who a charge belongs to: rules first, then tags, then accounts."""

    project_tags: list[Label] = ["project", "Project"]
    """Tag keys that name the project; the first that has a value wins."""
    team_tags: list[Label] = ["team"]
    """Tag keys that name the team."""
    accounts: dict[Label, ExactLabel] = {}
    """Accounts that belong to one project as a whole."""
    rule: list[RuleTable] = []
    """Rules, in order of preference."""


class PricesTable(Table):
    """Public prices from the providers' catalogues, asked for once a day."""

    gcp: bool = False
    """Whether to ask Google's Cloud Billing catalogue for prices of GPUs, TPUs, processors and memory."""
    gcp_services: Annotated[
        list[Annotated[str, _checked(values.parse_service_id)]], Field(min_length=1, max_length=20)
    ] = ["6F81-5844-456A", "C7E2-9256-1C43"]
    """Ids of the services that are asked for; the default is Compute Engine and Vertex AI."""
    currency: Currency = "USD"
    """Currency that prices are asked for in."""
    gcp_endpoint: Annotated[str, _checked(values.parse_loopback)] | None = None
    """HOST:PORT on this machine that the catalogue is asked at, without credentials; for tests."""


class PrepaidCapacityTable(Table):
    """Capacity that is paid before it is used: its cost is spread over the time that it is reserved for."""

    usage_type: Annotated[str, _checked(values.parse_glob)] = "*CapacityBlockFee*"
    """Glob over the usage type of the fee."""
    resource: Annotated[str, _checked(values.parse_glob)] | None = None
    """Glob over the resource id of the fee; without it, any."""
    from_: Annotated[Instant, Field(alias="from")]
    """First instant that is reserved, with its offset."""
    until: Instant
    """First instant after the reserved time."""


class TeamTable(Table):
    """A team and what it owns."""

    name: ExactLabel
    """Name of the team."""
    projects: list[ExactLabel] = []
    """Projects that the team owns; a project has one team."""


class SlackWebhookTable(Table):
    """An incoming webhook: one fixed Slack channel."""

    id: Name
    """Name of the channel, for routes."""
    kind: Literal["slack-webhook"]
    """How messages are sent."""
    url: Reference
    """Where the webhook's address stands: env:NAME or file:PATH."""


class EmailTable(Table):
    """An SMTP relay and who receives."""

    id: Name
    """Name of the channel, for routes."""
    kind: Literal["email"]
    """How messages are sent."""
    smtp_host: Annotated[str, _checked(values.parse_host)]
    """Mail relay."""
    smtp_port: Annotated[int, Field(ge=1, le=65535)] = 587
    """Port of the relay: 587 for starttls, 465 for ssl."""
    security: Literal["starttls", "ssl", "none"] = "starttls"
    """How the connection is encrypted; none is for a relay on this machine."""
    username: Annotated[str, Field(min_length=1)] | None = None
    """Account on the relay, where it asks for one."""
    password: Reference | None = None
    """Where the account's password stands: env:NAME or file:PATH."""
    from_: Annotated[Address, Field(alias="from")]
    """Sender."""
    to: Annotated[list[Address], Field(min_length=1)]
    """Recipients, one address per entry."""


ChannelTable = Annotated[SlackWebhookTable | EmailTable, Field(discriminator="kind")]


class RouteTable(Table):
    """Where a team's messages go; a route without team takes what no other route takes."""

    team: ExactLabel | None = None
    """Team; leave it out for the default route."""
    channels: Annotated[list[Name], Field(min_length=1)]
    """Ids of channels."""


class LimitTable(Table):
    """What may be spent in one period."""

    amount: Amount
    """Decimal number in quotes, above zero."""
    currency: Currency
    """ISO 4217 code."""


class ScopeTable(Table):
    """What a budget covers: both must hold, and a list is one of its globs."""

    project: Globs | None = None
    """Globs over the project."""
    team: Globs | None = None
    """Globs over the team."""


class PeriodTable(Table):
    """How often a budget starts anew."""

    every: Literal["month"] = "month"
    """Calendar month, UTC."""


class BudgetTable(Table):
    """A limit on spend, and the thresholds that are told."""

    id: Name
    """Name of the budget; keep it for good, since it is how a message is sent only once."""
    measure: Literal["cost"] = "cost"
    """What is measured."""
    basis: Literal["effective", "billed", "list"] = "effective"
    """Which cost: commitments spread over usage, as billed, or public prices."""
    include: list[Literal["credits", "tax", "refunds"]] = []
    """What counts besides usage and purchases: promotional credits, tax, purchase refunds."""
    limit: LimitTable
    """What may be spent in one period."""
    scope: ScopeTable | None = None
    """What is covered; without it, everything."""
    period: PeriodTable = PeriodTable()
    """How often the budget starts anew."""
    thresholds: Annotated[list[ThresholdText], Field(min_length=1)] = ["80%", "100%"]
    """Shares of the limit, or amounts in its currency, that are told once each when spend reaches them."""


class Document(Table):
    """Configuration of Overrun."""

    warehouse: WarehouseTable = WarehouseTable()
    report: ReportTable = ReportTable()
    publish: list[PublishTable] = []
    source: list[SourceTable] = []
    attribution: AttributionTable = AttributionTable()
    prices: PricesTable = PricesTable()
    prepaid_capacity: list[PrepaidCapacityTable] = []
    team: list[TeamTable] = []
    channel: list[ChannelTable] = []
    route: list[RouteTable] = []
    budget: list[BudgetTable] = []


def json_schema() -> dict[str, object]:
    """Return the JSON Schema of `overrun.toml`, for editors."""
    schema = Document.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "overrun.toml"}
