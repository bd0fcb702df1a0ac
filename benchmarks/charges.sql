-- Made-up charges in the shape of a legacy Cost and Usage Report as Athena reads it: 118 columns, of which staging reads
-- less than half. Everything follows from the number of the row, so that the same rows come out every time.
create or replace macro draw(number, salt, below) as (hash(number * 64 + salt) % below)::bigint;

create or replace table service as
select * from (values
    (0, 'AmazonEC2', 'Amazon Elastic Compute Cloud', 'Compute Instance', 'RunInstances', 'Hrs', 'BoxUsage:', 0.0416),
    (1, 'AmazonEC2', 'Amazon Elastic Compute Cloud', 'Compute Instance', 'RunInstances:SV001', 'Hrs', 'SpotUsage:', 0.0129),
    (2, 'AmazonEC2', 'Amazon Elastic Compute Cloud', 'Compute Instance', 'RunInstances:0002', 'Hrs', 'BoxUsage:', 3.06),
    (3, 'AmazonEC2', 'Amazon Elastic Compute Cloud', 'Storage', 'CreateVolume-Gp3', 'GB-Mo', 'EBS:VolumeUsage.gp3', 0.08),
    (4, 'AmazonEC2', 'Amazon Elastic Compute Cloud', 'Storage Snapshot', 'CreateSnapshot', 'GB-Mo', 'EBS:SnapshotUsage', 0.05),
    (5, 'AmazonEC2', 'Amazon Elastic Compute Cloud', 'Data Transfer', 'PublicIP-Out', 'GB', 'DataTransfer-Out-Bytes', 0.09),
    (6, 'AmazonEC2', 'Amazon Elastic Compute Cloud', 'Data Transfer', 'InterZone-In', 'GB', 'DataTransfer-Regional-Bytes', 0.01),
    (7, 'AmazonS3', 'Amazon Simple Storage Service', 'Storage', 'StandardStorage', 'GB-Mo', 'TimedStorage-ByteHrs', 0.023),
    (8, 'AmazonS3', 'Amazon Simple Storage Service', 'API Request', 'PutObject', 'Requests', 'Requests-Tier1', 0.000005),
    (9, 'AmazonS3', 'Amazon Simple Storage Service', 'API Request', 'GetObject', 'Requests', 'Requests-Tier2', 0.0000004),
    (10, 'AWSLambda', 'AWS Lambda', 'Serverless', 'Invoke', 'Lambda-GB-Second', 'Lambda-GB-Second', 0.0000166667),
    (11, 'AWSLambda', 'AWS Lambda', 'Serverless', 'Invoke', 'Requests', 'Request', 0.0000002),
    (12, 'AmazonRDS', 'Amazon Relational Database Service', 'Database Instance', 'CreateDBInstance:0014', 'Hrs', 'InstanceUsage:db.', 0.29),
    (13, 'AmazonSageMaker', 'Amazon SageMaker', 'ML Instance', 'RunInstance', 'Hrs', 'Train:ml.', 4.284),
    (14, 'AmazonCloudWatch', 'AmazonCloudWatch', 'Metric', 'MetricStorage', 'Metrics', 'CW:MetricMonitorUsage', 0.3),
    (15, 'AWSELB', 'Elastic Load Balancing', 'Load Balancer', 'LoadBalancing:Application', 'Hrs', 'LoadBalancerUsage', 0.0225)
) as given (service_id, product_code, product_name, family, operation, unit, usage_type, rate);

create or replace table machine as
select * from (values
    (0, 'm5.xlarge', 'm5', '4', '16 GiB', null, 'Intel Xeon Platinum 8175'),
    (1, 'm6i.2xlarge', 'm6i', '8', '32 GiB', null, 'Intel Xeon 8375C (Ice Lake)'),
    (2, 'c5.4xlarge', 'c5', '16', '32 GiB', null, 'Intel Xeon Platinum 8124M'),
    (3, 'r5.2xlarge', 'r5', '8', '64 GiB', null, 'Intel Xeon Platinum 8175'),
    (4, 't3.medium', 't3', '2', '4 GiB', null, 'Intel Skylake E5 2686 v5'),
    (5, 'g5.xlarge', 'g5', '4', '16 GiB', '1', 'AMD EPYC 7R32'),
    (6, 'p4d.24xlarge', 'p4d', '96', '1152 GiB', '8', 'Intel Xeon Platinum 8275L'),
    (7, 'm7g.large', 'm7g', '2', '8 GiB', null, 'AWS Graviton3 Processor')
) as given (machine_id, instance_type, instance_family, vcpu, memory, gpu, processor);

