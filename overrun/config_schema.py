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
TagKey = Annotated[str, _checked(values.parse_tag_key)]
AssignedText = Annotated[str, _checked(values.parse_assigned)]
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
    kind: Literal[
        "aws-export",
        "gcp-export",
        "gcp-bigquery",
        "focus-export",
        "slurm",
        "runs-files",
        "kubernetes",
        "mlflow",
        "capacity",
    ]
    """What is read: aws-export tells legacy CUR, CUR 2.0 and FOCUS apart by itself; from slurm on, of runs."""
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
    """Currency of AWS files without a manifest that carry none, and of gpu_hour_price."""
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
    """Of Google Cloud: where a service-account file stands, env:NAME or file:PATH; else application default."""
    storage_endpoint_url: Annotated[str, _checked(values.parse_endpoint)] | None = None
    """Address that BigQuery's Storage API is asked at; beside endpoint_url without it, it is not asked."""
    cluster: Label | None = None
    """Sources of runs: cluster of rows that name none."""
    run_tag: TagKey | None = None
    """Sources of runs: key of the tag whose value, on a charge, is the id of the run that it is for."""
    gpu_hour_price: Amount | None = None
    """Sources of runs: price of one accelerator for an hour, in currency, where no charge tells what a run cost."""


class MatchTable(Table):
    """Conditions of a rule; all of them must hold, and a list is one of its globs."""

    tag: dict[TagKey, Globs] | None = None
    """Tag keys, exactly spelt, and globs over the whole value."""
    account_tag: dict[TagKey, Globs] | None = None
    """Keys of tags of the account, as the export or the organisation lists them, and globs."""
    cost_category: dict[TagKey, Globs] | None = None
    """Names of AWS cost categories, and globs."""
    account: Globs | None = None
    """Globs over the AWS usage account or GCP project id."""
    account_name: Globs | None = None
    """Globs over the name of that account or project."""
    provider: Globs | None = None
    """Globs over the provider, as in ProviderName."""
    billing_account: Globs | None = None
    """Globs over the payer: AWS management account or GCP billing account."""
    service: Globs | None = None
    """Globs over the service, as in ServiceName."""
    region: Globs | None = None
    """Globs over the region, as in RegionId."""
    resource: Globs | None = None
    """Globs over the resource, as in ResourceId."""
    charge_category: Globs | None = None
    """Globs over the kind of charge: Usage, Purchase, Tax, Credit or Adjustment."""

    @model_validator(mode="after")
    def _has_condition(self) -> Self:
        if not any(getattr(self, key) for key in type(self).model_fields):
            raise ValueError("must have at least one condition, such as tag or account")
        return self


class RuleTable(Table):
    """Charges that match belong to this project, team and so on; the first match for each of these wins."""

    project: AssignedText | None = None
    """Project that is set, or the tag that it is taken from."""
    team: AssignedText | None = None
    """Team that is set, or the tag that it is taken from."""
    environment: AssignedText | None = None
    """Environment that is set, such as prod, or the tag that it is taken from."""
    workload: Annotated[str, _checked(values.parse_workload)] | None = None
    """training, inference, experiment, monitoring or platform, or the tag that says which."""
    cost_centre: AssignedText | None = None
    """Cost centre that is set, or the tag that it is taken from."""
    from_: Annotated[Month | None, Field(alias="from")] = None
    """First billing month that the rule is in force."""
    until: Month | None = None
    """First billing month that it is no longer in force."""
    match: MatchTable
    """What a charge must look like."""

    @model_validator(mode="after")
    def _sets_something(self) -> Self:
        if all(getattr(self, dimension) is None for dimension in values.DIMENSIONS):
            raise ValueError("must set at least one of project, team, environment, workload and cost_centre")
        return self


class AttributionTable(Table):
    """Who a charge belongs to: rules first, then tags, then accounts."""

    project_tags: list[Label] = ["project", "Project"]
    """Tag keys that name the project; the first that has a value wins."""
    team_tags: list[Label] = ["team"]
    """Tag keys that name the team."""
    environment_tags: list[Label] = ["environment", "env"]
    """Tag keys that name the environment."""
    workload_tags: list[Label] = ["workload"]
    """Tag keys that name the workload; only its five words count, in any case."""
    cost_centre_tags: list[Label] = ["cost_centre", "cost-centre", "cost_center", "cost-center", "CostCenter"]
    """Tag keys that name the cost centre."""
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


