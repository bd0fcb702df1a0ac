-- Shares of a machine's cost of a day that its containers bear, by what they used and their part of what none did.
-- Shares stand one after the other from 0: a container bears what lies between its two bounds, so that rounded parts
-- add up exactly; what lies above the last bound stays with the machine. Containers that come to more than their
-- machine bear all of it and no more.
-- grain: one row per day, machine, currency and container with a cost, by its tag set and account
-- key: source, billing_month, charge_date, billing_currency, parent_resource_id, resource_id?, tag_set_id?,
-- key: sub_account_id?
with splits as (select * from core.split_cost),
charges as (select * from focus.cost_and_usage),
children as (
    select splits.source, splits.billing_month, splits.charge_date, splits.billing_currency,
        splits.parent_resource_id, splits.resource_id, splits.tag_set_id, splits.sub_account_id,
        sum(splits.split_cost + splits.unused_cost) as split_cost
    from splits
    group by splits.source, splits.billing_month, splits.charge_date, splits.billing_currency,
        splits.parent_resource_id, splits.resource_id, splits.tag_set_id, splits.sub_account_id
    having sum(splits.split_cost + splits.unused_cost) > 0
),
parents as (
    select children.source, children.billing_month, children.charge_date, children.billing_currency,
        children.parent_resource_id, sum(children.split_cost) as split_cost
    from children
    group by children.source, children.billing_month, children.charge_date, children.billing_currency,
        children.parent_resource_id
),
parents_charged as (
    select parents.source, parents.billing_month, parents.charge_date, parents.billing_currency,
        parents.parent_resource_id, parents.split_cost, sum(charges.EffectiveCost) as effective_cost
    from charges
    inner join parents
        on charges.x_Source = parents.source
        and charges.x_BillingMonth = parents.billing_month
        and cast(charges.ChargePeriodStart as date) = parents.charge_date
        and charges.BillingCurrency = parents.billing_currency
        and charges.ResourceId = parents.parent_resource_id
    group by parents.source, parents.billing_month, parents.charge_date, parents.billing_currency,
        parents.parent_resource_id, parents.split_cost
),
running as (
    select children.*,
        case
            when parents_charged.effective_cost > parents_charged.split_cost then parents_charged.effective_cost
            else parents_charged.split_cost
        end as whole_cost,
        sum(children.split_cost) over (
            partition by children.source, children.billing_month, children.charge_date, children.billing_currency,
                children.parent_resource_id
            order by children.resource_id nulls first, children.tag_set_id nulls first,
                children.sub_account_id nulls first
            rows between unbounded preceding and current row
        ) as until_cost
    from children
    inner join parents_charged
        on children.source = parents_charged.source
        and children.billing_month = parents_charged.billing_month
        and children.charge_date = parents_charged.charge_date
        and children.billing_currency = parents_charged.billing_currency
        and children.parent_resource_id = parents_charged.parent_resource_id
),
bounded as (
    select running.*, running.until_cost - running.split_cost as from_cost
    from running
)

select
    -- The [[source]] of the configuration that delivered the charges
    bounded.source,
    -- First day of the invoice month
    bounded.billing_month,
    -- Day of the usage, UTC
    bounded.charge_date,
    -- ISO 4217 code of every amount on the row
    bounded.billing_currency,
    -- Machine that the container ran on
    bounded.parent_resource_id,
    -- Container: pod or task
    bounded.resource_id,
    -- Combination of tags of the container
    bounded.tag_set_id,
    -- AWS usage account of the container
    bounded.sub_account_id,
    -- What the provider says that the container took, unused part included
    bounded.split_cost,
    -- Lower bound of its share, from 0
    cast(cast(bounded.from_cost as double) / cast(bounded.whole_cost as double) as decimal(13, 12)) as share_from,
    -- Upper bound of its share, 1 at most
    cast(cast(bounded.until_cost as double) / cast(bounded.whole_cost as double) as decimal(13, 12)) as share_until
from bounded