create or replace table region as
select * from (values
    (0, 'us-east-1', 'US East (N. Virginia)', 'USE1'), (1, 'us-west-2', 'US West (Oregon)', 'USW2'),
    (2, 'eu-west-1', 'EU (Ireland)', 'EU'), (3, 'eu-central-1', 'EU (Frankfurt)', 'EUC1'),
    (4, 'ap-southeast-1', 'Asia Pacific (Singapore)', 'APS1'), (5, 'ap-northeast-1', 'Asia Pacific (Tokyo)', 'APN1')
) as given (region_id, code, location, abbreviation);

-- Tags belong to the resource. Seven in ten have a name of their own, so that nearly every one is a tag set of its own.
create or replace table resource as
select
    number as resource_number,
    (300000000000 + draw(number, 1, 120) * 1234567)::varchar as account_id,
    'acme-' || ['prod', 'dev', 'ml', 'data', 'web', 'sandbox'][1 + draw(number, 1, 120) % 6] || '-' || draw(number, 1, 120)
        as account_name,
    draw(number, 2, 16) as service_id,
    draw(number, 3, 8) as machine_id,
    draw(number, 4, 6) as region_id,
    ['a', 'b', 'c'][1 + draw(number, 5, 3)] as zone,
    substr(md5(number::varchar), 1, 17) as hexadecimal,
    case
        when draw(number, 6, 10) < 7
        then ['trainer', 'api', 'worker', 'etl', 'web', 'cache'][1 + draw(number, 7, 6)] || '-' || number
    end as name_tag,
    case when draw(number, 8, 10) < 8 then 'project-' || draw(number, 9, 60) end as project_tag,
    case when draw(number, 8, 10) < 9 then 'team-' || draw(number, 9, 60) % 12 end as team_tag,
    ['production', 'staging', 'development'][1 + draw(number, 10, 3)] as environment_tag,
    case when draw(number, 11, 2) = 0 then 'CC-' || (1000 + draw(number, 12, 200)) end as cost_centre_tag,
from range(getvariable('resources')) as numbers (number);

-- Two rows of fifty are a covered hour and the negation that cancels it, one is under a reservation.
create or replace macro kind_of(number) as
    case number % 50
        when 0 then 'SavingsPlanCoveredUsage'
        when 1 then 'SavingsPlanNegation'
        when 2 then 'DiscountedUsage'
        else case number % 10007 when 5 then 'Tax' when 7 then 'Credit' when 9 then 'Fee' else 'Usage' end
    end;

create or replace macro plan_arn(number) as
    'arn:aws:savingsplans::111111111111:savingsplan/' || substr(md5((number % 7)::varchar), 1, 8) || '-6f0c-4f43-9c0e-1f6f4a8e7b21';

create or replace macro reservation_arn(number) as
    'arn:aws:ec2:us-east-1:300000000000:reserved-instances/' || substr(md5((number % 40)::varchar), 1, 8) || '-53b7-4b0e-a1a5';

-- A resource runs for twenty hours in a row, its rows scattered over the file. A negation repeats the row before it, so
-- that the two cancel to the last digit.
create or replace macro lines(first_row, after_row) as table
select
    number,
    kind_of(number) as kind,
    number - (number % 50 = 1)::bigint as subject,
    subject * 611953 % (getvariable('resources') * 20) as scattered,
    scattered // 20 as resource_number,
    case when kind in ('SavingsPlanCoveredUsage', 'SavingsPlanNegation', 'DiscountedUsage') then 0 end as forced_service,
    getvariable('billing_month')::timestamp
    + to_hours(draw(resource_number, 21, getvariable('hours') - 20) + scattered % 20) as starts,
    round((1 + draw(subject, 22, 100000)) / 1000.0, 6) as quantity,
from range(first_row, after_row) as numbers (number);