class PrivacyTable(Table):
    """What names of people and jobs are replaced by: hashes under a secret key."""

    key: Reference | None = None
    """Where the key stands: env:NAME or file:PATH, 16 characters or more; another key makes other hashes."""
    hash: list[Literal["user", "principal", "job-name"]] = ["user", "principal", "job-name"]
    """Kinds of names that are hashed, in tags that are known to hold them and in ids of resources."""
    tags: list[Annotated[str, _checked(values.parse_glob)]] = []
    """Globs over further tag keys, capitals aside, whose values are hashed."""

    @model_validator(mode="after")
    def _has_a_key(self) -> Self:
        if self.key is None and self.model_fields_set:
            raise ValueError("needs a key, like env:OVERRUN_PRIVACY_KEY")
        return self


class CurrencyTable(Table):
    """The one currency that costs are shown in, beside the currency that they are billed in."""

    reporting_currency: Currency | None = None
    """ISO 4217 code."""
    rates: PathText | None = None
    """CSV file of exchange rates: date, from, to, rate, source. Without it, costs in other currencies are an error."""
    rate: Literal["charge-day", "month-end", "month-average"] = "charge-day"
    """Which rate converts a cost: that of its day, the last of its billing month, or the mean of the month's."""
    carry_days: Annotated[int, Field(ge=0, le=14)] = 5
    """Days after its own that a rate goes on holding where none is published, as on weekends and holidays."""

    @model_validator(mode="after")
    def _has_a_currency(self) -> Self:
        if self.reporting_currency is None and self.model_fields_set:
            raise ValueError('needs a reporting_currency, like "EUR"')
        return self


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


class AcceleratorTable(Table):
    """What a machine type has of accelerators, where Overrun does not know it or counts otherwise."""

    instance_type: Annotated[str, Field(pattern=r"^(p|g|trn|inf|dl)[a-z0-9-]*\.[a-z0-9-]+$")]
    """Machine type of AWS in a family p, g, trn, inf or dl, like p4d.24xlarge; counts for Amazon SageMaker, too."""
    accelerator: ExactLabel
    """Kind of accelerator, like A100-40GB."""
    count: Annotated[Amount, _checked(values.parse_count)]
    """Accelerators of one machine, up to 999; with a decimal point, in quotes, like "0.125"."""


class CommitmentDiscountTable(Table):
    """What a spend commitment of Google Cloud takes off the price without it; goes before the published discounts."""

    service: Annotated[str, _checked(values.parse_glob)] = "*"
    """Glob over the name of the service on the fee."""
    sku: Annotated[str, _checked(values.parse_glob)] = "*"
    """Glob over the description of the fee's SKU, which names the term."""
    discount: Annotated[str, _checked(values.parse_discount)]
    """Share of the price without the commitment, like 25%."""
    from_: Annotated[Month | None, Field(alias="from")] = None
    """First billing month that it is in force."""
    until: Month | None = None
    """First billing month that it is no longer in force."""

    @model_validator(mode="after")
    def _says_for_what(self) -> Self:
        if "service" not in self.model_fields_set and "sku" not in self.model_fields_set:
            raise ValueError("must say what it is for: service, sku or both")
        return self


class TeamTable(Table):
    """A team and what it owns."""

    name: ExactLabel
    """Name of the team."""
    projects: list[ExactLabel] = []
    """Projects that the team owns; a project has one team."""


