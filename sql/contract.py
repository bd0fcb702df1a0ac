"""Names and types of every table that Python code writes or hands to another package.

`focus.cost_and_usage` has the 57 columns of FOCUS 1.2 (https://focus.finops.org, Cost and Usage), exactly spelt, and
`x_` columns of our own. Money is DECIMAL(38,12), quantities are DOUBLE, instants are TIMESTAMP in UTC without zone.

Tables in `settings` mirror the configuration, are replaced whole when it changes, and are what models read; tables in
`ops` are the ledger. People query `focus` and `marts`.
"""

from __future__ import annotations

from dataclasses import dataclass

MONEY = "DECIMAL(38,12)"
RATE = "DECIMAL(18,12)"
"""Exchange rate: times an amount of up to a million million it stays within 38 digits."""
SCHEMA_VERSION = 3
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
    dated_by: str | None = None
    """Column with a day, where building a month reads no row of a later one: such rows are nothing new to it."""

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

TEXT_COLUMNS = frozenset(
    {
        "Tags",
        "x_CostCategories",
        "ResourceName",
        "SkuPriceDetails",
        "CapacityReservationId",
        "CapacityReservationStatus",
    }
)
"""Columns of charges that some view makes of the texts of tags, which stand beside a part."""

STORED_COLUMNS = {
    "aws_cur": (
        Column("unused_cost", MONEY, "What no usage took of the commitment that a recurring fee is for"),
        Column("unused_quantity", "DOUBLE", "The same in the commitment's unit"),
        Column("commitment_end", "TIMESTAMP", "First instant of the month that a reservation's fee is not for"),
        Column("amortised_upfront_cost", MONEY, "Part of what was paid upfront that falls to the month"),
        Column("term_start", "TIMESTAMP", "When the commitment that a fee is for begins"),
        Column("term_end", "TIMESTAMP", "When it ends"),
    ),
    "gcp_export": (
        Column("CommitmentDiscountId", "VARCHAR", "Commitment, as the view gives it"),
        Column("CommitmentDiscountQuantity", "DOUBLE", "Amount of it, as the view gives it"),
        Column("tier_start_amount", "DOUBLE", "Where the tier of the price begins; null where it begins with nothing"),
        Column("x_UnusedKnown", "BOOLEAN", "As the view gives it"),
        Column("x_InheritedTags", "VARCHAR", "As the view gives it"),
        Column("fee_kind", "VARCHAR", "spend or resource on the fee of a commitment, else null"),
        Column("spend_credit", MONEY, "Credit of spend commitments"),
        Column("resource_credit", MONEY, "Credit of resource commitments"),
        Column("offset_credit", MONEY, "Credit that offsets the used part of a fee"),
        Column("fee_capacity", "DOUBLE", "Usage that the fee of a spend commitment is good for, at full price"),
        Column("has_originating_sku", "BOOLEAN", "Whether a fee names the SKU of the usage that it is for"),
        Column("conversion_rate", "DOUBLE", "Units of the billing currency that one US dollar is; null for 1"),
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
        Column("starts_at", "TIMESTAMP", "When the commitment begins, UTC; null where the export does not say"),
        Column("ends_at", "TIMESTAMP", "When it ends, UTC; null where the export does not say"),
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
        Column(
            "key",
            "VARCHAR",
            "build_id, view_hash, conversion_hash, or the hash of a settings table or of what a part was made with",
        ),
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
        name="accelerator",
        description="Which accelerators machine types and SKUs are hours of: ours, and those of the configuration",
        columns=(
            Column("kind", "VARCHAR", "machine: its type; sku: words of the description of a SKU of Google Cloud"),
            Column("name", "VARCHAR", "Machine type, without the ml. of Amazon SageMaker; or words"),
            Column("accelerator", "VARCHAR", "Kind of accelerator"),
            Column("accelerator_count", "DECIMAL(9,3)", "Accelerators of the machine, or of one unit of the SKU"),
        ),
    ),
    Table(
        schema="settings",
        name="waste_check",
        description="Checks for waste and their numbers: defaults, or what the configuration says",
        columns=(
            Column("check_name", "VARCHAR", "Name of the check"),
            Column("title", "VARCHAR", "What it looks for"),
            Column("meaning", "VARCHAR", "Meaning of the usage that it cannot do without: settings.waste_meaning"),
            Column("is_enabled", "BOOLEAN", "False where the configuration turns it off"),
            Column("window_days", "INTEGER", "Complete days that it looks at"),
            Column("minimum_days", "INTEGER", "Days with charges before anything is claimed of a resource"),
            Column("saving_share", "DECIMAL(13,12)", "Part of the cost that is saved; 0 where it is not known"),
            Column("limit_number", "DOUBLE", "Its own threshold; null where it has none"),
            Column("needs_resources", "BOOLEAN", "Whether it looks at single resources"),
        ),
    ),
    Table(
        schema="settings",
        name="run_source",
        description="Sources of runs: by what the bill knows their runs, and what an hour is worth where it does not",
        columns=(
            Column("source", "VARCHAR", "The [[source]] of the configuration"),
            Column("run_tag", "VARCHAR", "Tag key whose value, on a charge, is the id of a run; null for none"),
            Column("gpu_hour_price", MONEY, "Price of one accelerator for an hour; null for none"),
            Column("currency", "VARCHAR", "Currency of the price"),
        ),
    ),
    Table(
        schema="settings",
        name="waste_provider",
        description="On which clouds each check for waste knows what to look for",
        columns=(Column("check_name", "VARCHAR", "Check"), Column("provider", "VARCHAR", "Cloud provider")),
    ),
    Table(
        schema="settings",
        name="waste_meaning",
        description="What usage types mean to the checks for waste; of several that fit, the first counts",
        columns=(
            Column("meaning_number", "INTEGER", "Order, from 1"),
            Column("provider", "VARCHAR", "Cloud provider"),
            Column("service_code", "VARCHAR", "x_ServiceCode of charges; null for any"),
            Column("usage_pattern", "VARCHAR", "LIKE pattern over x_UsageType in small letters"),
            Column("meaning", "VARCHAR", "What it is: nat_hours, disk and so on"),
            Column("detail", "VARCHAR", "Kind of it; null where kinds are not told apart"),
        ),
    ),
    Table(
        schema="settings",
        name="waste_dismissal",
        description="Findings that people dismissed; the last word on each",
        columns=(
            Column("finding_id", "VARCHAR", "Finding"),
            Column("dismissed_by", "VARCHAR", "Who did"),
            Column("until", "DATE", "Last day on which it counts as dismissed"),
            Column("reason", "VARCHAR", "Why"),
        ),
    ),
    Table(
        schema="settings",
        name="machine_twin",
        description="Families of machines that have the same sizes as another one",
        columns=(
            Column("check_name", "VARCHAR", "previous_generation or arm_twin"),
            Column("provider", "VARCHAR", "Cloud provider"),
            Column("family", "VARCHAR", "Family as usage types have it, between the signs around it"),
            Column("twin_family", "VARCHAR", "The family that may cost less, alike"),
        ),
    ),
    Table(
        schema="settings",
        name="waste_hours",
        description="Working hours, Monday to Friday",
        columns=(
            Column("from_hour", "INTEGER", "First hour that is worked in, UTC"),
            Column("until_hour", "INTEGER", "First hour after, UTC"),
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
        name="invoice_check",
        description="What invoices of files were found to come to, each time that a file was compared",
        columns=(
            Column("check_id", "BIGINT", "Order in which they were found, from 1"),
            Column("checked_at", "TIMESTAMP", "When, UTC"),
            Column("billing_month", "DATE", "Invoice month"),
            Column("source", "VARCHAR", "Source of the charges"),
            Column("load_id", "VARCHAR", "Load that was in force then"),
            Column("billing_account_id", "VARCHAR", "Payer"),
            Column("issuer", "VARCHAR", "Legal entity that invoices, several joined by commas"),
            Column("invoice_id", "VARCHAR", "Number of the invoice, several joined by commas; null without any"),
            Column("billing_currency", "VARCHAR", "Currency of the amounts"),
            Column("invoice_lines", "BIGINT", "Lines of the file that were added up; 0 where it had none"),
            Column("billed_cost", MONEY, "Sum of BilledCost of the charges then"),
            Column("invoiced_cost", MONEY, "Total of the invoices, tax included"),
            Column("billed_tax", MONEY, "Tax within billed_cost"),
            Column("invoiced_tax", MONEY, "Tax within invoiced_cost; null where the file did not say"),
            Column("tolerance", MONEY, "How far both were allowed to differ"),
            Column("outcome", "VARCHAR", "ties, rounding, differs or no invoice"),
        ),
    ),
    Table(
        schema="settings",
        name="closed_month",
        description="Months that people have closed and not reopened",
        columns=(
            Column("close_id", "BIGINT", "Which closing it was, from 1"),
            Column("billing_month", "DATE", "Invoice month"),
            Column("closed_at", "TIMESTAMP", "When, UTC"),
            Column("as_of", "DATE", "Day that counted as today"),
            Column("is_estimate", "BOOLEAN", "Whether missing days were estimated"),
            Column("has_same_splits", "BOOLEAN", "Whether splits share the month as they did then"),
        ),
    ),
    Table(
        schema="settings",
        name="closed_load",
        description="What each source had delivered of a closed month",
        columns=(
            Column("billing_month", "DATE", "Invoice month"),
            Column("source", "VARCHAR", "Source"),
            Column("load_id", "VARCHAR", "Load in force then, as ops.load named it"),
            Column("version", "VARCHAR", "Hash of the delivered files, as in ops.load"),
            Column("status", "VARCHAR", "Status of the month then, as in marts.month_status"),
            Column("complete_through", "DATE", "Last complete day then; null if unknown"),
        ),
    ),
    Table(
        schema="settings",
        name="closed_figure",
        description="Figures of closed months, with project and team as they were",
        columns=(
            Column("billing_month", "DATE", "Invoice month"),
            Column("source", "VARCHAR", "Source"),
            Column("kind", "VARCHAR", "actual, shared for what splits moved, or accrual for missing days"),
            Column("provider", "VARCHAR", "Cloud provider"),
            Column("billing_account_id", "VARCHAR", "Payer"),
            Column("invoice_id", "VARCHAR", "Invoice that carries the charges; null until it is issued"),
            Column("sub_account_id", "VARCHAR", "Account or project that used; null for an accrual"),
            Column("tag_set_id", "UBIGINT", "Combination of tags; null without any, and for an accrual"),
            Column("service_name", "VARCHAR", "Service"),
            Column("service_category", "VARCHAR", "Its FOCUS category"),
            Column("charge_category", "VARCHAR", "Usage, Purchase, Tax, Credit or Adjustment"),
            Column("project", "VARCHAR", "Project then"),
            Column("team", "VARCHAR", "Team then"),
            Column("cost_centre", "VARCHAR", "Cost centre then; null where none is known"),
            Column("gl_account", "VARCHAR", "Account of the general ledger then; null without"),
            Column("billing_currency", "VARCHAR", "Currency of the amounts"),
            Column("billed_cost", MONEY, "Billed cost"),
            Column("effective_cost", MONEY, "Effective cost"),
            Column("cost_before_credits", MONEY, "Effective cost before promotional credits"),
            Column("list_cost", MONEY, "List cost"),
            Column("charge_rows", "BIGINT", "Charges; 0 for an accrual"),
        ),
    ),
    Table(
        schema="settings",
        name="currency",
        description="The currency that costs are converted to: one row, or none",
        columns=(
            Column("reporting_currency", "VARCHAR", "ISO 4217 code"),
            Column("rate_rule", "VARCHAR", "charge-day, month-end or month-average"),
        ),
    ),
    Table(
        schema="settings",
        name="exchange_rate",
        description="What one unit of each billed currency is worth in the reporting currency, by the configured rule",
        columns=(
            Column("billing_currency", "VARCHAR", "ISO 4217 code of what is converted"),
            Column("from_date", "DATE", "First day that the rate is for; first day of the month under a monthly rule"),
            Column("until_date", "DATE", "First day that it is no longer for; null while there is none"),
            Column("rate", RATE, "Units of the reporting currency that one unit is worth"),
            Column("rate_date", "DATE", "Day on which it was published; the last of them for a mean"),
            Column("published_days", "INTEGER", "Days whose rates it is the mean of; 1 where it is the rate of one"),
            Column("made_from", "VARCHAR", "Lines of the file that it is made from, with their rates as written"),
            Column("source", "VARCHAR", "Who says so, as the file has it"),
        ),
        dated_by="from_date",
    ),
    Table(
        schema="settings",
        name="attribution_rule",
        description="Attribution rules, one row per rule and dimension that it sets",
        columns=(
            Column("rule_number", "INTEGER", "Order in the configuration, from 1"),
            Column("dimension", "VARCHAR", "project, team, environment, workload or cost_centre"),
            Column("value", "VARCHAR", "What the rule sets; before what it takes from a tag, where it does"),
            Column("value_key", "VARCHAR", "Tag key that the value is taken from; null where it is fixed"),
            Column("value_case", "VARCHAR", "lower or upper: how what the tag says is written; null as it is"),
            Column("value_after", "VARCHAR", "What follows what the tag says"),
            Column("from_month", "DATE", "First billing month that the rule is in force; null for all before"),
            Column("until_month", "DATE", "First billing month that it is no longer; null for all after"),
        ),
    ),
    Table(
        schema="settings",
        name="attribution_condition",
        description="Patterns of attribution rules: conditions of a rule are ANDed, patterns of a condition ORed",
        columns=(
            Column("rule_number", "INTEGER", "Rule"),
            Column("condition_number", "INTEGER", "Condition within the rule, from 1"),
            Column(
                "subject",
                "VARCHAR",
                "tag, account, account_name, provider, billing_account, region, service, charge_category or resource",
            ),
            Column("tag_key", "VARCHAR", "Exact tag key where subject is tag, else empty"),
            Column("pattern", "VARCHAR", "LIKE pattern, escaped with a backslash, over the whole value"),
            Column("exact_value", "VARCHAR", "The value itself where the pattern has no wildcard, else null"),
        ),
    ),
    Table(
        schema="settings",
        name="attribution_tag",
        description="Tag keys that name a dimension, in order of preference",
        columns=(
            Column("dimension", "VARCHAR", "project, team, environment, workload or cost_centre"),
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
        name="owner",
        description="Who owns a project in which months; at most one owner per project and month",
        columns=(
            Column("project", "VARCHAR", "Project"),
            Column("team", "VARCHAR", "Team that answers; null where this says nothing of it"),
            Column("cost_centre", "VARCHAR", "Cost centre that pays; null where this says nothing of it"),
            Column("gl_account", "VARCHAR", "Account of the general ledger; null where this says nothing of it"),
            Column("from_month", "DATE", "First billing month; null for all before"),
            Column("until_month", "DATE", "First billing month after; null for all after"),
        ),
    ),
    Table(
        schema="settings",
        name="split",
        description="Splits of shared costs, gone through in the order of the configuration",
        columns=(
            Column("split_number", "INTEGER", "Order in the configuration, from 1"),
            Column("split_name", "VARCHAR", "Name"),
            Column("method", "VARCHAR", "cost, even, weights or usage: what shares are in proportion to"),
            Column("recipient_dimension", "VARCHAR", "project or team: what it gives to"),
            Column("has_recipients", "BOOLEAN", "Whether settings.split_recipient says who; else all with costs"),
            Column("is_daily", "BOOLEAN", "Whether shares are those of each day, not of the billing month"),
            Column("share_names", "INTEGER", "Dimensions among project, team and cost centre that share looks at"),
            Column("share_others", "INTEGER", "Other dimensions that share looks at"),
            Column("of_conditions", "INTEGER", "Dimensions that of looks at; 0 where everything counts"),
            Column("from_month", "DATE", "First billing month that the split is in force; null for all before"),
            Column("until_month", "DATE", "First billing month that it is no longer; null for all after"),
        ),
    ),
    Table(
        schema="settings",
        name="split_condition",
        description="Patterns of splits: dimensions of a part are ANDed, patterns of one dimension ORed",
        columns=(
            Column("split_number", "INTEGER", "Split"),
            Column("part", "VARCHAR", "share: which costs are shared; of: which costs the shares are in proportion to"),
            Column(
                "dimension",
                "VARCHAR",
                "project, team, environment, workload, cost_centre, provider, billing_account, service,"
                " service_category, charge_category or commitment_status",
            ),
            Column("pattern", "VARCHAR", "LIKE pattern, escaped with a backslash, over the whole value"),
        ),
    ),
    Table(
        schema="settings",
        name="split_recipient",
        description="Whom splits give to, where they say so",
        columns=(
            Column("split_number", "INTEGER", "Split"),
            Column("pattern", "VARCHAR", "LIKE pattern, escaped with a backslash, over the whole name"),
            Column("exact_name", "VARCHAR", "The name itself where the pattern has no wildcard, else null"),
            Column("weight", MONEY, "Fixed weight; null where the split has none"),
        ),
    ),
    Table(
        schema="settings",
        name="split_usage",
        description="Quantities that splits go by",
        columns=(
            Column("split_number", "INTEGER", "Split"),
            Column("billing_month", "DATE", "Month of the quantity"),
            Column("usage_date", "DATE", "Its day; null where the file gives months"),
            Column("recipient", "VARCHAR", "Project or team"),
            Column("quantity", MONEY, "Quantity, in whatever unit the file has"),
        ),
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
            Column("includes_shared", "BOOLEAN", "Whether costs that splits give count"),
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


def _usage(name: str, description: str, *columns: Column) -> Table:
    """Return a table of schema `usage`."""
    return Table(schema="usage", name=name, description=description, columns=columns)


COUNT = "DECIMAL(18,9)"
"""Count of accelerators, which may be a part of one."""

RUN = _usage(
    "run",
    "Runs as their sources last told of them, one row per attempt; what a source lists no more stays",
    Column("source", "VARCHAR", "The [[source]] that told of it"),
    Column("attempt_id", "VARCHAR", "Key within the source: cluster, run and when the attempt began"),
    Column("cluster", "VARCHAR", "Cluster, account, namespace or experiment store; empty where nothing names one"),
    Column("run_id", "VARCHAR", "Id of the run, which its attempts share"),
    Column("sweep_id", "VARCHAR", "Array, sweep, heterogeneous job or parent run that it is a part of"),
    Column("trial", "VARCHAR", "Which part of that"),
    Column("kind", "VARCHAR", "batch, array_task, interactive, notebook or service"),
    Column("run_name", "VARCHAR", "Name that somebody gave it"),
    Column("user_name", "VARCHAR", "Who started it"),
    Column("account", "VARCHAR", "Account or namespace that it was charged to"),
    Column("partition_name", "VARCHAR", "Partition, queue or pool"),
    Column("qos", "VARCHAR", "Quality of service or priority"),
    Column("project", "VARCHAR", "Project, where the source says so"),
    Column("team", "VARCHAR", "Team, where the source says so"),
    Column("experiment", "VARCHAR", "Experiment that it is a part of"),
    Column("workload", "VARCHAR", "Kind of work, such as training or inference"),
    Column("model", "VARCHAR", "Model that was trained or served"),
    Column("plan_id", "VARCHAR", "Plan that it belongs to"),
    Column("config_hash", "VARCHAR", "Hash of its settings: equal runs have equal ones"),
    Column(
        "state",
        "VARCHAR",
        "completed, failed, cancelled, timeout, oom, node_fail, preempted, requeued, resized,"
        " running, pending or unknown",
    ),
    Column("state_raw", "VARCHAR", "State in the source's own words"),
    Column("reason", "VARCHAR", "Why it ended, in the source's words"),
    Column("exit_code", "VARCHAR", "Exit code, as the source writes it"),
    Column("submitted_at", "TIMESTAMP", "When it was submitted, UTC"),
    Column("started_at", "TIMESTAMP", "When the attempt began, UTC; null where it never did"),
    Column("ended_at", "TIMESTAMP", "When it ended, UTC; null where it has not or nobody knows"),
    Column("seen_at", "TIMESTAMP", "Last instant at which a run that has not ended is known to have been running, UTC"),
    Column("billable_seconds", "DOUBLE", "Seconds that the provider bills, where they are not those from start to end"),
    Column("node_count", "BIGINT", "Nodes or hosts"),
    Column("cpu_count", "DOUBLE", "Processors of all nodes"),
    Column("gpu_count", COUNT, "Accelerators of all nodes, parts of one as parts; 0 for none, null for unknown"),
    Column("gpu_shards", COUNT, "Shards of accelerators, where they are shared so; how many make one says its node"),
    Column("accelerator", "VARCHAR", "Kind of accelerator, as the source names it"),
    Column("instance_type", "VARCHAR", "Machine type"),
    Column("node_list", "VARCHAR", "Nodes or resource ids, as the source writes them; usage.run_node takes them apart"),
    Column("work_dir", "VARCHAR", "Working directory"),
    Column("dependency", "VARCHAR", "Run that it waited for"),
    Column("checkpoint_at", "TIMESTAMP", "When its last checkpoint was written, UTC"),
    Column("resumed_from", "VARCHAR", "Id of the run whose checkpoint it began with"),
    Column("restart_seconds", "DOUBLE", "Seconds that it took to be where that run had been"),
    Column("pricing", "VARCHAR", "on_demand, spot, reserved, capacity_block or flex"),
    Column("sample_fraction", "DOUBLE", "Part of the data that it used, 0 to 1"),
    Column("full_retrain", "BOOLEAN", "Whether it trained from the beginning"),
    Column("params_active", "DOUBLE", "Parameters used per token"),
    Column("tokens", "DOUBLE", "Tokens processed"),
    Column("tokens_per_second", "DOUBLE", "Tokens per second"),
)

RUN_NODE = _usage(
    "run_node",
    "The nodes of each list of nodes, in each month in which a run was on them",
    Column("source", "VARCHAR", "The [[source]] of the runs"),
    Column("month", "DATE", "First day of the month, UTC"),
    Column("cluster", "VARCHAR", "Cluster of the runs"),
    Column("node_list", "VARCHAR", "List as in usage.run"),
    Column("node", "VARCHAR", "One node or resource id of it"),
)

RUN_TOTAL = _usage(
    "run_total",
    "Runs of a source that tells of sums only, by how they ended",
    Column("source", "VARCHAR", "The [[source]]"),
    Column("file", "VARCHAR", "File that says so"),
    Column("cluster", "VARCHAR", "Cluster; empty where nothing names one"),
    Column("month", "DATE", "First day of the month; null where the sums are of all time"),
    Column("project", "VARCHAR", "Project, where the source says so"),
    Column("team", "VARCHAR", "Team, where the source says so"),
    Column("state", "VARCHAR", "How they ended, as in usage.run"),
    Column("state_raw", "VARCHAR", "The same in the source's own words"),
    Column("run_count", "BIGINT", "Runs; null where unknown"),
    Column("gpu_seconds", "DECIMAL(38,9)", "Seconds times accelerators; null where unknown"),
    Column("cpu_seconds", "DECIMAL(38,9)", "Seconds times processors; null where unknown"),
)

CAPACITY = _usage(
    "capacity",
    "What clusters have, whether a run uses it or not: nodes and what they cost an hour",
    Column("source", "VARCHAR", "The [[source]]"),
    Column("file", "VARCHAR", "File that says so"),
    Column("cluster", "VARCHAR", "Cluster; empty where nothing names one"),
    Column("node", "VARCHAR", "Node"),
    Column("accelerator", "VARCHAR", "Kind of accelerator"),
    Column("gpu_count", COUNT, "Accelerators of the node"),
    Column("cpu_count", "DOUBLE", "Processors of the node"),
    Column("shards_per_gpu", COUNT, "Shards that make one accelerator; null where it has none"),
    Column("gpu_hour_price", MONEY, "Price of one accelerator for an hour"),
    Column("currency", "VARCHAR", "Currency of the price"),
    Column("starts_at", "TIMESTAMP", "Since when the node is there, UTC"),
    Column("ends_at", "TIMESTAMP", "First instant at which it is not any more, UTC; null for still there"),
    Column("is_down", "BOOLEAN", "Whether it was out of order at that time"),
    Column("instance_id", "VARCHAR", "ResourceId of the machine in the bill"),
    Column("told_at", "TIMESTAMP", "When a list of all nodes of the cluster was written, UTC; null for dated rows"),
)

USAGE_LOAD = Table(
    schema="ops",
    name="usage_load",
    description="Which files of runs and capacity were loaded when, one row per load of a file",
    columns=(
        Column("source", "VARCHAR", "Source"),
        Column("file", "VARCHAR", "File, below the source's location"),
        Column("version", "VARCHAR", "Hash of its content and of what reads it"),
        Column("loaded_at", "TIMESTAMP", "When, UTC"),
        Column("is_current", "BOOLEAN", "False where a later version of the file was loaded"),
        Column("rows_read", "BIGINT", "Rows in the file"),
        Column("rows_dropped", "BIGINT", "Rows that are no runs of their own: steps of jobs, repeated rows"),
        Column("rows_changed", "BIGINT", "Rows that were new or other than before"),
        Column("rows_odd", "BIGINT", "Rows that end before they begin"),
    ),
)

WASTE_STATE = Table(
    schema="analysis",
    name="waste_state",
    description="What checks for waste found, since when, and what became of it",
    columns=(
        Column("finding_id", "VARCHAR", "Id of the finding: a hash of source, check, what it is of and currency"),
        Column("source", "VARCHAR", "Source"),
        Column("check_name", "VARCHAR", "Check that found it"),
        Column("provider", "VARCHAR", "Cloud provider"),
        Column("resource_id", "VARCHAR", "Resource; null where it is of all that a project has in a sub-account"),
        Column("resource_name", "VARCHAR", "Its name; null where the export has none"),
        Column("sub_account_id", "VARCHAR", "AWS usage account, GCP project"),
        Column("region_id", "VARCHAR", "Region"),
        Column("project", "VARCHAR", "Project that it belongs to, as of its last day with charges"),
        Column("team", "VARCHAR", "Team that it belongs to, alike"),
        Column("billing_currency", "VARCHAR", "Currency of the amounts"),
        Column("outcome", "VARCHAR", "waste, advice (the saving is not known) or unknown (nothing is claimed)"),
        Column("is_counted", "BOOLEAN", "Whether it counts: of one resource the largest finding does"),
        Column("usage_cost", MONEY, "Cost in the window of what would be stopped"),
        Column("wasted_cost", MONEY, "Effective cost before promotional credits that went for nothing in the window"),
        Column("cash_saving", MONEY, "Part of that which no commitment pays, so that stopping saves it"),
        Column("monthly_cost", MONEY, "Wasted cost of a month of 730 hours at that rate"),
        Column("charged_days", "INTEGER", "Days that wasted_cost is of"),
        Column("window_start", "DATE", "First day of the window"),
        Column("window_end", "DATE", "First day after the window"),
        Column("evidence", "VARCHAR", "What was seen, in numbers"),
        Column("stop_step", "VARCHAR", "Command or step that stops it"),
        Column("status", "VARCHAR", "new (found by the last night that looked), still or resolved"),
        Column("is_baseline", "BOOLEAN", "Whether the check was made for the first time when it was found"),
        Column("first_seen", "DATE", "First day of the window in which it was found first"),
        Column("first_found", "DATE", "The night's day when it was found first"),
        Column("last_found", "DATE", "The night's day when it was found last"),
        Column("resolved_on", "DATE", "The night's day when it was no longer found; null while it is"),
        Column("so_far_cost", MONEY, "Wasted cost since first_seen, added up night by night"),
        Column("saved_cost", MONEY, "What it would have cost since it was resolved; 0 while it is not"),
    ),
)

WASTE_EVALUATED = Table(
    schema="analysis",
    name="waste_evaluated",
    description="Which checks for waste were evaluated in which source, and with which numbers",
    columns=(
        Column("source", "VARCHAR", "Source"),
        Column("check_name", "VARCHAR", "Check"),
        Column("numbers", "VARCHAR", "Its window, days, share and limit: another text is another rule"),
    ),
)

LEDGER_TABLES = (LOAD, LOAD_FILE, LOAD_TOTAL, LOAD_COUNT, LOAD_INVOICE, LOAD_COMMITMENT, LOAD_RAW_TOTAL)
"""What a load writes besides its part; each has `load_id`."""
OPS_TABLES = (*LEDGER_TABLES, ACCOUNT, ACCOUNT_TAG, PROJECT, QUERY_COST, SEEN_FILE, FINGERPRINT, META, USAGE_LOAD)
USAGE_TABLES = (RUN, RUN_NODE, RUN_TOTAL, CAPACITY)
"""What sources tell of use; kept for good, so that a new version adds columns and removes none."""
ANALYSIS_TABLES = (BUDGET_STATE, WASTE_STATE, WASTE_EVALUATED)
SCHEMAS = ("parts", "months", "focus", "usage", "settings", "core", "analysis", "marts", "ops")
WHOLE = "0001-01-01"
"""`billing_month` in `ops.fingerprint` of a model that is not built by month."""
