-- Charges of machines that ran containers, shared among those: each amount times the share, the rest with the machine.
-- grain: one row per day, machine or container, accounts, tag set, service, kind of charge, invoice and currency
-- key: source, billing_month, charge_date, provider?, billing_account_id?, sub_account_id?, tag_set_id?, resource_id?,
-- key: parent_resource_id?, region_id?, service_name?, service_category?, charge_category?, charge_class?,
-- key: credit_kind?, invoice_id?, billing_currency
with shares as (select * from core.split_share),
machines as (select * from core.split_machine),
parents as (
    select shares.source, shares.billing_month, shares.charge_date, shares.billing_currency,
        shares.parent_resource_id, max(shares.share_until) as share_until
    from shares
    group by shares.source, shares.billing_month, shares.charge_date, shares.billing_currency,
        shares.parent_resource_id
),
bearers as (
    select shares.source, shares.billing_month, shares.charge_date, shares.billing_currency,
        shares.parent_resource_id, shares.resource_id, shares.tag_set_id, shares.sub_account_id, shares.share_from,
        shares.share_until, false as is_parent
    from shares
    union all
    select parents.source, parents.billing_month, parents.charge_date, parents.billing_currency,
        parents.parent_resource_id, parents.parent_resource_id as resource_id, null as tag_set_id,
        null as sub_account_id, parents.share_until as share_from, cast(1 as decimal(13, 12)) as share_until,
        true as is_parent
    from parents
),
borne as (
    select machines.source, machines.billing_month, machines.charge_date, machines.provider,
        machines.billing_account_id,
        case when bearers.is_parent then machines.sub_account_id else bearers.sub_account_id end as sub_account_id,
        case when bearers.is_parent then machines.tag_set_id else bearers.tag_set_id end as tag_set_id,
        bearers.resource_id, case when not bearers.is_parent then bearers.parent_resource_id end as parent_resource_id,
        case when bearers.is_parent then machines.resource_name end as resource_name,
        machines.region_id, machines.service_name, machines.service_category, machines.charge_category,
        machines.charge_class, machines.credit_kind, machines.invoice_id, machines.billing_currency,
        cast(machines.billed_cost * bearers.share_until as decimal(38, 12))
        - cast(machines.billed_cost * bearers.share_from as decimal(38, 12)) as billed_cost,
        cast(machines.effective_cost * bearers.share_until as decimal(38, 12))
        - cast(machines.effective_cost * bearers.share_from as decimal(38, 12)) as effective_cost,
        cast(machines.list_cost * bearers.share_until as decimal(38, 12))
        - cast(machines.list_cost * bearers.share_from as decimal(38, 12)) as list_cost,
        cast(machines.contracted_cost * bearers.share_until as decimal(38, 12))
        - cast(machines.contracted_cost * bearers.share_from as decimal(38, 12)) as contracted_cost,
        cast(machines.promotional_credit * bearers.share_until as decimal(38, 12))
        - cast(machines.promotional_credit * bearers.share_from as decimal(38, 12)) as promotional_credit,
        case when bearers.is_parent then machines.charge_rows else 0 end as charge_rows
    from machines
    inner join bearers
        on machines.source = bearers.source
        and machines.billing_month = bearers.billing_month
        and machines.charge_date = bearers.charge_date
        and machines.billing_currency = bearers.billing_currency
        and machines.resource_id = bearers.parent_resource_id
)

select borne.source, borne.billing_month, borne.charge_date, borne.provider, borne.billing_account_id,
    borne.sub_account_id, borne.tag_set_id, borne.resource_id, borne.parent_resource_id, borne.region_id,
    borne.service_name, borne.service_category, borne.charge_category, borne.charge_class, borne.credit_kind,
    -- Null, since what nothing used of a commitment is no machine's
    cast(null as varchar) as commitment_discount_status,
    borne.invoice_id, borne.billing_currency, max(borne.resource_name) as resource_name,
    sum(borne.billed_cost) as billed_cost, sum(borne.effective_cost) as effective_cost,
    sum(borne.list_cost) as list_cost, sum(borne.contracted_cost) as contracted_cost,
    sum(borne.promotional_credit) as promotional_credit, cast(sum(borne.charge_rows) as bigint) as charge_rows
from borne
group by borne.source, borne.billing_month, borne.charge_date, borne.provider, borne.billing_account_id,
    borne.sub_account_id, borne.tag_set_id, borne.resource_id, borne.parent_resource_id, borne.region_id,
    borne.service_name, borne.service_category, borne.charge_category, borne.charge_class, borne.credit_kind,
    borne.invoice_id, borne.billing_currency
