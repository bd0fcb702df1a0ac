-- What each resource cost on each day and who pays; charges without a resource have a null resource_id. Containers
-- stand beside their machine, which keeps what they do not bear.
-- grain: one row per day, accounts, resource, tag set, service, kind of charge, invoice and currency; people sum
-- key: source, billing_month, charge_date, provider?, billing_account_id?, sub_account_id?, tag_set_id?,
-- key: resource_id?, parent_resource_id?, region_id?, service_name?, service_category?, charge_category?,
-- key: charge_class?, credit_kind?, invoice_id?, billing_currency
-- materialized: view
with charges as (select * from core.charge_cube)

select
    charges.source,
    charges.billing_month,
    charges.charge_date,
    charges.provider,
    charges.billing_account_id,
    charges.sub_account_id,
    charges.sub_account_name,
    charges.tag_set_id,
    charges.project,
    charges.team,
    charges.environment,
    charges.workload,
    charges.cost_centre,
    charges.resource_id,
    charges.parent_resource_id,
    charges.resource_name,
    charges.region_id,
    charges.service_name,
    charges.service_category,
    charges.charge_category,
    charges.charge_class,
    charges.credit_kind,
    charges.invoice_id,
    charges.billing_currency,
    charges.billed_cost,
    charges.effective_cost,
    charges.cost_before_credits,
    charges.list_cost,
    charges.charge_rows
from charges
