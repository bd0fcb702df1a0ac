-- check: what containers bear and what stays with their machine is what the machine was charged, exactly
with machines as (
    select distinct source, billing_month, charge_date, billing_currency, parent_resource_id
    from core.split_share
),
built as (
    select
        source,
        billing_month,
        charge_date,
        billing_currency,
        coalesce(parent_resource_id, resource_id) as machine,
        sum(billed_cost) as billed_cost,
        sum(effective_cost) as effective_cost,
        sum(list_cost) as list_cost,
        sum(contracted_cost) as contracted_cost,
        sum(promotional_credit) as promotional_credit,
        sum(charge_rows) as charge_rows
    from core.split_charge
    group by source, billing_month, charge_date, billing_currency, coalesce(parent_resource_id, resource_id)
),
given as (
    select
        machines.source,
        machines.billing_month,
        machines.charge_date,
        machines.billing_currency,
        machines.parent_resource_id as machine,
        sum(charges.BilledCost) as billed_cost,
        sum(charges.EffectiveCost) as effective_cost,
        sum(charges.ListCost) as list_cost,
        sum(charges.ContractedCost) as contracted_cost,
        coalesce(sum(charges.x_PromotionalCredit), 0) as promotional_credit,
        count(*) as charge_rows
    from machines
    inner join focus.cost_and_usage as charges
        on machines.source = charges.x_Source
        and machines.billing_month = charges.x_BillingMonth
        and machines.charge_date = cast(charges.ChargePeriodStart as date)
        and machines.billing_currency = charges.BillingCurrency
        and machines.parent_resource_id = charges.ResourceId
    group by
        machines.source,
        machines.billing_month,
        machines.charge_date,
        machines.billing_currency,
        machines.parent_resource_id
)
select * from built except select * from given
union all
(select * from given except select * from built)
-- check: no machine bears more than its whole, nor less than nothing
select *
from core.split_share
where share_from < 0 or share_until < share_from or share_until > 1
