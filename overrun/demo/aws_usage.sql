-- Metered usage of one billing period, one row per day, resource and meter. Reads the tables of aws_fleet.sql and
-- `period` (period_start, period_end, through: the first day that is not delivered yet, invoice_id).
create or replace table usage_day as
select unnest(generate_series(period_start, through - 1, interval 1 day))::date as day from period;

create or replace table machine as
select
    fleet.* exclude (hours),
    day,
    fleet || '-' || n as machine,
    'us-east-1' || ['a', 'b', 'c'][1 + n % 3] as zone,
    round(case
        when purchase in ('plan', 'reserved') and weekend_share = 1 then hours
        else least(24, hours
            * if(is_weekend(day), weekend_share, 1)
            * (0.94 + 0.12 * noise(concat_ws('/', 'machine', fleet, n, day))))
    end, 4) as hours
from fleet
cross join usage_day
cross join lateral (select unnest(generate_series(1, machines)) as n)
where n <= greatest(1, machines * (1 - growth + growth * progress(day)));

create or replace table training_job as
select
    training.*,
    day,
    project || strftime(day, '-%Y%m%d-') || lpad(n::varchar, 2, '0') as job,
    round(instances * hours * (0.75 + growth * progress(day))
        * (0.7 + 0.6 * noise(concat_ws('/', 'job', project, n, day))), 6) as instance_hours
from training
cross join usage_day
cross join lateral (select unnest(generate_series(1, jobs)) as n)
where not is_weekend(day) or n <= jobs * weekend_share;

create or replace table meter_day (
    day date, account_id varchar, product_code varchar, service_code varchar, service_name varchar,
    usage_type varchar, operation varchar, resource_id varchar, zone varchar, amount double, rate double, unit varchar,
    description varchar, product_family varchar, instance_type varchar, project varchar, team varchar,
    environment varchar, purchase varchar
);

insert into meter_day by name
select
    day, account_id, 'AmazonEC2' as product_code, 'AmazonEC2' as service_code,
    'Amazon Elastic Compute Cloud' as service_name,
    if(purchase = 'spot', 'SpotUsage:', 'BoxUsage:') || instance_type as usage_type, 'RunInstances' as operation,
    'i-0' || identifier(machine, 16) as resource_id, zone, hours as amount,
    round(if(purchase = 'spot', 0.4, 1) * demand_rate, 6) as rate, 'Hrs' as unit,
    format(
        '${:.4f} per {} Linux {} Instance Hour',
        if(purchase = 'spot', 0.4, 1) * demand_rate, if(purchase = 'spot', 'Spot', 'On Demand'), instance_type
    ) as description,
    'Compute Instance' as product_family, instance_type, project, team, environment, purchase
from machine
join instance using (instance_type)
where hours > 0;

insert into meter_day by name
select
    day, account_id, 'AmazonEC2' as product_code, 'AmazonEC2' as service_code,
    'Amazon Elastic Compute Cloud' as service_name, 'EBS:VolumeUsage.gp3' as usage_type,
    'CreateVolume-Gp3' as operation, 'vol-0' || identifier('volume of ' || machine, 16) as resource_id, zone,
    round(volume_gb / date_diff('day', period_start, period_end), 8) as amount, 0.08 as rate, 'GB-Mo' as unit,
    '$0.08 per GB-month of General Purpose (gp3) provisioned storage - US East (N. Virginia)' as description,
    'Storage' as product_family, project, team, environment, 'demand' as purchase
from machine
cross join period;

insert into meter_day by name
select
    day, account_id, 'AmazonEC2' as product_code, 'AWSDataTransfer' as service_code,
    'AWS Data Transfer' as service_name,
    'DataTransfer-' || direction as usage_type, 'RunInstances' as operation,
    'i-0' || identifier(machine, 16) as resource_id, zone,
    round(share * egress_gb / 30 * hours / 24
        * (0.7 + 0.6 * noise(concat_ws('/', direction, machine, day))), 8) as amount,
    price as rate, 'GB' as unit, format('${:.3f} per GB - {}', price, meaning) as description,
    'Data Transfer' as product_family, project, team, environment, 'demand' as purchase
from machine
cross join (values
    ('Out-Bytes', 1.0, 0.09, 'data transfer out to the internet'),
    ('Regional-Bytes', 4.0, 0.01, 'regional data transfer between zones')
) as path (direction, share, price, meaning)
where hours > 0;

insert into meter_day by name
select
    day, account_id, 'AmazonSageMaker' as product_code, 'AmazonSageMaker' as service_code,
    'Amazon SageMaker' as service_name, 'USE1-Train:' || instance_type as usage_type, 'RunInstance' as operation,
    format('arn:aws:sagemaker:us-east-1:{}:training-job/{}', account_id, job) as resource_id,
    instance_hours as amount, rate, 'Hrs' as unit,
    format('${:.4f} per Training {} hour in US East (N. Virginia)', rate, instance_type) as description,
    'ML Instance' as product_family, instance_type, project, team, 'training' as environment, 'demand' as purchase
from training_job;

