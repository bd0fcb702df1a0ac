-- Values that meet a condition of a split, each tried once: those of the month's costs, and names that splits give to.
-- grain: one row per split, part of it, dimension and value that meets the condition on it
-- key: billing_month, split_number, part, dimension, value
with groups as (select * from core.cost_group),
conditions as (select * from settings.split_condition),
recipients as (select * from settings.split_recipient),
quantities as (select * from settings.split_usage),
splits as (select * from settings.split),
owners as (select * from settings.owner),
team_projects as (select * from settings.team_project),
months as (
    select distinct groups.billing_month
    from groups
),
given as (
    select 'project' as dimension, team_projects.project as value from team_projects
    union all
    select 'team' as dimension, team_projects.team as value from team_projects
    union all
    select 'team' as dimension, owners.team as value from owners
    union all
    select 'cost_centre' as dimension, owners.cost_centre as value from owners
    union all
    select splits.recipient_dimension as dimension, recipients.exact_name as value
    from recipients
    inner join splits on recipients.split_number = splits.split_number
    union all
    select splits.recipient_dimension as dimension, quantities.recipient as value
    from quantities
    inner join splits on quantities.split_number = splits.split_number
    union all
    select 'team' as dimension, 'unattributed' as value
    union all
    select 'cost_centre' as dimension, 'unattributed' as value
),
present as (
    select months.billing_month, given.dimension, given.value from given cross join months
    union
    select groups.billing_month, 'provider' as dimension, groups.provider as value from groups
    union
    select groups.billing_month, 'billing_account' as dimension, groups.billing_account_id as value from groups
    union
    select groups.billing_month, 'project' as dimension, groups.project as value from groups
    union
    select groups.billing_month, 'team' as dimension, groups.team as value from groups
    union
    select groups.billing_month, 'environment' as dimension, groups.environment as value from groups
    union
    select groups.billing_month, 'workload' as dimension, groups.workload as value from groups
    union
    select groups.billing_month, 'cost_centre' as dimension, groups.cost_centre as value from groups
    union
    select groups.billing_month, 'service' as dimension, groups.service_name as value from groups
    union
    select groups.billing_month, 'service_category' as dimension, groups.service_category as value from groups
    union
    select groups.billing_month, 'charge_category' as dimension, groups.charge_category as value from groups
    union
    select groups.billing_month, 'commitment_status' as dimension, groups.commitment_discount_status as value
    from groups
)

select distinct
    present.billing_month,
    -- Split, in the order of the configuration, from 1
    conditions.split_number,
    -- share: which costs are shared; of: which costs the shares are in proportion to
    conditions.part,
    -- What the condition looks at
    present.dimension,
    -- A value that meets it
    present.value
from present
inner join conditions
    on present.dimension = conditions.dimension and present.value like conditions.pattern escape '\'
