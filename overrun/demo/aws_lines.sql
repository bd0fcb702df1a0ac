-- Metered usage to line items, then the fees, taxes, credits and refunds of the period. Fills `charge`.
create or replace macro plan_arn() as
    'arn:aws:savingsplans::111111111111:savingsplan/2d1f6a0e-6f0c-4f43-9c0e-1f6f4a8e7b21';
create or replace macro reservation_arn() as
    'arn:aws:ec2:us-east-1:333333333333:reserved-instances/8f2c4c1a-53b7-4b0e-a1a5-0d4b7a1c9e33';

-- Acme commits to 22 USD an hour; what covered usage leaves is lost.
create or replace macro plan_commitment() as 22.0;

-- Seven m6i.4xlarge are reserved without upfront fee, six run.
create or replace macro reserved_machines() as 7;

create or replace macro line_id(account_id, starts, key) as
    identifier(concat_ws('/', 'line', account_id, starts, key), 32);

create or replace macro rate_text(rate) as regexp_replace(rate::decimal(18, 10)::varchar, '\.?0+$', '');

create or replace table line_usage as
select
    meter_day.*,
    plan_rate,
    reserved_rate,
    money(amount, rate) as cost,
    money(amount, plan_rate) as plan_cost,
    money(amount, reserved_rate) as reserved_cost,
    instance.family, vcpu, gpu, memory,
    line_id(account_id, day, concat_ws('/', resource_id, usage_type)) as line_id
from meter_day
left join instance using (instance_type);

insert into charge by name
select
    line_id as identity_line_item_id,
    account_id as line_item_usage_account_id,
    zone as line_item_availability_zone,
    description as line_item_line_item_description,
    case purchase when 'plan' then 'SavingsPlanCoveredUsage' when 'reserved' then 'DiscountedUsage' else 'Usage' end
        as line_item_line_item_type,
    operation as line_item_operation,
    product_code as line_item_product_code,
    resource_id as line_item_resource_id,
    if(purchase = 'reserved', 0, cost)::double as line_item_unblended_cost,
    if(purchase = 'reserved', '0', rate_text(rate)) as line_item_unblended_rate,
    amount as line_item_usage_amount,
    day::timestamp as line_item_usage_start_date,
    day + interval 1 day as line_item_usage_end_date,
    usage_type as line_item_usage_type,
    if(purchase = 'reserved', 32.0, null) as line_item_normalization_factor,
    if(purchase = 'reserved', 32.0 * amount, null) as line_item_normalized_usage_amount,
    if(purchase = 'spot', null, cost::double) as pricing_public_on_demand_cost,
    if(purchase = 'spot', null, rate_text(rate)) as pricing_public_on_demand_rate,
    identifier(usage_type, 16).upper() || '.JRTCKXETXF' as pricing_rate_code,
    (('0x' || identifier('rate of ' || usage_type, 8))::ubigint)::varchar as pricing_rate_id,
    case purchase when 'reserved' then 'Reserved' when 'spot' then 'Spot' else 'OnDemand' end as pricing_term,
    unit as pricing_unit,
    map_from_entries(list_filter([
        {'k': 'product_name', 'v': service_name}, {'k': 'region', 'v': 'us-east-1'},
        {'k': 'vcpu', 'v': vcpu::varchar}, {'k': 'memory', 'v': memory},
        {'k': 'gpu', 'v': if(gpu > 0, gpu::varchar, null)},
        {'k': 'operating_system', 'v': if(product_family = 'Compute Instance', 'Linux', null)}
    ], lambda entry: entry.v is not null)) as product,
    family as product_instance_family,
    instance_type as product_instance_type,
    'US East (N. Virginia)' as product_location,
    'AWS Region' as product_location_type,
    operation as product_operation,
    product_family as product_product_family,
    'us-east-1' as product_region_code,
    service_code as product_servicecode,
    identifier(usage_type, 16).upper() as product_sku,
    usage_type as product_usagetype,
    if(purchase = 'reserved', 0.0, null) as reservation_amortized_upfront_cost_for_usage,
    if(purchase = 'reserved', reserved_cost::double, null) as reservation_effective_cost,
    if(purchase = 'reserved', reserved_cost::double, null) as reservation_recurring_fee_for_usage,
    if(purchase = 'reserved', reservation_arn(), null) as reservation_reservation_a_r_n,
    if(purchase = 'plan', plan_arn(), null) as savings_plan_savings_plan_a_r_n,
    if(purchase = 'plan', plan_cost::double, null) as savings_plan_savings_plan_effective_cost,
    if(purchase = 'plan', plan_rate::double, null) as savings_plan_savings_plan_rate,
    if(purchase = 'plan', 'ComputeSavingsPlans', null) as savings_plan_offering_type,
    if(purchase = 'plan', 'No Upfront', null) as savings_plan_payment_option,
    if(purchase = 'plan', '1yr', null) as savings_plan_purchase_term,
    map_from_entries(list_filter([
        {'k': 'user_environment', 'v': environment}, {'k': 'user_project', 'v': project}, {'k': 'user_team', 'v': team}
    ], lambda entry: entry.v is not null)) as resource_tags,
    map_from_entries(list_filter([
        {'k': 'resourceTags/environment', 'v': environment}, {'k': 'resourceTags/project', 'v': project},
        {'k': 'resourceTags/team', 'v': team}
    ], lambda entry: entry.v is not null)) as tags
