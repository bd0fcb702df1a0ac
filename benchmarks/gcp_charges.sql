-- Made-up charges in the shape of a detailed Cloud Billing export, as BigQuery writes it to parquet: records and lists.
-- Everything follows from the number of the row, so that the same rows come out every time.
create or replace macro draw(number, salt, below) as (hash(number * 64 + salt) % below)::bigint;

create or replace table sku as
select * from (values
    (0, '6F81-5844-456A', 'Compute Engine', 'CF4E-A0C7-E3BF', 'N1 Predefined Instance Core running in ', 'seconds', 'hour', 3600.0, 0.031611),
    (1, '6F81-5844-456A', 'Compute Engine', '10F9-BB7F-CC71', 'N1 Predefined Instance Ram running in ', 'byte-seconds', 'gibibyte hour', 3865470566400.0, 0.004237),
    (2, '6F81-5844-456A', 'Compute Engine', '039F-D0DA-4055', 'A2 Instance Core running in ', 'seconds', 'hour', 3600.0, 0.0316),
    (3, '6F81-5844-456A', 'Compute Engine', 'B390-2AD1-2D1B', 'Nvidia Tesla A100 GPU running in ', 'seconds', 'hour', 3600.0, 2.933908),
    (4, '6F81-5844-456A', 'Compute Engine', 'D0A0-27E3-4B7F', 'Storage PD Capacity in ', 'byte-seconds', 'gibibyte month', 2.78e15, 0.04),
    (5, '6F81-5844-456A', 'Compute Engine', '9DE9-9092-B3BC', 'Network Inter Zone Egress in ', 'bytes', 'gibibyte', 1073741824.0, 0.01),
    (6, '95FF-2EF5-5EA1', 'Cloud Storage', 'E5F0-6A5D-7BAD', 'Standard Storage in ', 'byte-seconds', 'gibibyte month', 2.78e15, 0.02),
    (7, '95FF-2EF5-5EA1', 'Cloud Storage', '4DBF-185F-A415', 'Regional Standard Class B Operations in ', 'requests', 'count', 1.0, 0.0000004),
    (8, '24E6-581D-38E5', 'BigQuery', '3362-E469-6BEF', 'Analysis in ', 'bytes', 'tebibyte', 1099511627776.0, 6.25),
    (9, '24E6-581D-38E5', 'BigQuery', 'EE21-8A17-3C5B', 'Active Logical Storage in ', 'byte-seconds', 'gibibyte month', 2.78e15, 0.02),
    (10, '152E-C115-5142', 'Cloud Run', '5EB5-8B2C-7F3A', 'CPU Allocation Time in ', 'seconds', 'second', 1.0, 0.000024),
    (11, '9662-B51E-5089', 'Cloud SQL', '1B2D-8E4F-9A7C', 'Cloud SQL for PostgreSQL: Zonal - vCPU in ', 'seconds', 'hour', 3600.0, 0.0413),
    (12, 'C7E2-9256-1C43', 'Vertex AI', '8D4F-3A2B-6E1C', 'Vertex AI: Training/Pipelines on GCE with A2 in ', 'seconds', 'hour', 3600.0, 4.22),
    (13, '5490-F7B7-8DF6', 'Cloud Logging', '143F-A1B0-E0BE', 'Log Storage cost in ', 'bytes', 'gibibyte', 1073741824.0, 0.5),
    (14, 'A1E8-BE35-7EBC', 'Cloud Pub/Sub', '1F6C-8B3D-4E2A', 'Message Delivery Basic in ', 'bytes', 'tebibyte', 1099511627776.0, 40.0),
    (15, '6F81-5844-456A', 'Compute Engine', 'F449-33EC-A5EF', 'E2 Instance Core running in ', 'seconds', 'hour', 3600.0, 0.021811)
) as given (
    sku_number, service_id, service_description, sku_id, sku_description, unit, pricing_unit, units_in_pricing_unit, rate
);

