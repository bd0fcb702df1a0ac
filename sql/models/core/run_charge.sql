-- Charges that tell what runs cost: of machines that runs were on, or that name a run by their resource or by a tag.
-- grain: one row per time charged for, what it is charged for and currency
-- key: source, billing_month, evidence, tag_key?, bearer, starts_at, ends_at, billing_currency
with charges as (select * from focus.cost_and_usage),
tags as (select * from core.tag_set),
used as (select * from core.inputs_used),
runs as (select * from usage.run),
nodes as (select * from usage.run_node),
capacities as (select * from usage.capacity),
run_sources as (select * from settings.run_source),
-- Runs of the month, and of those beside it: some use is billed a month late.
run_ids as (
    select distinct runs.run_id, run_sources.run_tag
    from runs
    inner join used
        on runs.started_at < used.billing_month + interval '2' month
        and (runs.ended_at is null or runs.ended_at >= used.billing_month - interval '1' month)
    left join run_sources on runs.source = run_sources.source
),
machines as (
    select nodes.node as resource_id
    from nodes
    inner join used
        on nodes.month >= used.billing_month - interval '1' month
        and nodes.month <= used.billing_month + interval '1' month
    union
    select capacities.instance_id as resource_id
    from capacities
    where capacities.instance_id is not null
),
tagged as (
    select tags.source, tags.billing_month, tags.tag_set_id, tags.tag_key, tags.tag_value as run_id,
        row_number() over (
            partition by tags.source, tags.billing_month, tags.tag_set_id order by tags.tag_key, tags.tag_value
        ) as place
    from tags
    inner join run_ids on tags.tag_key = run_ids.run_tag and tags.tag_value = run_ids.run_id
),
own_ids as (
    select distinct run_ids.run_id
    from run_ids
),
evident as (
    select charges.x_Source as source, charges.x_BillingMonth as billing_month,
        case when own_ids.run_id is not null then 'resource' when tagged.run_id is not null then 'tag'
            else 'machine' end as evidence,
        case when own_ids.run_id is null then tagged.tag_key end as tag_key,
        coalesce(own_ids.run_id, tagged.run_id, charges.ResourceId) as bearer, charges.ChargePeriodStart as starts_at,
        coalesce(charges.ChargePeriodEnd, charges.ChargePeriodStart) as ends_at,
        charges.BillingCurrency as billing_currency, charges.EffectiveCost as effective_cost,
        coalesce(charges.x_PromotionalCredit, 0) as promotional_credit
    from charges
    left join own_ids on charges.ResourceId = own_ids.run_id
    left join tagged
        on charges.x_Source = tagged.source and charges.x_BillingMonth = tagged.billing_month
        and charges.x_TagSetId = tagged.tag_set_id and tagged.place = 1
    left join machines on charges.ResourceId = machines.resource_id
    where charges.ChargeCategory in ('Usage', 'Credit', 'Adjustment')
        and (own_ids.run_id is not null or tagged.run_id is not null or machines.resource_id is not null)
)

select
    -- Source of the charge
    evident.source,
    -- First day of the invoice month
    evident.billing_month,
    -- What ties the charge to runs: resource (it bears the id of one), tag (it names one), machine (they were on it)
    evident.evidence,
    -- Key of the tag that names the run; null where no tag does
    evident.tag_key,
    -- Id of the run, or of the machine
    evident.bearer,
    -- First instant charged for, UTC
    evident.starts_at,
    -- First instant after that
    evident.ends_at,
    -- ISO 4217 code of the cost
    evident.billing_currency,
    -- Effective cost before promotional credits
    sum(evident.effective_cost - evident.promotional_credit) as cost_before_credits
from evident
group by evident.source, evident.billing_month, evident.evidence, evident.tag_key, evident.bearer, evident.starts_at,
    evident.ends_at, evident.billing_currency