from line_usage;

-- A negation answers for all covered rows of a day, account, zone and meter, and names no resource.
insert into charge by name
select
    line_id(account_id, day, concat_ws('/', 'negation', zone, usage_type))
        as identity_line_item_id,
    account_id as line_item_usage_account_id,
    zone as line_item_availability_zone,
    'SavingsPlanNegation used by AccountId : ' || account_id || ' and UsageSku : ' || identifier(usage_type, 16).upper()
        as line_item_line_item_description,
    'SavingsPlanNegation' as line_item_line_item_type,
    'RunInstances' as line_item_operation,
    'AmazonEC2' as line_item_product_code,
    -sum(cost)::double as line_item_unblended_cost,
    0.0 as line_item_usage_amount,
    day::timestamp as line_item_usage_start_date,
    day + interval 1 day as line_item_usage_end_date,
    usage_type as line_item_usage_type,
    0.0 as pricing_public_on_demand_cost,
    map {'product_name': 'Amazon Elastic Compute Cloud', 'region': 'us-east-1'} as product,
    'us-east-1' as product_region_code,
    'AmazonEC2' as product_servicecode,
    plan_arn() as savings_plan_savings_plan_a_r_n,
    'ComputeSavingsPlans' as savings_plan_offering_type
from line_usage
where purchase = 'plan'
group by day, account_id, zone, usage_type;

insert into charge by name
select
    line_id('111111111111', day, 'plan fee') as identity_line_item_id,
    '111111111111' as line_item_usage_account_id,
    '1 year No Upfront Compute Savings Plan' as line_item_line_item_description,
    'SavingsPlanRecurringFee' as line_item_line_item_type,
    'ComputeSavingsPlans' as line_item_product_code,
    (24 * plan_commitment())::double as line_item_unblended_cost,
    rate_text(plan_commitment()) as line_item_unblended_rate,
    24.0 as line_item_usage_amount,
    day::timestamp as line_item_usage_start_date,
    day + interval 1 day as line_item_usage_end_date,
    'ComputeSP:1yrNoUpfront' as line_item_usage_type,
    'Hrs' as pricing_unit,
    map {'product_name': 'Savings Plans for AWS Compute usage'} as product,
    plan_arn() as savings_plan_savings_plan_a_r_n,
    'ComputeSavingsPlans' as savings_plan_offering_type,
    'No Upfront' as savings_plan_payment_option,
    '1yr' as savings_plan_purchase_term,
    '2026-03-01T00:00:00.000Z' as savings_plan_start_time,
    '2027-02-28T23:59:59.000Z' as savings_plan_end_time,
    0.0 as savings_plan_amortized_upfront_commitment_for_billing_period,
    (24 * plan_commitment())::double as savings_plan_recurring_commitment_for_billing_period,
    (24 * plan_commitment())::double as savings_plan_total_commitment_to_date,
    sum(plan_cost)::double as savings_plan_used_commitment
from line_usage
where purchase = 'plan'
group by day;

-- The reservation's fee stands on the first instant of the month for all of it; its unused part grows day by day.
insert into charge by name
select
    line_id('333333333333', period_start, 'reservation fee')
        as identity_line_item_id,
    '333333333333' as line_item_usage_account_id,
    'USD 0.48384 hourly fee per Linux/UNIX (Amazon VPC), m6i.4xlarge instance' as line_item_line_item_description,
    'RIFee' as line_item_line_item_type,
    'RunInstances:0002' as line_item_operation,
    'AmazonEC2' as line_item_product_code,
    money(24 * days * reserved_machines(), 0.48384)::double as line_item_unblended_cost,
    '0.48384' as line_item_unblended_rate,
    24.0 * days * reserved_machines() as line_item_usage_amount,
    period_start::timestamp as line_item_usage_start_date,
    period_end::timestamp as line_item_usage_end_date,
    'HeavyUsage:m6i.4xlarge' as line_item_usage_type,
    '1yr' as pricing_lease_contract_length,
    'standard' as pricing_offering_class,
    'No Upfront' as pricing_purchase_option,
    'Reserved' as pricing_term,
    'Hrs' as pricing_unit,
    map {'product_name': 'Amazon Elastic Compute Cloud', 'region': 'us-east-1'} as product,
    'm6i.4xlarge' as product_instance_type,
    'us-east-1' as product_region_code,
    'AmazonEC2' as product_servicecode,
    0.0 as reservation_amortized_upfront_fee_for_billing_period,
    '2026-05-01T00:00:00.000Z' as reservation_start_time,
    '2027-04-30T23:59:59.000Z' as reservation_end_time,
    'Original' as reservation_modification_status,
    '32' as reservation_normalized_units_per_reservation,
    reserved_machines()::varchar as reservation_number_of_reservations,
    reservation_arn() as reservation_reservation_a_r_n,
    '8412076531' as reservation_subscription_id,
    (24 * days * reserved_machines())::varchar as reservation_total_reserved_units,
    (24 * days * reserved_machines() * 32)::varchar as reservation_total_reserved_normalized_units,
    (24 * days)::varchar as reservation_units_per_reservation,
    0.0 as reservation_unused_amortized_upfront_fee_for_billing_period,
    24.0 * elapsed * reserved_machines() - used.hours as reservation_unused_quantity,
    32 * (24.0 * elapsed * reserved_machines() - used.hours) as reservation_unused_normalized_unit_quantity,
    (money(24.0 * elapsed * reserved_machines(), 0.48384) - used.cost)::double as reservation_unused_recurring_fee