create or replace macro charges(first_row, after_row) as table
select
    md5(number::varchar) as identity_line_item_id,
    strftime(starts, '%Y-%m-%dT%H:00:00Z') || '/' || strftime(starts + interval 1 hour, '%Y-%m-%dT%H:00:00Z')
        as identity_time_interval,
    getvariable('invoice_id') as bill_invoice_id,
    'Amazon Web Services, Inc.' as bill_invoicing_entity,
    'AWS' as bill_billing_entity,
    'Anniversary' as bill_bill_type,
    '111111111111' as bill_payer_account_id,
    getvariable('billing_month')::timestamp as bill_billing_period_start_date,
    getvariable('billing_month')::timestamp + interval 1 month as bill_billing_period_end_date,
    account_id as line_item_usage_account_id,
    kind as line_item_line_item_type,
    starts as line_item_usage_start_date,
    starts + interval 1 hour as line_item_usage_end_date,
    product_code as line_item_product_code,
    abbreviation || '-' || usage_type || case when has_machine then instance_type else '' end
        as line_item_usage_type,
    operation as line_item_operation,
    case when has_machine then code || zone end as line_item_availability_zone,
    case
        when kind in ('SavingsPlanNegation', 'Tax', 'Credit', 'Fee') then null
        when has_machine then 'i-0' || hexadecimal
        when service_id in (3, 4) then 'vol-0' || hexadecimal
        when product_code = 'AmazonS3' then 'acme-bucket-' || substr(hexadecimal, 1, 9)
        else 'arn:aws:' || lower(product_code) || ':' || code || ':' || account_id || ':resource/'
            || hexadecimal
    end as line_item_resource_id,
    quantity as line_item_usage_amount,
    case when has_machine then 8.0 end as line_item_normalization_factor,
    case when has_machine then 8.0 * quantity end as line_item_normalized_usage_amount,
    'USD' as line_item_currency_code,
    rate::varchar as line_item_unblended_rate,
    case kind
        when 'SavingsPlanNegation' then -cost
        when 'DiscountedUsage' then 0
        when 'Credit' then -round(cost * 100, 2)
        else cost
    end as line_item_unblended_cost,
    rate::varchar as line_item_blended_rate,
    cost as line_item_blended_cost,
    case
        when has_machine
        then
            '$' || rate || ' per On Demand Linux ' || instance_type || ' Instance Hour in ' || location
        else
            '$' || rate || ' per ' || unit || ' of ' || usage_type || ' in ' || location
            || ' (tier ' || draw(subject, 23, 40) || ')'
    end as line_item_line_item_description,
    case when kind = 'Tax' then 'USSalesTax' end as line_item_tax_type,
    'Amazon Web Services, Inc.' as line_item_legal_entity,
    product_name as product_product_name,
    cast(null as varchar) as product_alarm_type,
    case when has_machine then 'NA' end as product_capacitystatus,
    case when has_machine then 'NA' end as product_classicnetworkingsupport,
    case when has_machine then '3.1 GHz' end as product_clock_speed,
    case when has_machine then 'Yes' end as product_current_generation,
    cast(null as varchar) as product_database_engine,
    case when has_machine then 'Up to 2120 Mbps' end as product_dedicated_ebs_throughput,
    cast(null as varchar) as product_durability,
    case when has_machine then '16' end as product_ecu,
    case when has_machine then 'Yes' end as product_enhanced_networking_supported,
    cast(null as varchar) as product_from_location,
    cast(null as varchar) as product_from_location_type,
    case when has_machine then gpu end as product_gpu,
    case when has_machine then '24 GB' end as product_gpu_memory,
    family as product_group,
    operation as product_group_description,
    case when has_machine then instance_family end as product_instance_family,
    case when has_machine then instance_type end as product_instance_type,
    case when has_machine then 'Yes' end as product_intel_avx2_available,
    case when has_machine then 'No License required' end as product_license_model,
    location as product_location,
    'AWS Region' as product_location_type,
    cast(null as varchar) as product_max_iopsvolume,
    case when has_machine then memory end as product_memory,
    case when has_machine then 'Up to 10 Gigabit' end as product_network_performance,
    case when has_machine then '8' end as product_normalization_size_factor,
    case when has_machine then 'Linux' end as product_operating_system,
    operation as product_operation,
    case when has_machine then processor end as product_physical_processor,
    case when has_machine then 'NA' end as product_pre_installed_sw,
    case when has_machine then '64-bit' end as product_processor_architecture,
    family as product_product_family,
    code as product_region,
    product_code as product_servicecode,
    product_name as product_servicename,
    upper(substr(md5(code || service_id || case when has_machine then instance_type else '' end), 1, 16))
        as product_sku,
    case when has_machine then 'EBS only' end as product_storage,
    cast(null as varchar) as product_storage_class,
    case when has_machine then 'Shared' end as product_tenancy,
    cast(null as varchar) as product_to_location,
    cast(null as varchar) as product_transfer_type,
    usage_type as product_usagetype,
    case when has_machine then vcpu end as product_vcpu,
    cast(null as varchar) as product_version,
    cast(null as varchar) as product_volume_api_name,
    cast(null as varchar) as product_volume_type,
    cast(null as varchar) as pricing_lease_contract_length,
    cast(null as varchar) as pricing_offering_class,
    cast(null as varchar) as pricing_purchase_option,
    'USD' as pricing_currency,
    product_sku || '.JRTCKXETXF.6YS6EN2CT7' as pricing_rate_code,
    (10000000 + service_id * 1000 + region_id * 10 + machine_id)::varchar as pricing_rate_id,
    case kind when 'DiscountedUsage' then 'Reserved' else 'OnDemand' end as pricing_term,
    unit as pricing_unit,
    cost as pricing_public_on_demand_cost,
    rate::varchar as pricing_public_on_demand_rate,
    case when kind = 'DiscountedUsage' then 0.0 end as reservation_amortized_upfront_cost_for_usage,
    cast(null as double) as reservation_amortized_upfront_fee_for_billing_period,
    cast(null as varchar) as reservation_availability_zone,
    case when kind = 'DiscountedUsage' then cost * 0.6 end as reservation_effective_cost,
    cast(null as varchar) as reservation_end_time,
    cast(null as varchar) as reservation_modification_status,
    cast(null as varchar) as reservation_normalized_units_per_reservation,
    cast(null as varchar) as reservation_number_of_reservations,
    case when kind = 'DiscountedUsage' then round(cost * 0.6, 10) end as reservation_recurring_fee_for_usage,
    case when kind = 'DiscountedUsage' then reservation_arn(number) end as reservation_reservation_a_r_n,
    cast(null as varchar) as reservation_start_time,
    case when kind = 'DiscountedUsage' then '8412076531' end as reservation_subscription_id,
    cast(null as varchar) as reservation_total_reserved_normalized_units,
    cast(null as varchar) as reservation_total_reserved_units,
    cast(null as varchar) as reservation_units_per_reservation,
    cast(null as double) as reservation_unused_amortized_upfront_fee_for_billing_period,
    cast(null as double) as reservation_unused_normalized_unit_quantity,
    cast(null as double) as reservation_unused_quantity,
    cast(null as double) as reservation_unused_recurring_fee,
    cast(null as double) as reservation_upfront_value,
    cast(null as double) as savings_plan_total_commitment_to_date,
    case when kind in ('SavingsPlanCoveredUsage', 'SavingsPlanNegation') then plan_arn(subject) end
        as savings_plan_savings_plan_a_r_n,
    case when kind = 'SavingsPlanCoveredUsage' then round(rate * 0.7, 6) end as savings_plan_savings_plan_rate,
    cast(null as double) as savings_plan_used_commitment,
    case when kind = 'SavingsPlanCoveredUsage' then cost * 0.7 end as savings_plan_savings_plan_effective_cost,
    cast(null as double) as savings_plan_amortized_upfront_commitment_for_billing_period,
    cast(null as double) as savings_plan_recurring_commitment_for_billing_period,
    case when is_tagged then name_tag end as resource_tags_user_name,
    case when is_tagged then project_tag end as resource_tags_user_project,
    case when is_tagged then team_tag end as resource_tags_user_team,
    case when is_tagged then environment_tag end as resource_tags_user_environment,
    case when is_tagged then cost_centre_tag end as resource_tags_user_cost_centre,
from (
    select
        lines.*,
        resource.* exclude (resource_number, service_id, machine_id, region_id),
        service.*,
        machine.*,
        region.*,
        service.service_id in (0, 1, 2, 12, 13) as has_machine,
        round(lines.quantity * service.rate, 10)::double as cost,
        lines.kind not in ('SavingsPlanNegation', 'Tax', 'Credit', 'Fee') as is_tagged,
    from lines(first_row, after_row) as lines
    inner join resource using (resource_number)
    inner join service on service.service_id = coalesce(lines.forced_service, resource.service_id)
    inner join machine using (machine_id)
    inner join region using (region_id)
);
