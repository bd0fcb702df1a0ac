-- Combinations of tags and account that charges have, and the containers that machines' charges are shared among.
-- grain: one row per source, month, tag set and sub-account
-- key: source, billing_month, tag_set_id?, sub_account_id?
with charges as (select * from focus.cost_and_usage),
splits as (select * from core.split_cost),
found as (
    select
        charges.x_Source as source,
        charges.x_BillingMonth as billing_month,
        charges.x_TagSetId as tag_set_id,
        charges.SubAccountId as sub_account_id,
        max(charges.SubAccountName) as sub_account_name
    from charges
    group by charges.x_Source, charges.x_BillingMonth, charges.x_TagSetId, charges.SubAccountId
    union all
    select
        splits.source,
        splits.billing_month,
        splits.tag_set_id,
        splits.sub_account_id,
        splits.sub_account_name
    from splits
)

select
    -- The [[source]] of the configuration that delivered the charges
    found.source,
    -- First day of the invoice month
    found.billing_month,
    -- Combination of tags and cost categories: core.tag_set lists them; null without any
    found.tag_set_id,
    -- AWS usage account, GCP project
    found.sub_account_id,
    -- Name of the sub-account, the last in the alphabet where a month has several
    max(found.sub_account_name) as sub_account_name
from found
group by found.source, found.billing_month, found.tag_set_id, found.sub_account_id