create or replace table machine as
select * from (values
    (0, 'n1-standard-4', '4', '15360'), (1, 'n1-standard-16', '16', '61440'), (2, 'e2-standard-8', '8', '32768'),
    (3, 'a2-highgpu-1g', '12', '87040'), (4, 'a2-highgpu-8g', '96', '696320'), (5, 'n1-highmem-8', '8', '53248'),
    (6, 'e2-small', '2', '2048'), (7, 'n1-standard-96', '96', '368640')
) as given (machine_number, machine_type, cores, megabytes);

create or replace table region as
select * from (values
    (0, 'us-central1', 'US', 'Americas'), (1, 'us-east4', 'US', 'Virginia'), (2, 'europe-west1', 'BE', 'Belgium'),
    (3, 'europe-west4', 'NL', 'Netherlands'), (4, 'asia-northeast1', 'JP', 'Tokyo'), (5, 'asia-southeast1', 'SG', 'Singapore')
) as given (region_number, code, country, place);

-- Labels belong to the resource. Seven in ten have a name of their own, so that nearly every one is a combination of its own.
create or replace table resource as
select
    number as resource_number,
    draw(number, 1, 120) as project_number,
    draw(number, 2, 16) as sku_number,
    draw(number, 3, 8) as machine_number,
    draw(number, 4, 6) as region_number,
    ['a', 'b', 'c'][1 + draw(number, 5, 3)] as zone,
    substr(md5(number::varchar), 1, 12) as hexadecimal,
    list_filter(
        [
            case
                when draw(number, 6, 10) < 7
                then {
                    'key': 'name',
                    'value': ['trainer', 'api', 'worker', 'etl', 'web', 'cache'][1 + draw(number, 7, 6)] || '-' || number
                }
            end,
            case when draw(number, 8, 10) < 8 then {'key': 'project', 'value': 'project-' || draw(number, 9, 60)} end,
            case when draw(number, 8, 10) < 9 then {'key': 'team', 'value': 'team-' || draw(number, 9, 60) % 12} end,
            {'key': 'environment', 'value': ['production', 'staging', 'development'][1 + draw(number, 10, 3)]},
            case when draw(number, 11, 2) = 0 then {'key': 'cost-centre', 'value': 'cc-' || (1000 + draw(number, 12, 200))} end
        ],
        lambda label: label is not null
    ) as labels,
from range(getvariable('resources')) as numbers (number);

