-- Charges that break a rule of FOCUS 1.2 about values by themselves: mandatory and allowed ones, the order of periods.
-- Source: FOCUS 1.2, Cost and Usage; the normative requirements of each column.
-- grain: one row per source, month and rule that is broken
-- key: source, billing_month, rule
with charges as (select * from focus.cost_and_usage),
counted as (
    select
        x_Source as source,
        x_BillingMonth as billing_month,
        sum(case when BillingAccountId is null then 1 else 0 end) as billing_account_id_set,
        sum(case when BillingAccountType is null then 1 else 0 end) as billing_account_type_set,
        sum(case when ProviderName is null then 1 else 0 end) as provider_name_set,
        sum(case when PublisherName is null then 1 else 0 end) as publisher_name_set,
        sum(case when InvoiceIssuerName is null then 1 else 0 end) as invoice_issuer_name_set,
        sum(case when ServiceName is null then 1 else 0 end) as service_name_set,
        sum(case when coalesce(ChargeCategory, '') not in ('Usage', 'Purchase', 'Tax', 'Credit', 'Adjustment')
            then 1 else 0 end) as charge_category_allowed,
        sum(case when ChargeClass <> 'Correction' then 1 else 0 end) as charge_class_allowed,
        sum(case when coalesce(ChargeFrequency, '') not in ('One-Time', 'Recurring', 'Usage-Based')
            then 1 else 0 end) as charge_frequency_allowed,
        sum(case when PricingCategory not in ('Standard', 'Dynamic', 'Committed', 'Other')
            then 1 else 0 end) as pricing_category_allowed,
        sum(case when CommitmentDiscountCategory not in ('Spend', 'Usage')
            then 1 else 0 end) as commitment_category_allowed,
        sum(case when CommitmentDiscountStatus not in ('Used', 'Unused')
            then 1 else 0 end) as commitment_status_allowed,
        sum(case when CapacityReservationStatus not in ('Used', 'Unused')
            then 1 else 0 end) as capacity_status_allowed,
        sum(case when ChargePeriodStart >= ChargePeriodEnd then 1 else 0 end) as charge_period_ordered,
        sum(case when BillingPeriodStart >= BillingPeriodEnd then 1 else 0 end) as billing_period_ordered
    from charges
    group by x_Source, x_BillingMonth
),
broken as (
    select source, billing_month, 'billing_account_id_set' as rule,
        'BillingAccountId is not null' as requirement,
        billing_account_id_set as violating_rows
    from counted
    union all select source, billing_month, 'billing_account_type_set',
        'BillingAccountType is not null', billing_account_type_set from counted
    union all select source, billing_month, 'provider_name_set',
        'ProviderName is not null', provider_name_set from counted
    union all select source, billing_month, 'publisher_name_set',
        'PublisherName is not null', publisher_name_set from counted
    union all select source, billing_month, 'invoice_issuer_name_set',
        'InvoiceIssuerName is not null', invoice_issuer_name_set from counted
    union all select source, billing_month, 'service_name_set',
        'ServiceName is not null', service_name_set from counted
    union all select source, billing_month, 'charge_category_allowed',
        'ChargeCategory is Usage, Purchase, Tax, Credit or Adjustment', charge_category_allowed from counted
    union all select source, billing_month, 'charge_class_allowed',
        'ChargeClass is Correction or null', charge_class_allowed from counted
    union all select source, billing_month, 'charge_frequency_allowed',
        'ChargeFrequency is One-Time, Recurring or Usage-Based', charge_frequency_allowed from counted
    union all select source, billing_month, 'pricing_category_allowed',
        'PricingCategory is Standard, Dynamic, Committed, Other or null', pricing_category_allowed from counted
    union all select source, billing_month, 'commitment_category_allowed',
        'CommitmentDiscountCategory is Spend, Usage or null', commitment_category_allowed from counted
    union all select source, billing_month, 'commitment_status_allowed',
        'CommitmentDiscountStatus is Used, Unused or null', commitment_status_allowed from counted
    union all select source, billing_month, 'capacity_status_allowed',
        'CapacityReservationStatus is Used, Unused or null', capacity_status_allowed from counted
    union all select source, billing_month, 'charge_period_ordered',
        'ChargePeriodStart is before ChargePeriodEnd', charge_period_ordered from counted
    union all select source, billing_month, 'billing_period_ordered',
        'BillingPeriodStart is before BillingPeriodEnd', billing_period_ordered from counted
)

select
    -- Source that delivered the charges
    broken.source,
    -- First day of the invoice month
    broken.billing_month,
    -- Short name of the rule
    broken.rule,
    -- What it asks of each charge
    broken.requirement,
    -- Charges that break it
    cast(broken.violating_rows as bigint) as violating_rows
from broken
where broken.violating_rows > 0