from (
    select *, date_diff('day', period_start, period_end) as days, date_diff('day', period_start, through) as elapsed
    from period
)
cross join (
    select sum(amount::decimal(18, 4))::double as hours, sum(reserved_cost) as cost
    from line_usage
    where purchase = 'reserved'
) as used;

-- Tax is computed on what has been metered so far, account by account.
insert into charge by name
select
    line_id(account_id, period_start, 'tax') as identity_line_item_id,
    account_id as line_item_usage_account_id,
    'Tax for product code AmazonEC2 usage type US Sales Tax' as line_item_line_item_description,
    'Tax' as line_item_line_item_type,
    'AmazonEC2' as line_item_product_code,
    'USSalesTax' as line_item_tax_type,
    round(sum(cost) * 0.0625, 2)::double as line_item_unblended_cost,
    1.0 as line_item_usage_amount,
    period_start::timestamp as line_item_usage_start_date,
    period_end::timestamp as line_item_usage_end_date,
    map {'product_name': 'Amazon Elastic Compute Cloud'} as product
from line_usage
cross join period
where purchase in ('demand', 'spot')
group by account_id, period_start, period_end;

insert into charge by name
select
    line_id(account_id, starts, line_type) as identity_line_item_id,
    account_id as line_item_usage_account_id,
    description as line_item_line_item_description,
    line_type as line_item_line_item_type,
    product_code as line_item_product_code,
    usage_type as line_item_usage_type,
    cost::double as line_item_unblended_cost,
    1.0 as line_item_usage_amount,
    starts as line_item_usage_start_date,
    ends as line_item_usage_end_date,
    bill_type as bill_bill_type,
    map {'product_name': product_name} as product
from period
cross join lateral (values
    ('111111111111', 'Fee', 'AWS Support (Business)', 'AWSSupportBusiness', 'AWS Support (Business)', 'Dollar',
        1850.0, period_start::timestamp, period_end::timestamp, 'Anniversary', null),
    ('333333333333', 'Credit', 'AWS Activate promotional credit', 'AmazonBedrock', 'Amazon Bedrock',
        'USE1-Claude3.5Sonnet-output-tokens', -1500.0, period_start + interval 4 day, period_start + interval 5 day,
        'Anniversary', null),
    ('222222222222', 'Refund', 'Refund for training jobs stopped by the provider on 2026-09-17', 'AmazonSageMaker',
        'Amazon SageMaker', 'USE1-Train:ml.p4d.24xlarge', -312.4, period_start + interval 13 day,
        period_start + interval 14 day, 'Refund', date '2026-10-01')
) as given (
    account_id, line_type, description, product_code, product_name, usage_type, cost, starts, ends, bill_type, only_in
)
where (only_in is null or only_in = period_start) and starts < through;

update charge set
    bill_bill_type = coalesce(bill_bill_type, 'Anniversary'),
    bill_billing_entity = 'AWS',
    bill_billing_period_start_date = (select period_start from period),
    bill_billing_period_end_date = (select period_end from period),
    bill_invoice_id = (select invoice_id from period),
    bill_invoicing_entity = 'Amazon Web Services, Inc.',
    bill_payer_account_id = '111111111111',
    bill_payer_account_name = 'acme-payer',
    line_item_legal_entity = 'Amazon Web Services, Inc.',
    line_item_currency_code = 'USD',
    pricing_currency = 'USD',
    line_item_usage_account_name =
        (select account_name from account where account_id = line_item_usage_account_id),
    cost_category = (
        select map {'business_unit': business_unit} from account where account_id = line_item_usage_account_id
    ),
    line_item_blended_cost = line_item_unblended_cost,
    line_item_blended_rate = line_item_unblended_rate,
    identity_time_interval = strftime(line_item_usage_start_date, '%Y-%m-%dT%H:%M:%SZ') || '/'
        || strftime(line_item_usage_end_date, '%Y-%m-%dT%H:%M:%SZ'),
    discount = map {}::map(varchar, double),
    product_usagetype = coalesce(product_usagetype, line_item_usage_type),
    resource_tags = coalesce(resource_tags, map {}::map(varchar, varchar)),
    tags = map_concat(
        coalesce(tags, map {}::map(varchar, varchar)),
        (
            select map {'accountTag/business-unit': business_unit}
            from account
            where account_id = line_item_usage_account_id
        )
    );