class OwnerTable(Table):
    """Who owns projects: team, cost centre and account of the general ledger, where rules and tags say nothing."""

    projects: Annotated[list[ExactLabel], Field(min_length=1)]
    """Projects that are owned; a project has one owner in a month."""
    team: ExactLabel | None = None
    """Team that answers for them."""
    cost_centre: ExactLabel | None = None
    """Cost centre that pays."""
    gl_account: ExactLabel | None = None
    """Account of the general ledger that the cost is booked on."""
    from_: Annotated[Month | None, Field(alias="from")] = None
    """First billing month that this holds."""
    until: Month | None = None
    """First billing month that it no longer holds."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.team is None and self.cost_centre is None and self.gl_account is None:
            raise ValueError("must say at least one of team, cost_centre and gl_account")
        return self


class SplitMatchTable(Table):
    """Conditions on costs; all of them must hold, and a list is one of its globs."""

    project: Globs | None = None
    """Globs over the project, as attributed or as an earlier split gave it."""
    team: Globs | None = None
    """Globs over the team, likewise."""
    cost_centre: Globs | None = None
    """Globs over the cost centre, likewise."""
    environment: Globs | None = None
    """Globs over the environment."""
    workload: Globs | None = None
    """Globs over the workload."""
    provider: Globs | None = None
    """Globs over the provider, as in ProviderName."""
    billing_account: Globs | None = None
    """Globs over the payer: AWS management account or GCP billing account."""
    service: Globs | None = None
    """Globs over the service, as in ServiceName."""
    service_category: Globs | None = None
    """Globs over its FOCUS category."""
    charge_category: Globs | None = None
    """Globs over the kind of charge: Usage, Purchase, Tax, Credit or Adjustment."""
    commitment_status: Literal["Unused"] | None = None
    """Unused: what nothing used of a commitment."""

    @model_validator(mode="after")
    def _has_condition(self) -> Self:
        if not any(getattr(self, key) for key in type(self).model_fields):
            raise ValueError("must have at least one condition, such as service or project")
        return self


class SplitTable(Table):
    """Costs that are shared out: by what others cost, evenly, by fixed weights or by what others used."""

    name: Label
    """Name of the split, which stands beside each cost that it gives."""
    share: SplitMatchTable
    """Which costs are shared."""
    by: Literal["cost", "even", "weights", "usage"] = "cost"
    """What shares are in proportion to."""
    of: SplitMatchTable | None = None
    """For by = "cost": which costs of the recipients count; without it, all that no split takes."""
    each: Literal["project", "team"] = "project"
    """What costs are given to; the project gives its team and cost centre, too."""
    to: Globs | None = None
    """Globs over the recipients; without it, all with costs of their own in the month."""
    weights: Annotated[dict[ExactLabel, Amount], Field(min_length=1)] | None = None
    """For by = "weights": what each recipient weighs, in quotes."""
    usage: PathText | None = None
    """For by = "usage": CSV file with date, project (or team) and quantity."""
    over: Literal["month", "day"] = "month"
    """Whether shares are those of the billing month or of each day; for by = "cost" and "usage"."""
    from_: Annotated[Month | None, Field(alias="from")] = None
    """First billing month that the split is in force."""
    until: Month | None = None
    """First billing month that it is no longer in force."""


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
    include: list[Literal["credits", "tax", "refunds", "shared"]] = []
    """What counts besides usage and purchases: promotional credits, tax, purchase refunds, costs that splits give."""
    limit: LimitTable
    """What may be spent in one period."""
    scope: ScopeTable | None = None
    """What is covered; without it, everything."""
    period: PeriodTable = PeriodTable()
    """How often the budget starts anew."""
    thresholds: Annotated[list[ThresholdText], Field(min_length=1)] = ["80%", "100%"]
    """Shares of the limit, or amounts in its currency, that are told once each when spend reaches them."""


class WasteCheckTable(Table):
    """A check for waste: what it looks at, and whether at all."""

    enabled: bool = True
    """Whether the check is made."""
    window_days: Annotated[int, Field(ge=1, le=180)] | None = None
    """Complete days that it looks at."""
    minimum_days: Annotated[int, Field(ge=1, le=180)] | None = None
    """Days of them on which a resource must be charged before anything is claimed."""


class SavingCheckTable(WasteCheckTable):
    """A check whose saving is a part of the cost that no bill says."""

    saving_percent: Annotated[int, Field(ge=0, le=100)] | None = None
    """Part of the cost that is saved; 0 claims nothing."""


class LimitedCheckTable(WasteCheckTable):
    """A check with a threshold of its own."""

    limit: Annotated[int, Field(ge=0)] | None = None
    """The check's own threshold."""


class LimitedSavingCheckTable(SavingCheckTable):
    """A check with a threshold of its own, whose saving is a part of the cost that no bill says."""

    limit: Annotated[int, Field(ge=0)] | None = None
    """The check's own threshold."""


