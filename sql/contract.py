"""Names and types of every table that Python code writes or hands to another package.

`focus.cost_and_usage` has the 57 columns of FOCUS 1.2 (https://focus.finops.org, Cost and Usage), exactly spelt, and
`x_` columns of our own. Money is DECIMAL(38,12), quantities are DOUBLE, instants are TIMESTAMP in UTC without zone.

Tables in `settings` mirror the configuration, are replaced whole when it changes, and are what models read; tables in
`ops` are the ledger. People query `focus` and `marts`.
"""

from __future__ import annotations

from dataclasses import dataclass

MONEY = "DECIMAL(38,12)"
SCHEMA_VERSION = 2
"""Raised when parts or ledger change shape, or when Python code changes what is loaded from a file: the next night
then rebuilds the warehouse from landed files. Changed staging SQL is noticed without it."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its exact name, DuckDB type and the sentence that COMMENT ON shows to people."""

    name: str
    type: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table that Python code writes."""

    schema: str
    name: str
    description: str
    columns: tuple[Column, ...]

    @property
    def full_name(self) -> str:
        """Return `schema.name`."""
        return f"{self.schema}.{self.name}"

    def create_statement(self) -> str:
        """Return the `create table if not exists` statement."""
        body = ", ".join(f'"{column.name}" {column.type}' for column in self.columns)
        return f"create table if not exists {self.full_name} ({body})"


FOCUS_COLUMNS: tuple[Column, ...] = (
    Column("AvailabilityZone", "VARCHAR", "Zone within the region, as the provider names it"),
    Column("BilledCost", MONEY, "What the provider bills for this charge, in BillingCurrency; ties to the invoice"),
    Column("BillingAccountId", "VARCHAR", "Payer: AWS management account, GCP billing account"),
    Column("BillingAccountName", "VARCHAR", "Name of the payer, where the export carries it"),
    Column("BillingAccountType", "VARCHAR", "What kind of thing the billing account is"),
    Column("BillingCurrency", "VARCHAR", "ISO 4217 code of every cost on this row"),
    Column("BillingPeriodEnd", "TIMESTAMP", "First instant after the invoice month, 00:00Z"),
    Column("BillingPeriodStart", "TIMESTAMP", "First instant of the invoice month, 00:00Z"),
    Column("CapacityReservationId", "VARCHAR", "Capacity reservation that this charge used or left unused"),
    Column("CapacityReservationStatus", "VARCHAR", "Used or Unused, where CapacityReservationId is set"),
    Column("ChargeCategory", "VARCHAR", "Usage, Purchase, Tax, Credit or Adjustment"),
    Column("ChargeClass", "VARCHAR", "Correction where the row corrects an already invoiced month, else null"),
    Column("ChargeDescription", "VARCHAR", "The provider's own words for the charge"),
    Column("ChargeFrequency", "VARCHAR", "One-Time, Recurring or Usage-Based"),
    Column("ChargePeriodEnd", "TIMESTAMP", "First instant after the time charged for, UTC"),
    Column("ChargePeriodStart", "TIMESTAMP", "First instant of the time charged for, UTC"),
    Column("CommitmentDiscountCategory", "VARCHAR", "Spend or Usage: what the commitment is measured in"),
    Column("CommitmentDiscountId", "VARCHAR", "Savings Plan, reservation or committed use discount"),
    Column("CommitmentDiscountName", "VARCHAR", "Name of the commitment, where one can be given"),
    Column("CommitmentDiscountQuantity", "DOUBLE", "Amount of the commitment bought or used by this row"),
    Column("CommitmentDiscountStatus", "VARCHAR", "Used or Unused, on usage under a commitment"),
    Column("CommitmentDiscountType", "VARCHAR", "The provider's name for this kind of commitment"),
    Column("CommitmentDiscountUnit", "VARCHAR", "Unit of CommitmentDiscountQuantity"),
    Column("ConsumedQuantity", "DOUBLE", "Amount consumed, in ConsumedUnit; usage rows only"),
    Column("ConsumedUnit", "VARCHAR", "Unit of ConsumedQuantity"),
    Column("ContractedCost", MONEY, "Cost at negotiated prices, before commitments"),
    Column("ContractedUnitPrice", MONEY, "Negotiated price of one PricingUnit"),
    Column("EffectiveCost", MONEY, "Cost with commitments spread over the usage that they cover"),
    Column("InvoiceId", "VARCHAR", "Invoice that carries this charge; null until it is issued"),
    Column("InvoiceIssuerName", "VARCHAR", "Who sends the invoice"),
    Column("ListCost", MONEY, "Cost at public prices"),
    Column("ListUnitPrice", MONEY, "Public price of one PricingUnit"),
    Column("PricingCategory", "VARCHAR", "Standard, Dynamic, Committed or Other"),
    Column("PricingCurrency", "VARCHAR", "Currency that prices are set in"),
    Column("PricingCurrencyContractedUnitPrice", MONEY, "Negotiated unit price in PricingCurrency"),
    Column("PricingCurrencyEffectiveCost", MONEY, "EffectiveCost in PricingCurrency"),
    Column("PricingCurrencyListUnitPrice", MONEY, "Public unit price in PricingCurrency"),
    Column("PricingQuantity", "DOUBLE", "Amount that the price was applied to, in PricingUnit"),
    Column("PricingUnit", "VARCHAR", "Unit that the price is for"),
    Column("ProviderName", "VARCHAR", "Who made the service available for purchase"),
    Column("PublisherName", "VARCHAR", "Who produced the service"),
    Column("RegionId", "VARCHAR", "Region code"),
    Column("RegionName", "VARCHAR", "Region name; null exactly where RegionId is null"),
    Column("ResourceId", "VARCHAR", "The resource charged for"),
    Column("ResourceName", "VARCHAR", "Display name of the resource"),
    Column("ResourceType", "VARCHAR", "Kind of resource"),
    Column("ServiceCategory", "VARCHAR", "FOCUS category of the service"),
    Column("ServiceName", "VARCHAR", "The provider's name of the service"),
    Column("ServiceSubcategory", "VARCHAR", "FOCUS subcategory of the service"),
    Column("SkuId", "VARCHAR", "What was sold"),
    Column("SkuMeter", "VARCHAR", "What is metered"),
    Column("SkuPriceDetails", "VARCHAR", "Properties of the SKU as JSON text"),
    Column("SkuPriceId", "VARCHAR", "The price of the SKU that was applied"),
    Column("SubAccountId", "VARCHAR", "AWS usage account, GCP project"),
    Column("SubAccountName", "VARCHAR", "Name of the sub-account"),
    Column("SubAccountType", "VARCHAR", "What kind of thing the sub-account is"),
    Column("Tags", "VARCHAR", "Tags as JSON text, keys in their exact case; models join core.tag_set instead"),
)

EXTENSION_COLUMNS: tuple[Column, ...] = (
    Column("x_Source", "VARCHAR", "The [[source]] of the configuration that delivered this row"),
    Column("x_LoadId", "VARCHAR", "Load that wrote this row: a hash of source, month and version"),
    Column(
        "x_RowNumber",
        "BIGINT",
        "Position in the delivery, from 1; negative on rows that the load adds; with x_LoadId the key",
    ),
    Column("x_BillingMonth", "DATE", "First day of the invoice month"),
    Column("x_TagSetId", "UBIGINT", "Id of this row's tags and cost categories in core.tag_set; null without any"),
    Column("x_LineItemType", "VARCHAR", "AWS line item type"),
    Column("x_CostType", "VARCHAR", "GCP cost type"),
    Column("x_Operation", "VARCHAR", "AWS operation"),
    Column("x_UsageType", "VARCHAR", "AWS usage type"),
    Column("x_ServiceCode", "VARCHAR", "AWS product code, GCP service id"),
    Column("x_InvoicingEntity", "VARCHAR", "Legal entity that invoices"),
    Column("x_UnblendedCost", MONEY, "Cost as delivered: AWS unblended cost, GCP cost before credits"),
    Column("x_NetUnblendedCost", MONEY, "AWS net unblended cost as delivered"),
    Column("x_PromotionalCredit", MONEY, "Part of BilledCost that is a promotional credit; zero or negative"),
    Column("x_CreditKind", "VARCHAR", "promotional, negotiated, refund or purchase refund, on such rows; else null"),
    Column("x_InvoicePeriodStart", "TIMESTAMP", "First instant of the provider's own invoice period, UTC"),
    Column("x_InvoicePeriodEnd", "TIMESTAMP", "First instant after the provider's own invoice period, UTC"),
    Column("x_Credits", "VARCHAR", "GCP credits as delivered, JSON text"),
    Column("x_Discounts", "VARCHAR", "AWS discounts as delivered, JSON text"),
    Column("x_CostCategories", "VARCHAR", "AWS cost categories, JSON text"),
    Column("x_ProjectNumber", "VARCHAR", "GCP project number"),
    Column("x_ProjectAncestors", "VARCHAR", "GCP folders and organisation above the project"),
    Column("x_ExportTime", "TIMESTAMP", "When the provider wrote this row, UTC"),
    Column("x_EffectiveCostProvider", MONEY, "EffectiveCost as the provider has it: GCP and FOCUS exports"),
    Column(
        "x_UnusedKnown",
        "BOOLEAN",
        "GCP: whether what is unused of a fee that is spread here is known",
    ),
    Column("x_InheritedTags", "VARCHAR", "GCP: tag keys of this row that come from its project or above it, JSON list"),
    Column("x_ProviderNameDelivered", "VARCHAR", "ProviderName of a FOCUS export before normalisation"),
    Column("x_InvoiceIssuerNameDelivered", "VARCHAR", "InvoiceIssuerName of a FOCUS export before normalisation"),
)

STORED_COLUMNS = {
    "aws_cur": (
        Column("unused_cost", MONEY, "What no usage took of the commitment that a recurring fee is for"),
        Column("unused_quantity", "DOUBLE", "The same in the commitment's unit"),
        Column("commitment_end", "TIMESTAMP", "First instant of the month that a reservation's fee is not for"),
        Column("amortised_upfront_cost", MONEY, "Part of what was paid upfront that falls to the month"),
    ),
    "gcp_export": (
        Column("CommitmentDiscountId", "VARCHAR", "Commitment, as the view gives it"),
        Column("CommitmentDiscountQuantity", "DOUBLE", "Amount of it, as the view gives it"),
        Column("x_EffectiveCostProvider", MONEY, "As the view gives it"),
        Column("x_UnusedKnown", "BOOLEAN", "As the view gives it"),
        Column("x_InheritedTags", "VARCHAR", "As the view gives it"),
        Column("fee_kind", "VARCHAR", "spend or resource on the fee of a commitment, else null"),
        Column("spend_credit", MONEY, "Credit of spend commitments"),
        Column("resource_credit", MONEY, "Credit of resource commitments"),
        Column("offset_credit", MONEY, "Credit that offsets the used part of a fee"),
        Column("fee_capacity", "DOUBLE", "Usage that the fee of a spend commitment is good for, at full price"),
        Column("has_originating_sku", "BOOLEAN", "Whether a fee names the SKU of the usage that it is for"),
        Column("conversion_rate", "DOUBLE", "Units of the billing currency that one US dollar is"),
        Column("unused_cost", MONEY, "What no usage took of the commitment that a fee is for"),
    ),
    "focus": (
        Column("x_EffectiveCostProvider", MONEY, "As the view gives it"),
        Column("x_UnusedKnown", "BOOLEAN", "As the view gives it"),
        Column("x_InheritedTags", "VARCHAR", "As the view gives it"),
    ),
}
"""What parts hold beside columns of FOCUS, by staging; a part of an earlier version may lack them."""

STAGING_OF = {
    "legacy-cur": "aws_cur",
    "cur-2": "aws_cur",
    "gcp-standard": "gcp_export",
    "gcp-detailed": "gcp_export",
    "aws-focus": "focus",
    "focus": "focus",
}
"""Which staging models, in `models/staging`, an export kind goes through."""

COST_AND_USAGE = Table(
    schema="focus",
    name="cost_and_usage",
    description="Every charge of every provider: FOCUS 1.2 Cost and Usage, one row per charge",
    columns=FOCUS_COLUMNS + EXTENSION_COLUMNS,
)

TAG_SET = Table(
    schema="core",
    name="tag_set",
    description="One row per tag and cost category of each distinct combination",
    columns=(
        Column("source", "VARCHAR", "Source that delivered the combination"),
        Column("billing_month", "DATE", "Invoice month in which it occurs"),
        Column("tag_set_id", "UBIGINT", "Id of the combination: x_TagSetId of the charges"),
        Column("tag_key", "VARCHAR", "Tag key, exact case; accountTag/KEY, costCategory/NAME"),
        Column("tag_value", "VARCHAR", "Tag value"),
    ),
)

SPLIT_COST = Table(
    schema="core",
    name="split_cost",
    description="What containers took of the cost of their machines, as split cost allocation data has it; no charge",
    columns=(
        Column("source", "VARCHAR", "Source that delivered the rows"),
        Column("billing_month", "DATE", "Invoice month"),
        Column("charge_date", "DATE", "Day of the usage, UTC"),
        Column("parent_resource_id", "VARCHAR", "Machine that the container ran on: ResourceId of its charges"),
        Column("resource_id", "VARCHAR", "Container: pod or task"),
        Column("tag_set_id", "UBIGINT", "Combination of tags of the container in core.tag_set; null without tags"),
        Column("sub_account_id", "VARCHAR", "Account that used"),
        Column("sub_account_name", "VARCHAR", "Its name, where the export carries it"),
        Column("operation", "VARCHAR", "EKSPod-EC2 or ECSTask-EC2"),
        Column("usage_type", "VARCHAR", "What was split: processors, memory or accelerators"),
        Column("billing_currency", "VARCHAR", "Currency of the costs"),
        Column("split_cost", MONEY, "Cost of what the container used or reserved; net of discounts for net payers"),
        Column("unused_cost", MONEY, "Its part of what no container used"),
        Column("split_usage", "DOUBLE", "The larger of used and reserved, in the unit of the usage type"),
        Column("actual_usage", "DOUBLE", "What was used"),
        Column("reserved_usage", "DOUBLE", "What was reserved"),
    ),
)

LOAD = Table(
    schema="ops",
    name="load",
    description="The ledger: one row per load of a (source, billing month), superseded ones kept",
    columns=(
        Column(
            "load_id",
            "VARCHAR",
            "Hash of source, month and version; where it came again later, its sequence too",
        ),
        Column("source", "VARCHAR", "Source"),
        Column("billing_month", "DATE", "Invoice month"),
        Column("version", "VARCHAR", "Hash of the delivered files"),
        Column("sequence", "BIGINT", "Order of the loads of this (source, month), from 1"),
        Column("is_current", "BOOLEAN", "Whether the part now holds this load"),
        Column("export_kind", "VARCHAR", "legacy-cur, cur-2, aws-focus, gcp-standard, gcp-detailed or focus"),
        Column("part", "VARCHAR", "Table in schema parts"),
        Column("provider", "VARCHAR", "ProviderName, or names joined by a comma"),
        Column("loaded_at", "TIMESTAMP", "When, UTC"),
        Column("files", "BIGINT", "Files in the delivery"),
        Column("bytes", "BIGINT", "Their size"),
        Column("rows_read", "BIGINT", "Rows in the files"),
        Column("rows_loaded", "BIGINT", "Charges in the part"),
        Column("last_usage_date", "DATE", "Last day on which a usage charge begins"),
        Column("has_resource_ids", "BOOLEAN", "False where the export was made without resource ids"),
        Column(
            "effective_cost_state",
            "VARCHAR",
            "proven: the amortisation identity holds for each commitment; unproven: not, or not checked; as delivered",
        ),
    ),
)

LOAD_FILE = Table(
    schema="ops",
    name="load_file",
    description="The files of each load",
    columns=(
        Column("load_id", "VARCHAR", "Load"),
        Column("file", "VARCHAR", "Name under landing/<source>/<month>/<version>/"),
        Column("size", "BIGINT", "Bytes"),
        Column("sha256", "VARCHAR", "Checksum"),
    ),
)

LOAD_TOTAL = Table(
    schema="ops",
    name="load_total",
    description="Control totals of each load by billing account and currency",
    columns=(
        Column("load_id", "VARCHAR", "Load"),
        Column("provider", "VARCHAR", "ProviderName"),
        Column("billing_account_id", "VARCHAR", "Payer"),
        Column("billing_currency", "VARCHAR", "Currency of the amounts"),
        Column("rows_loaded", "BIGINT", "Charges"),
        Column("delivered_cost", MONEY, "Sum of the delivered cost column, read apart from the load"),
        Column("billed_cost", MONEY, "Sum of BilledCost in the part"),
        Column("rounded_cost", "DECIMAL(38,24)", "What was lost to rounding at 12 decimals: delivered less loaded"),
    ),
)

LOAD_COUNT = Table(
    schema="ops",
    name="load_count",
    description="Odd input that was loaded all the same, and rows dropped or added by a named rule",
    columns=(
        Column("load_id", "VARCHAR", "Load"),
        Column("rule", "VARCHAR", "Name of the rule"),
        Column("effect", "VARCHAR", "noted, dropped or added"),
        Column("subject", "VARCHAR", "Column, value or file that it concerns; empty where it concerns rows"),
        Column("rows", "BIGINT", "How many"),
    ),
)

LOAD_INVOICE = Table(
    schema="ops",
    name="load_invoice",
    description="How far each load is invoiced, by billing account and invoicing entity",
    columns=(
        Column("load_id", "VARCHAR", "Load"),
        Column("billing_account_id", "VARCHAR", "Payer"),
        Column("invoicing_entity", "VARCHAR", "Legal entity that invoices; empty where the export names none"),
        Column("rows_delivered", "BIGINT", "Charges as delivered, those that the load added apart"),
        Column("rows_invoiced", "BIGINT", "Those of them that name their invoice"),
        Column("invoice_digest", "VARCHAR", "Hash of the ids of their invoices; empty without any"),
    ),
)

LOAD_COMMITMENT = Table(
    schema="ops",
    name="load_commitment",
    description="The amortisation identity of each load: what a commitment cost against what its usage was charged",
    columns=(
        Column("load_id", "VARCHAR", "Load"),
        Column("billing_account_id", "VARCHAR", "Payer"),
        Column("commitment_discount_id", "VARCHAR", "Savings Plan or reservation; empty for lines that name none"),
        Column("billing_currency", "VARCHAR", "Currency of the amounts"),
        Column("fee_cost", MONEY, "BilledCost of its recurring fees"),
        Column("amortised_upfront_cost", MONEY, "Part of what was paid upfront that falls to the month"),
        Column("used_cost", MONEY, "EffectiveCost of the usage that it covered"),
        Column("unused_cost", MONEY, "EffectiveCost of what no usage took"),
        Column("gap_cost", MONEY, "Used and unused less fees and amortised upfront: zero where the identity holds"),
    ),
)

LOAD_RAW_TOTAL = Table(
    schema="ops",
    name="load_raw_total",
    description="Sums of the delivered cost columns, read apart from the load, for a check against the provider",
    columns=(
        Column("load_id", "VARCHAR", "Load"),
        Column("billing_account_id", "VARCHAR", "Payer"),
        Column("sub_account_id", "VARCHAR", "Account or project that used"),
        Column("line_item_type", "VARCHAR", "AWS line item type; GCP cost type; ChargeCategory of a FOCUS export"),
        Column("billing_currency", "VARCHAR", "Currency of the amount"),
        Column(
            "metric",
            "VARCHAR",
            "UnblendedCost, NetUnblendedCost, AmortizedCost, NetAmortizedCost (AWS); BilledCost; Cost, Credits (GCP)",
        ),
        Column("amount", MONEY, "Sum over the rows"),
    ),
)

ACCOUNT = Table(
    schema="ops",
    name="account",
    description="Accounts as the provider's organisation last listed them",
    columns=(
        Column("source", "VARCHAR", "Source whose credentials listed them"),
        Column("sub_account_id", "VARCHAR", "AWS account"),
        Column("sub_account_name", "VARCHAR", "Its name"),
    ),
)

QUERY_COST = Table(
    schema="ops",
    name="query_cost",
    description="What each query of a night made its provider bill",
    columns=(
        Column("source", "VARCHAR", "Source that was asked"),
        Column("asked_at", "TIMESTAMP", "Night that asked, UTC"),
        Column("statement_kind", "VARCHAR", "SELECT, or READ_SESSION for a table that was streamed"),
        Column("bytes_billed", "BIGINT", "Bytes billed; of READ_SESSION the provider's estimate of what it reads"),
    ),
)

ACCOUNT_TAG = Table(
    schema="ops",
    name="account_tag",
    description="Tags of accounts as the provider's organisation last listed them",
    columns=(
        Column("source", "VARCHAR", "Source whose credentials listed them"),
        Column("sub_account_id", "VARCHAR", "AWS account"),
        Column("tag_key", "VARCHAR", "Tag key, exact case"),
        Column("tag_value", "VARCHAR", "Tag value"),
    ),
)

PROJECT = Table(
    schema="ops",
    name="project",
    description="Projects of Google Cloud as their billing accounts last listed them",
    columns=(
        Column("source", "VARCHAR", "Source whose charges they are looked up for"),
        Column("billing_account_id", "VARCHAR", "Billing account that listed them"),
        Column("sub_account_id", "VARCHAR", "Project id"),
        Column("sub_account_name", "VARCHAR", "The name that it is listed under"),
        Column("is_enabled", "BOOLEAN", "Whether billing is enabled, so that it can be charged for"),
    ),
)

SEEN_FILE = Table(
    schema="ops",
    name="seen_file",
    description="Checksums of files already read, so that an unchanged file is not read again",
    columns=(
        Column("path", "VARCHAR", "Where"),
        Column("size", "BIGINT", "Bytes"),
        Column("stamp", "VARCHAR", "What changes with the file: modification time and inode, or entity tag"),
        Column("sha256", "VARCHAR", "Checksum"),
        Column("months", "VARCHAR", "Billing months of its rows, YYYY-MM joined by commas; null where not looked at"),
    ),
)

FINGERPRINT = Table(
    schema="ops",
    name="fingerprint",
    description="What each (model, month) was last built from",
    columns=(
        Column("model", "VARCHAR", "schema.name"),
        Column("billing_month", "DATE", "Month, or 0001-01-01 for a model that is built as a whole"),
        Column("fingerprint", "VARCHAR", "Hash of model text, upstream fingerprints, load ids and settings read"),
    ),
)

META = Table(
    schema="ops",
    name="meta",
    description="Facts about this file",
    columns=(
        Column("key", "VARCHAR", "build_id, view_hash, conversion_hash, or the hash of a settings table"),
        Column("value", "VARCHAR", "Value"),
    ),
)

PRICE = Table(
    schema="settings",
    name="price",
    description="Public prices of GPUs, TPUs, processors and memory, as the provider's catalogue last listed them",
    columns=(
        Column("provider", "VARCHAR", "ProviderName"),
        Column("service_id", "VARCHAR", "Service, as x_ServiceCode of charges"),
        Column("sku_id", "VARCHAR", "What is sold: SkuId of charges"),
        Column("description", "VARCHAR", "The provider's own words for it"),
        Column("region", "VARCHAR", "Region that it is sold in, one row each; null where the catalogue names none"),
        Column("usage_type", "VARCHAR", "OnDemand, Preemptible, Commit1Yr and so on, as the catalogue has it"),
        Column("unit", "VARCHAR", "Unit of the price: h, GiBy.h and so on"),
        Column("tier_start", "DOUBLE", "Amount from which this price counts, in the unit; 0 where there is one price"),
        Column("currency", "VARCHAR", "ISO 4217 code of the price"),
        Column("price", MONEY, "Price of one unit"),
        Column("effective_from", "TIMESTAMP", "First instant at which the price counts, UTC"),
        Column("fetched_on", "DATE", "Day on which the catalogue listed it, UTC"),
    ),
)

SETTINGS_TABLES: tuple[Table, ...] = (
    PRICE,
    Table(
        schema="settings",
        name="night",
        description="What the night was asked for: one row",
        columns=(Column("as_of", "DATE", "The day that counts as today"),),
    ),
    Table(
        schema="settings",
        name="source",
        description="Configured sources, and retired ones whose charges are kept",
        columns=(
            Column("source", "VARCHAR", "Name"),
            Column("kind", "VARCHAR", "Source kind of the configuration"),
            Column("settle_days", "INTEGER", "Days after which a day's usage counts as complete"),
            Column("is_retired", "BOOLEAN", "True where the configuration no longer names it"),
        ),
    ),
    Table(
        schema="settings",
        name="quiet_source",
        description="Sources whose exports name no invoice: a month is final by an entered invoice or by quiet days",
        columns=(
            Column("source", "VARCHAR", "Name"),
            Column("quiet_days", "INTEGER", "Days without a change, from the 5th of the next month on"),
        ),
    ),
    Table(
        schema="settings",
        name="invoice",
        description="Invoices that people entered, for exports that name none",
        columns=(
            Column("invoice_id", "VARCHAR", "Number of the invoice, or made from the other columns"),
            Column("billing_month", "DATE", "Invoice month"),
            Column("billing_account_id", "VARCHAR", "Payer"),
            Column("billing_currency", "VARCHAR", "Currency of the amount"),
            Column("invoice_amount", MONEY, "Total of the invoice, tax included"),
            Column("entered_at", "TIMESTAMP", "When it was first entered, UTC"),
        ),
    ),
    Table(
        schema="settings",
        name="attribution_rule",
        description="Attribution rules, one row per rule and dimension that it sets",
        columns=(
            Column("rule_number", "INTEGER", "Order in the configuration, from 1"),
            Column("dimension", "VARCHAR", "project or team"),
            Column("value", "VARCHAR", "What the rule sets"),
        ),
    ),
    Table(
        schema="settings",
        name="attribution_condition",
        description="Patterns of attribution rules: conditions of a rule are ANDed, patterns of a condition ORed",
        columns=(
            Column("rule_number", "INTEGER", "Rule"),
            Column("condition_number", "INTEGER", "Condition within the rule, from 1"),
            Column("subject", "VARCHAR", "tag or account"),
            Column("tag_key", "VARCHAR", "Exact tag key where subject is tag, else empty"),
            Column("pattern", "VARCHAR", "LIKE pattern, escaped with a backslash, over the whole value"),
        ),
    ),
    Table(
        schema="settings",
        name="attribution_tag",
        description="Tag keys that name a dimension, in order of preference",
        columns=(
            Column("dimension", "VARCHAR", "project or team"),
            Column("priority", "INTEGER", "From 1, left to right"),
            Column("tag_key", "VARCHAR", "Exact tag key"),
        ),
    ),
    Table(
        schema="settings",
        name="attribution_account",
        description="Sub-accounts that belong to a project as a whole",
        columns=(
            Column("sub_account_id", "VARCHAR", "AWS usage account or GCP project id"),
            Column("project", "VARCHAR", "Project"),
        ),
    ),
    Table(
        schema="settings",
        name="sub_account",
        description="Names of sub-accounts, from the provider's organisation or billing accounts",
        columns=(
            Column("source", "VARCHAR", "Source whose charges they are for"),
            Column("sub_account_id", "VARCHAR", "AWS usage account or GCP project id"),
            Column("sub_account_name", "VARCHAR", "Its name"),
        ),
    ),
    Table(
        schema="settings",
        name="sub_account_tag",
        description="Tags of sub-accounts, from the provider's organisation",
        columns=(
            Column("source", "VARCHAR", "Source whose charges they are for"),
            Column("sub_account_id", "VARCHAR", "AWS usage account"),
            Column("tag_key", "VARCHAR", "Tag key, exact case"),
            Column("tag_value", "VARCHAR", "Tag value"),
        ),
    ),
    Table(
        schema="settings",
        name="prepaid_capacity",
        description="Capacity that is paid before it is used, and the time that it is reserved for",
        columns=(
            Column("capacity_number", "INTEGER", "Order in the configuration, from 1; the first that matches counts"),
            Column("usage_type_pattern", "VARCHAR", "LIKE pattern, escaped with a backslash, over the usage type"),
            Column("resource_pattern", "VARCHAR", "The same over the resource id; null for any"),
            Column("starts_at", "TIMESTAMP", "First instant that is reserved, UTC"),
            Column("ends_at", "TIMESTAMP", "First instant after, UTC"),
        ),
    ),
    Table(
        schema="settings",
        name="team_project",
        description="Which team owns which project",
        columns=(Column("team", "VARCHAR", "Team"), Column("project", "VARCHAR", "Project")),
    ),
    Table(
        schema="settings",
        name="budget",
        description="Configured budgets",
        columns=(
            Column("budget_id", "VARCHAR", "Id in the configuration"),
            Column("measure", "VARCHAR", "cost"),
            Column("basis", "VARCHAR", "effective, billed or list"),
            Column("includes_credits", "BOOLEAN", "Whether promotional credits lower the spend"),
            Column("includes_tax", "BOOLEAN", "Whether tax counts"),
            Column("includes_refunds", "BOOLEAN", "Whether refunds lower the spend"),
            Column("limit_amount", MONEY, "Limit of one period"),
            Column("billing_currency", "VARCHAR", "Currency of the limit"),
            Column("period", "VARCHAR", "month"),
            Column("team", "VARCHAR", "Team that is told; null for the default route"),
        ),
    ),
    Table(
        schema="settings",
        name="budget_scope",
        description="What a budget covers: dimensions are ANDed, patterns of one dimension ORed; no row = everything",
        columns=(
            Column("budget_id", "VARCHAR", "Budget"),
            Column("dimension", "VARCHAR", "project or team"),
            Column("pattern", "VARCHAR", "LIKE pattern, escaped with a backslash, over the whole value"),
        ),
    ),
    Table(
        schema="settings",
        name="budget_threshold",
        description="Thresholds of budgets on actual spend",
        columns=(
            Column("budget_id", "VARCHAR", "Budget"),
            Column("threshold", "VARCHAR", "As written: 80% or 150000 USD"),
            Column("threshold_amount", MONEY, "The same as an amount in the budget's currency"),
        ),
    ),
)

BUDGET_STATE = Table(
    schema="analysis",
    name="budget_state",
    description="State of each budget threshold in each period that core.budget_period judges",
    columns=(
        Column("budget_id", "VARCHAR", "Budget"),
        Column("threshold", "VARCHAR", "As written in the configuration"),
        Column("period_start", "DATE", "First day of the period"),
        Column("period_end", "DATE", "First day after the period"),
        Column("team", "VARCHAR", "Team that is told; null for the default route"),
        Column("basis", "VARCHAR", "effective, billed or list"),
        Column("state", "VARCHAR", "ok, crossed or unknown"),
        Column("spent_amount", MONEY, "Spend of the period so far on the budget's basis"),
        Column("gross_amount", MONEY, "The same before promotional credits"),
        Column("net_amount", MONEY, "The same after promotional credits"),
        Column("limit_amount", MONEY, "Limit of the period"),
        Column("threshold_amount", MONEY, "Threshold as an amount"),
        Column("billing_currency", "VARCHAR", "Currency of the amounts"),
        Column("crossed_on", "DATE", "First day on which the running total reached the threshold; null if not crossed"),
        Column("complete_through", "DATE", "Last complete day of the slowest source; null if unknown"),
        Column("month_status", "VARCHAR", "Status of the month in its least settled source, as in marts.month_status"),
        Column("is_month_restated", "BOOLEAN", "Whether the month is restated in any of its sources"),
    ),
)

LEDGER_TABLES = (LOAD, LOAD_FILE, LOAD_TOTAL, LOAD_COUNT, LOAD_INVOICE, LOAD_COMMITMENT, LOAD_RAW_TOTAL)
"""What a load writes besides its part; each has `load_id`."""
OPS_TABLES = (*LEDGER_TABLES, ACCOUNT, ACCOUNT_TAG, PROJECT, QUERY_COST, SEEN_FILE, FINGERPRINT, META)
ANALYSIS_TABLES = (BUDGET_STATE,)
SCHEMAS = ("parts", "months", "focus", "usage", "settings", "core", "analysis", "marts", "ops")
WHOLE = "0001-01-01"
"""`billing_month` in `ops.fingerprint` of a model that is not built by month."""
