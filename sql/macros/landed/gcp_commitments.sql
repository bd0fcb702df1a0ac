-- What a row of a Cloud Billing export has to do with commitments.
-- Source: Cloud Billing documentation, "Understand the committed use discount data in your export".

-- Whether a row is the fee of a commitment, and of which sort: resource (an amount of cores, memory, GPUs) or spend.
-- The first letters are looked at first: hardly any row is a fee.
create or replace temporary macro gcp_fee_kind(kind, sku_description, global_name, credits) as
    case
        when kind <> 'regular' then null
        when starts_with(sku_description, 'Commitment')
            and regexp_matches(sku_description, '^Commitment - dollar based')
        then 'spend'
        when contains(credits, '"FEE_UTILIZATION_OFFSET"') then 'spend'
        when starts_with(sku_description, 'Commitment') and regexp_matches(sku_description, '^Commitment( v\d+)?:')
        then 'resource'
        when contains(global_name, 'project_commitments') then 'resource'
    end;

-- The usage that the fee of a spend commitment is good for, at the price without it: hundredths of a US dollar in pricing
-- units where the export publishes them, which shows in a discount that there can be, else by the discount in the price
-- list. Null where neither is known.
create or replace temporary macro gcp_spend_capacity(fee, conversion_rate, pricing_units, discount) as
    case
        when pricing_units > 0 and 1 - fee / (pricing_units / 100 * coalesce(conversion_rate, 1)) between 0.05 and 0.75
        then pricing_units / 100 * coalesce(conversion_rate, 1)
        else fee / (1 - discount)
    end;

-- The id of a subscription, as every table of the provider has it.
create or replace temporary macro gcp_subscription(instance_id) as
    nullif(case when starts_with(instance_id, 'subscriptions/') then substr(instance_id, 15) else instance_id end, '');

-- The discount of a spend commitment: the first that is configured for its service and SKU, else the published one. The
-- variable `commitment_discounts` holds those of the month that is loaded.
create or replace temporary macro gcp_spend_discount(service_name, sku_description) as
    coalesce(
        list_filter(
            cast(
                getvariable('commitment_discounts')
                as struct(service_pattern varchar, sku_pattern varchar, discount decimal(13, 12))[]
            ),
            lambda configured: coalesce(service_name, '') like configured.service_pattern escape '\'
            and coalesce(sku_description, '') like configured.sku_pattern escape '\'
        )[1].discount,
        focus.gcp_commitment_discount(service_name, sku_description)
    )