-- A resource runs for twenty hours in a row, its rows scattered over the file.
create or replace macro charges(first_row, after_row) as table
select
    '01A2B3-C4D5E6-F78901' as billing_account_id,
    {'month': strftime(getvariable('billing_month'), '%Y%m'), 'publisher_type': 'GOOGLE'} as invoice,
    kind as cost_type,
    {'id': service_id, 'description': service_description} as service,
    {'id': sku_id, 'description': case when is_fee then fee_description else sku_description || place end} as sku,
    starts::timestamptz as usage_start_time,
    (starts + interval 1 hour)::timestamptz as usage_end_time,
    case
        when not is_fee and kind = 'regular'
        then {
            'id': 'acme-' || project_number,
            'number': (300000000000 + project_number * 1234567)::varchar,
            'name': 'Acme ' || project_number,
            'ancestry_numbers': '/9876543210/' || (5550000 + project_number % 9) || '/',
            'ancestors': [
                {
                    'resource_name': 'projects/' || (300000000000 + project_number * 1234567),
                    'display_name': 'Acme ' || project_number
                },
                {
                    'resource_name': 'folders/' || (5550000 + project_number % 9),
                    'display_name': 'Folder ' || project_number % 9
                },
                {'resource_name': 'organizations/9876543210', 'display_name': 'acme.example'}
            ],
            'labels': case
                when project_number % 3 = 0 then [{'key': 'owner', 'value': 'team-' || project_number % 12}] else []
            end
        }
    end as project,
    case when is_fee or kind <> 'regular' then [] else labels end as labels,
    case
        when has_machine
        then [
            {'key': 'compute.googleapis.com/machine_spec', 'value': machine_type},
            {'key': 'compute.googleapis.com/cores', 'value': cores},
            {'key': 'compute.googleapis.com/memory', 'value': megabytes}
        ]
        else []
    end as system_labels,
    {'location': code, 'country': country, 'region': code, 'zone': case when has_machine then code || '-' || zone end}
    as location,
    cost,
    'USD' as currency,
    1.0::double as currency_conversion_rate,
    {
        'amount': quantity * units_in_pricing_unit,
        'unit': unit,
        'amount_in_pricing_units': quantity,
        'pricing_unit': pricing_unit
    } as usage,
    case
        when is_fee or kind <> 'regular' then []
        when number % 50 = 0
        then [
            {
                'id': 'Committed Usage Discount: CPU',
                'full_name': 'Compute flexible committed use discount',
                'type': 'COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE',
                'name': 'Committed Usage Discount - Dollar Based',
                'amount': -cost
            }
        ]
        when has_machine and number % 5 = 1
        then [
            {
                'id': 'Sustained Usage Discount', 'full_name': '', 'type': 'SUSTAINED_USAGE_DISCOUNT',
                'name': 'Sustained Usage Discount', 'amount': round(-cost * 0.2, 6)
            }
        ]
        when number % 997 = 3
        then [
            {'id': 'grant', 'full_name': 'Research grant', 'type': 'PROMOTION', 'name': 'Grant', 'amount': -cost}
        ]
        else []
    end as credits,
    cast(null as struct(id varchar, description varchar, mode varchar, "type" varchar)) as adjustment_info,
    (starts + to_hours(5 + draw(number, 24, 20)))::timestamptz as export_time,
    case
        when project_number % 4 = 0
        then [{'key': 'department', 'value': 'd' || project_number % 7, 'inherited': true, 'namespace': '9876543210'}]
        else []
    end as tags,
    cost as cost_at_list,
    'GOOGLE' as transaction_type,
    cast(null as varchar) as seller_name,
    {
        'effective_price': rate::decimal(38, 9), 'tier_start_amount': 0::decimal(38, 9), 'unit': pricing_unit,
        'pricing_unit_quantity': 1::decimal(38, 9), 'list_price': rate::decimal(38, 9),
        'effective_price_default': rate::decimal(38, 9), 'list_price_consumption_model': rate::decimal(38, 9)
    } as price,
    cost::decimal(38, 9) as cost_at_effective_price_default,
    cost::decimal(38, 9) as cost_at_list_consumption_model,
    {'id': '7754-699E-0EBF', 'description': 'Default'} as consumption_model,
    case
        when not is_fee and kind = 'regular'
        then {
            'name': case
                when has_machine then 'projects/' || project_number || '/instances/vm-' || hexadecimal else hexadecimal
            end,
            'global_name': case
                when has_machine
                then '//compute.googleapis.com/projects/acme-' || project_number || '/zones/' || code || '-' || zone
                    || '/instances/' || hexadecimal
                else '//' || lower(replace(service_description, ' ', '')) || '.googleapis.com/projects/acme-'
                    || project_number || '/resources/' || hexadecimal
            end
        }
    end as resource,
    {'instance_id': case when is_fee then 'subscriptions/' || number % 7 end} as subscription,
from (
    select
        lines.*,
        resource.* exclude (resource_number, sku_number, machine_number, region_number),
        sku.* exclude (sku_number),
        machine.* exclude (machine_number),
        region.* exclude (region_number),
        sku.sku_number in (0, 1, 2, 3, 15) and not is_fee and kind = 'regular' as has_machine,
        case when is_fee then 31.2 else round(lines.quantity * sku.rate, 6) end::double as cost,
    from (
        select
            number,
            number % 10007 = 9 as is_fee,
            'Commitment - dollar based v1: Compute flexible for 1 year' as fee_description,
            case number % 100003 when 5 then 'tax' when 7 then 'rounding_error' when 11 then 'adjustment' else 'regular' end
            as kind,
            number * 611953 % (getvariable('resources') * 20) as scattered,
            scattered // 20 as resource_number,
            getvariable('billing_month')::timestamp
            + to_hours(draw(resource_number, 21, getvariable('hours') - 20) + scattered % 20) as starts,
            round((1 + draw(number, 22, 100000)) / 1000.0, 6) as quantity,
        from range(first_row, after_row) as numbers (number)
    ) as lines
    inner join resource using (resource_number)
    inner join sku using (sku_number)
    inner join machine using (machine_number)
    inner join region using (region_number)
);
