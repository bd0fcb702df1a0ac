-- Usage that checks for waste look at, with what it means and who owns it, sorted so that a check reads little else.
-- grain: one row of core.waste_charge
-- key: source, billing_month, charge_date, provider?, billing_account_id?, sub_account_id?, tag_set_id?, region_id?,
-- key: service_name?, charge_category?, resource_id?, charged_resource_id?, meaning, usage_type?, service_code?,
-- key: operation?, hour_of_day?, billing_currency
with charges as (select * from core.waste_charge),
meanings as (select * from core.usage_meaning),
attribution as (select * from core.attribution),
used as (select * from core.inputs_used)

select charges.source, charges.billing_month, charges.charge_date, charges.provider, charges.billing_account_id,
    charges.sub_account_id, charges.region_id, charges.tag_set_id, charges.service_name, charges.charge_category,
    -- The resource charged for; the commitment where nothing used it
    coalesce(charges.commitment_id, charges.resource_id) as resource_id,
    -- The resource as the charge names it
    charges.resource_id as charged_resource_id,
    attribution.project, attribution.team,
    -- What it is: nat_hours, disk and so on; unused_commitment
    coalesce(meanings.meaning, 'unused_commitment') as meaning, meanings.detail, meanings.usage_type,
    meanings.service_code, charges.operation, charges.hour_of_day, charges.billing_currency, charges.quantity,
    -- The same times the days of the month: a day is charged its part of what is priced by the month
    charges.quantity
    * date_diff('day', charges.billing_month, cast(charges.billing_month + interval '1' month as date))
        as monthly_quantity,
    charges.cost_before_credits, charges.covered_cost, charges.demand_cost, charges.list_cost
from charges
inner join used on charges.billing_month = used.billing_month
left join meanings
    on charges.billing_month = meanings.billing_month and charges.meaning_key = meanings.meaning_key
inner join attribution
    on charges.source = attribution.source and charges.billing_month = attribution.billing_month
    and charges.tag_set_id is not distinct from attribution.tag_set_id
    and charges.sub_account_id is not distinct from attribution.sub_account_id
    and attribution.provider is not distinct from case when used.uses_provider then charges.provider end
    and attribution.billing_account_id is not distinct from
        case when used.uses_payer then charges.billing_account_id end
    and attribution.region_id is not distinct from case when used.uses_region then charges.region_id end
    and attribution.service_name is not distinct from case when used.uses_service then charges.service_name end
    and attribution.charge_category is not distinct from case when used.uses_category then charges.charge_category end
    and attribution.resource_id is not distinct from case when used.uses_resource then charges.resource_id end
order by coalesce(meanings.meaning, 'unused_commitment')
