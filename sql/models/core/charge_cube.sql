-- Charges with who pays for them, summed over what no later model tells apart: what every mart is made of. Charges of
-- machines that ran containers are shared among those; charges are counted on the machine.
-- grain: one row per day, accounts, resource, tag set, service, kind of charge, invoice and currency
-- key: source, billing_month, charge_date, provider?, billing_account_id?, sub_account_id?, tag_set_id?,
-- key: resource_id?, parent_resource_id?, region_id?, service_name?, service_category?, charge_category?,
-- key: charge_class?, credit_kind?, commitment_discount_status?, invoice_id?, billing_currency
with sums as (select * from core.charge_sum),
kinds as (select * from core.charge_kind),
shared as (select * from core.split_charge),
attribution as (select * from core.attribution),
used as (select * from core.inputs_used),
parents as (
    select distinct shared.source, shared.billing_month, shared.charge_date, shared.billing_currency,
        shared.parent_resource_id from shared where shared.parent_resource_id is not null
),
whole as (
    select kinds.source, kinds.billing_month, sums.charge_date, kinds.provider, kinds.billing_account_id,
        sums.sub_account_id, sums.tag_set_id, sums.resource_id, cast(null as varchar) as parent_resource_id,
        kinds.region_id, kinds.service_name, kinds.service_category, kinds.charge_category, kinds.charge_class,
        kinds.credit_kind, kinds.commitment_discount_status, kinds.invoice_id, kinds.billing_currency,
        sums.resource_name, sums.billed_cost, sums.effective_cost, sums.list_cost, sums.contracted_cost,
        sums.promotional_credit, sums.charge_rows
    from sums
    inner join kinds on sums.billing_month = kinds.billing_month and sums.kind_number = kinds.kind_number
),
summed as (
    select whole.* from whole left join parents
        on whole.source = parents.source and whole.billing_month = parents.billing_month
        and whole.charge_date = parents.charge_date and whole.billing_currency = parents.billing_currency
        and whole.resource_id = parents.parent_resource_id
    where parents.parent_resource_id is null
    union all
    select shared.* from shared
)

select
    summed.source, summed.billing_month,
    -- Day on which the charge begins, or which its cost is spread over, UTC
    summed.charge_date,
    -- Cloud provider
    summed.provider,
    -- Payer: AWS management account, GCP billing account
    summed.billing_account_id,
    summed.sub_account_id, attribution.sub_account_name, summed.tag_set_id, attribution.project, attribution.team,
    attribution.environment, attribution.workload, attribution.cost_centre, attribution.gl_account,
    attribution.combination_number,
    -- The resource charged for, or the container that bears a part of the charge; null where a charge has none
    summed.resource_id,
    -- Machine whose charge the container bears a part of; null otherwise
    summed.parent_resource_id,
    -- Name of the resource, the last in the alphabet where a day has several
    summed.resource_name, summed.region_id, summed.service_name, summed.service_category, summed.charge_category,
    summed.charge_class, summed.credit_kind,
    -- Unused where the charge is what nothing used of a commitment, else null
    summed.commitment_discount_status, summed.invoice_id,
    -- ISO 4217 code of every amount on the row
    summed.billing_currency,
    -- What the provider bills; ties to the invoice
    summed.billed_cost,
    -- Cost with commitments spread over the usage that they cover; what is unused or prepaid, over time
    summed.effective_cost,
    -- Effective cost before promotional credits
    summed.effective_cost - summed.promotional_credit as cost_before_credits,
    -- Cost at public prices; usage under a commitment has one, so that the commitment's purchase counts nothing
    summed.list_cost,
    -- Cost at negotiated prices, before commitments
    summed.contracted_cost,
    -- Promotional credits within billed_cost; zero or negative
    summed.promotional_credit,
    -- Charges summed in this row; 0 for a container, whose machine's row counts them
    summed.charge_rows
from summed
inner join used on summed.billing_month = used.billing_month
inner join attribution
    on summed.source = attribution.source and summed.billing_month = attribution.billing_month
    and summed.tag_set_id is not distinct from attribution.tag_set_id
    and summed.sub_account_id is not distinct from attribution.sub_account_id
    and attribution.provider is not distinct from case when used.uses_provider then summed.provider end
    and attribution.billing_account_id is not distinct from case when used.uses_payer then summed.billing_account_id end
    and attribution.region_id is not distinct from case when used.uses_region then summed.region_id end
    and attribution.service_name is not distinct from case when used.uses_service then summed.service_name end
    and attribution.charge_category is not distinct from case when used.uses_category then summed.charge_category end
    and attribution.resource_id is not distinct from case when used.uses_resource then summed.resource_id end