class WasteTable(Table):
    """What is looked for that costs money for nothing, by check, and when it is told."""

    minimum_monthly: Amount = "20"
    """Waste below this a month never comes in a message of its own, in the currency that it is billed in."""
    work_from: Annotated[int, Field(ge=0, le=23)] = 8
    """First working hour, UTC, Monday to Friday."""
    work_until: Annotated[int, Field(ge=1, le=24)] = 18
    """First hour after work, UTC."""
    idle_address: WasteCheckTable = WasteCheckTable()
    """Public address that nothing uses: 7 days, 7 of them charged."""
    idle_nat: WasteCheckTable = WasteCheckTable()
    """NAT gateway without traffic: 14 days, 14 of them charged."""
    idle_load_balancer: WasteCheckTable = WasteCheckTable()
    """Load balancer without traffic: 7 days, 7 of them charged."""
    stopped_machine_disk: WasteCheckTable = WasteCheckTable()
    """Disk of a stopped machine: 30 days, 30 of them charged."""
    old_snapshot: WasteCheckTable = WasteCheckTable()
    """Old snapshot: 90 days, 85 of them charged."""
    gp2_volume: LimitedSavingCheckTable = LimitedSavingCheckTable()
    """Volume of type gp2 instead of gp3; limit: gigabytes up to which gp3 is known to cost less, default 1000."""
    provisioned_iops: LimitedCheckTable = LimitedCheckTable()
    """Provisioned operations that gp3 has for nothing; limit: operations a second, default 3000."""
    previous_generation: WasteCheckTable = WasteCheckTable()
    """Machine of an old family: 7 days, 7 of them charged."""
    arm_twin: WasteCheckTable = WasteCheckTable()
    """Machine that has a cheaper twin with ARM processors: 7 days, 7 of them charged."""
    unused_commitment: WasteCheckTable = WasteCheckTable()
    """Commitment that is not used up: 30 days, 7 of them charged."""
    uncovered_on_demand: SavingCheckTable = SavingCheckTable()
    """Steady usage on demand without a commitment: 30 days, 25 of them charged, 0 percent saved."""
    idle_reservation: WasteCheckTable = WasteCheckTable()
    """Reserved capacity that nothing takes: 7 days, 7 of them charged."""
    log_growth: WasteCheckTable = WasteCheckTable()
    """Logs that are never deleted: 90 days, 85 of them charged."""
    idle_bucket: LimitedSavingCheckTable = LimitedSavingCheckTable()
    """Bucket that nobody asks; limit: requests a day that count as none, default 10."""
    idle_endpoint: WasteCheckTable = WasteCheckTable()
    """Endpoint of a model without traffic: 14 days, 14 of them charged."""
    always_on_notebook: LimitedCheckTable = LimitedCheckTable()
    """Notebook that runs day and night; limit: hours of a day that count as all of it, default 20."""
    extended_support: WasteCheckTable = WasteCheckTable()
    """Version under extended support: 7 days, 2 of them charged."""
    short_lived_machine: LimitedSavingCheckTable = LimitedSavingCheckTable()
    """Short-lived machines on demand; limit: hours below which a machine is short-lived, default 6."""
    cross_zone_traffic: LimitedSavingCheckTable = LimitedSavingCheckTable()
    """Traffic between zones; limit: percent of the project's cost that is too much, default 10."""
    used_address: SavingCheckTable = SavingCheckTable()
    """Public addresses in use: 7 days, 7 of them charged, 0 percent saved."""
    gpu_without_metrics: WasteCheckTable = WasteCheckTable()
    """GPUs of which no metric says whether they work: 7 days, 1 of them charged."""


class Document(Table):
    """Configuration of Overrun."""

    warehouse: WarehouseTable = WarehouseTable()
    report: ReportTable = ReportTable()
    publish: list[PublishTable] = []
    source: list[SourceTable] = []
    attribution: AttributionTable = AttributionTable()
    prices: PricesTable = PricesTable()
    privacy: PrivacyTable = PrivacyTable()
    currency: CurrencyTable = CurrencyTable()
    waste: WasteTable = WasteTable()
    prepaid_capacity: list[PrepaidCapacityTable] = []
    accelerator: list[AcceleratorTable] = []
    commitment_discount: list[CommitmentDiscountTable] = []
    team: list[TeamTable] = []
    owner: list[OwnerTable] = []
    split: list[SplitTable] = []
    channel: list[ChannelTable] = []
    route: list[RouteTable] = []
    budget: list[BudgetTable] = []


def json_schema() -> dict[str, object]:
    """Return the JSON Schema of `overrun.toml`, for editors."""
    schema = Document.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "overrun.toml"}