insert into meter_day by name
select
    day, account_id, 'AmazonSageMaker' as product_code, 'AmazonSageMaker' as service_code,
    'Amazon SageMaker' as service_name, 'USE1-Host:ml.g5.xlarge' as usage_type, 'RunInstance' as operation,
    format('arn:aws:sagemaker:us-east-1:{}:endpoint/{}', account_id, endpoint) as resource_id,
    round(24 * instances * if(is_weekend(day), 0.75, 1), 4) as amount, 1.408 as rate, 'Hrs' as unit,
    '$1.408 per Hosting ml.g5.xlarge hour in US East (N. Virginia)' as description,
    'ML Instance' as product_family, 'ml.g5.xlarge' as instance_type, project, team, 'production' as environment,
    'demand' as purchase
from endpoint
cross join usage_day;

insert into meter_day by name
select
    day, account_id, 'AmazonSageMaker' as product_code, 'AmazonSageMaker' as service_code,
    'Amazon SageMaker' as service_name, 'USE1-Hst:Data-Bytes-In' as usage_type, 'InvokeEndpoint' as operation,
    format('arn:aws:sagemaker:us-east-1:{}:endpoint/{}', account_id, endpoint) as resource_id,
    round(gb * (0.8 + 0.4 * noise(concat_ws('/', 'traffic', endpoint, day))), 6) as amount, 0.016 as rate, 'GB' as unit,
    '$0.016 per GB for Endpoint Data IN in US East (N. Virginia)' as description,
    'ML Instance' as product_family, project, team, 'production' as environment, 'demand' as purchase
from endpoint
join endpoint_traffic using (endpoint)
cross join usage_day;

insert into meter_day by name
select
    day, account_id, 'AmazonEC2' as product_code, 'AmazonEC2' as service_code,
    'Amazon Elastic Compute Cloud' as service_name, usage_type, operation, resource_id, 24.0 as amount, rate,
    'Hrs' as unit, description, product_family, project, team, 'development' as environment, 'demand' as purchase
from idle_thing
cross join usage_day;

insert into meter_day by name
select
    day, account_id, 'AmazonBedrock' as product_code, 'AmazonBedrock' as service_code,
    'Amazon Bedrock' as service_name,
    format('USE1-Claude3.5Sonnet-{}-tokens', direction) as usage_type, 'InvokeModelStreamingInference' as operation,
    format('arn:aws:bedrock:us-east-1:{}:application-inference-profile/{}', account_id, identifier(project, 12))
        as resource_id,
    round(thousands * if(is_weekend(day), 0.45, 1) * (0.8 + 0.4 * progress(day))
        * (0.93 + 0.14 * noise(concat_ws('/', project, direction, day))), 3) as amount,
    rate, '1K tokens' as unit,
    format('${:.3f} per 1K {} tokens for Claude 3.5 Sonnet', rate, direction) as description,
    'Amazon Bedrock' as product_family, project, team, 'production' as environment, 'demand' as purchase
from token_stream
cross join usage_day;

insert into meter_day by name
select
    day, account_id, 'AmazonS3' as product_code, 'AmazonS3' as service_code,
    'Amazon Simple Storage Service' as service_name, usage_type, operation, bucket as resource_id,
    round(share * stored_gb * (1 - growth + growth * progress(day)) / date_diff('day', period_start, period_end)
        * if(unit = 'GB-Mo', 1, 0.8 + 0.4 * noise(concat_ws('/', bucket, usage_type, day))), 6) as amount,
    price as rate, unit, meaning as description, family as product_family, project, team, 'production' as environment,
    'demand' as purchase
from bucket
cross join usage_day
cross join period
cross join (values
    ('TimedStorage-ByteHrs', 'StandardStorage', 1.0, 0.022, 'GB-Mo',
        '$0.022 per GB - next 450 TB / month of storage used', 'Storage'),
    ('Requests-Tier1', 'PutObject', 60.0, 0.000005, 'Requests',
        '$0.005 per 1,000 PUT, COPY, POST, or LIST requests', 'API Request'),
    ('Requests-Tier2', 'GetObject', 900.0, 0.0000004, 'Requests',
        '$0.004 per 10,000 GET and all other requests', 'API Request')
) as meter (usage_type, operation, share, price, unit, meaning, family);

insert into meter_day by name
select
    day, account_id, 'AmazonRDS' as product_code, 'AmazonRDS' as service_code,
    'Amazon Relational Database Service' as service_name, usage_type, 'CreateDBInstance:0014' as operation,
    format('arn:aws:rds:us-east-1:{}:db:{}', account_id, database) as resource_id, amount, price as rate, unit,
    meaning as description, family as product_family, if(unit = 'Hrs', instance_type, null) as instance_type,
    project, team, 'production' as environment, 'demand' as purchase
from database
cross join usage_day
cross join period
cross join lateral (values
    ('InstanceUsage:' || instance_type, 24.0, rate, 'Hrs',
        format('${:.3f} per {} Single-AZ instance hour running PostgreSQL', rate, instance_type), 'Database Instance'),
    ('RDS:GP3-Storage', round(stored_gb / date_diff('day', period_start, period_end), 8), 0.115, 'GB-Mo',
        '$0.115 per GB-month of provisioned gp3 storage running PostgreSQL', 'Database Storage')
) as meter (usage_type, amount, price, unit, meaning, family);
