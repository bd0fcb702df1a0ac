-- Charges that break a rule of FOCUS 1.2 about what they name by themselves: commitments, reservations, resources.
-- Source: FOCUS 1.2, Cost and Usage; the normative requirements of each column.
-- grain: one row per source, month and rule that is broken
-- key: source, billing_month, rule
with charges as (select * from focus.cost_and_usage),
-- Apart, so that names of resources, which are read out of JSON, are worked out of few charges.
unidentified as (select * from focus.cost_and_usage where ResourceId is null),
counted as (
    select
        x_Source as source,
        x_BillingMonth as billing_month,
        sum(case when CommitmentDiscountId is not null and (CommitmentDiscountCategory is null
            or CommitmentDiscountType is null) then 1 else 0 end) as commitment_described,
        sum(case when CommitmentDiscountId is null and (CommitmentDiscountCategory is not null
            or CommitmentDiscountType is not null or CommitmentDiscountStatus is not null
            or CommitmentDiscountQuantity is not null) then 1 else 0 end) as commitment_named,
        sum(case when CommitmentDiscountId is not null and ChargeCategory = 'Usage'
            and CommitmentDiscountStatus is null then 1 else 0 end) as commitment_status_set,
        sum(case when ChargeCategory <> 'Usage' and CommitmentDiscountStatus is not null
            then 1 else 0 end) as commitment_status_of_usage,
        sum(case when CommitmentDiscountId is not null and ChargeCategory in ('Usage', 'Purchase')
            and ChargeClass is null and (CommitmentDiscountQuantity is null or CommitmentDiscountUnit is null)
            then 1 else 0 end) as commitment_quantity_set,
        sum(case when CommitmentDiscountId is not null and ChargeCategory = 'Purchase' and EffectiveCost <> 0
            then 1 else 0 end) as commitment_purchase_free,
        sum(case when CapacityReservationId is not null and ChargeCategory = 'Usage'
            and CapacityReservationStatus is null then 1 else 0 end) as capacity_status_set,
        sum(case when CapacityReservationId is null and CapacityReservationStatus is not null
            then 1 else 0 end) as capacity_named,
        sum(case when SubAccountId is not null and SubAccountType is null then 1 else 0 end) as sub_account_type_set,
        sum(case when RegionId is null and RegionName is not null or RegionId is not null and RegionName is null
            then 1 else 0 end) as region_named,
        sum(case when SkuPriceId is not null and SkuId is null then 1 else 0 end) as sku_of_price_set
    from charges
    group by x_Source, x_BillingMonth
),
nameless as (
    select
        x_Source as source,
        x_BillingMonth as billing_month,
        sum(case when ResourceName is not null or ResourceType is not null then 1 else 0 end) as resource_identified
    from unidentified
    group by x_Source, x_BillingMonth
),
broken as (
    select source, billing_month, 'commitment_described' as rule,
        'CommitmentDiscountCategory and -Type are not null under a commitment' as requirement,
        commitment_described as violating_rows
    from counted
    union all select source, billing_month, 'commitment_named',
        'CommitmentDiscountId is not null where a column of it is not', commitment_named from counted
    union all select source, billing_month, 'commitment_status_set',
        'CommitmentDiscountStatus of usage under a commitment is not null', commitment_status_set from counted
    union all select source, billing_month, 'commitment_status_of_usage',
        'CommitmentDiscountStatus is null but for usage', commitment_status_of_usage from counted
    union all select source, billing_month, 'commitment_quantity_set',
        'CommitmentDiscountQuantity and -Unit are not null under a commitment', commitment_quantity_set from counted
    union all select source, billing_month, 'commitment_purchase_free',
        'EffectiveCost of the purchase of a commitment is 0', commitment_purchase_free from counted
    union all select source, billing_month, 'capacity_status_set',
        'CapacityReservationStatus of usage under a reservation is not null', capacity_status_set from counted
    union all select source, billing_month, 'capacity_named',
        'CapacityReservationStatus is null without CapacityReservationId', capacity_named from counted
    union all select source, billing_month, 'sub_account_type_set',
        'SubAccountType is not null where SubAccountId is not', sub_account_type_set from counted
    union all select source, billing_month, 'region_named',
        'RegionName is null exactly where RegionId is', region_named from counted
    union all select source, billing_month, 'resource_identified',
        'ResourceName and ResourceType are null without ResourceId', resource_identified from nameless
    union all select source, billing_month, 'sku_of_price_set',
        'SkuId is not null where SkuPriceId is not', sku_of_price_set from counted
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
