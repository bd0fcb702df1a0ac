-- The detailed usage cost export of one invoice month, with every field of the table. TIMESTAMP and NUMERIC are text,
-- as BigQuery writes them to JSON.
create or replace table export_row (
    billing_account_id varchar,
    service struct(id varchar, description varchar),
    sku struct(id varchar, description varchar),
    usage_start_time varchar,
    usage_end_time varchar,
    project struct(
        id varchar, number varchar, name varchar, ancestry_numbers varchar,
        ancestors struct(resource_name varchar, display_name varchar)[],
        labels struct(key varchar, value varchar)[]
    ),
    labels struct(key varchar, value varchar)[],
    system_labels struct(key varchar, value varchar)[],
    location struct(location varchar, country varchar, region varchar, zone varchar),
    resource struct(name varchar, global_name varchar),
    tags struct(key varchar, value varchar, inherited boolean, namespace varchar)[],
    price struct(
        effective_price varchar, tier_start_amount varchar, unit varchar, pricing_unit_quantity varchar,
        list_price varchar, effective_price_default varchar, list_price_consumption_model varchar
    ),
    subscription struct(instance_id varchar),
    transaction_type varchar,
    seller_name varchar,
    export_time varchar,
    cost double,
    currency varchar,
    currency_conversion_rate double,
    usage struct(amount double, unit varchar, amount_in_pricing_units double, pricing_unit varchar),
    credits struct(id varchar, full_name varchar, type varchar, name varchar, amount double)[],
    invoice struct(month varchar, publisher_type varchar),
    cost_type varchar,
    adjustment_info struct(id varchar, description varchar, mode varchar, type varchar),
    cost_at_list double,
    cost_at_effective_price_default varchar,
    cost_at_list_consumption_model varchar,
    consumption_model struct(id varchar, description varchar)
);
