-- Charges of one invoice month. Google's months begin and end at midnight in Los Angeles, so that the first hours (UTC)
-- of a month are on the invoice before it. Reads the tables of gcp_fleet.sql and `period`.
create or replace macro pacific_month(instant) as
    strftime(timezone('America/Los_Angeles', instant::timestamptz), '%Y%m');

create or replace macro pacific_midnight(day) as timezone('America/Los_Angeles', day::timestamp)::timestamp;

create or replace macro utc_text(instant) as strftime(instant, '%Y-%m-%d %H:%M:%S UTC');

create or replace macro numeric_text(amount) as regexp_replace(amount::decimal(38, 9)::varchar, '\.?0+$', '');

create or replace macro pairs(entries) as list_filter(entries, lambda entry: entry.value is not null);

create or replace table line (
    service_id varchar, service varchar, sku_id varchar, sku_description varchar, starts timestamp, ends timestamp,
    project_id varchar, project varchar, team varchar, app varchar, machine_spec varchar, cores integer,
    memory_gb integer, zone varchar, resource_name varchar, global_name varchar, amount decimal(18, 6), rate double,
    pricing_unit varchar, unit_size double, usage_unit varchar, cost decimal(18, 10), cost_type varchar,
    credits struct(id varchar, full_name varchar, type varchar, name varchar, amount double)[],
    subscription_id varchar, adjustment_info struct(id varchar, description varchar, mode varchar, type varchar)
);

create or replace table usage_hour as
select instant::timestamp as starts, instant::date as day, hour(instant) as hour
from (
    select unnest(generate_series(
        period_start::timestamp, least(period_end + interval 1 day, through + interval 1 day), interval 1 hour
    )) as instant
    from period
)
cross join period
where pacific_month(instant) = strftime(period_start, '%Y%m')
    and (through = period_end or instant < through);

insert into line by name
select
    '6F81-5844-456A' as service_id, 'Compute Engine' as service, sku_id, sku_description,
    starts, starts + interval 1 hour as ends, project_id, project, team, app, machine_spec, cores, memory_gb,
    'us-central1-a' as zone, machine as resource_name,
    format('//compute.googleapis.com/projects/{}/zones/us-central1-a/instances/{}',
        project_id, ('0x' || identifier(machine, 15))::ubigint) as global_name,
    case kind when 'gpu' then gpus when 'core' then cores else memory_gb end as amount,
    rate, if(kind = 'ram', 'gibibyte hour', 'hour') as pricing_unit,
    if(kind = 'ram', 3600 * 1073741824.0, 3600.0) as unit_size,
    if(kind = 'ram', 'byte-seconds', 'seconds') as usage_unit,
    money(case kind when 'gpu' then gpus when 'core' then cores else memory_gb end, rate) as cost,
    'regular' as cost_type,
    case
        when kind = 'core' and committed_cores > 0 then [{
            'id': 'commitment-n2-cores', 'full_name': 'Committed use discount: N2 Cpu in Americas',
            'type': 'COMMITTED_USAGE_DISCOUNT', 'name': 'Committed Usage Discount: CPU',
            'amount': -money(committed_cores, rate)::double
        }]
        when kind = 'core' and machine_spec = 'n2-standard-32' then [{
            'id': 'sustained', 'full_name': 'Sustained use discount', 'type': 'SUSTAINED_USAGE_DISCOUNT',
            'name': 'Sustained Usage Discount', 'amount': -money(cores, rate * 0.2)::double
        }]
        when accelerator = 'H100' and kind = 'gpu' then [{
            'id': 'startup-grant-2026', 'full_name': 'Google for Startups Cloud Program', 'type': 'PROMOTION',
            'name': 'Startup grant', 'amount': -money(gpus, rate * 0.25)::double
        }]
        else []
    end as credits,
    if(kind = 'core' and committed_cores > 0, '7c4b1d52-0b55-4f10-9a26-18e9b6a3f001', null) as subscription_id
from virtual_machine
join compute_sku on machine_spec.starts_with(series)
cross join usage_hour
where hour >= first_hour and hour < last_hour and (runs_at_weekend or not is_weekend(day))
    and not (accelerator is not null and noise(concat_ws('/', 'idle', machine, day)) < 0.12);

insert into line by name
select
    service_id, service, sku_id, sku_description, pacific_midnight(day) as starts,
    pacific_midnight(day + 1) as ends, project_id, project, team, split_part(global_name, '/', -1) as resource_name,
    global_name,
    day_amount::decimal(18, 6) as amount, rate, pricing_unit,
    unit_size, usage_unit, money(day_amount, rate) as cost, 'regular' as cost_type, [] as credits
from daily_meter
cross join period
cross join lateral (select unnest(generate_series(period_start, through - 1, interval 1 day))::date as day)
cross join lateral (
    select round(daily_meter.amount * if(is_weekend(day), weekend_share, 1) * (1 - growth + growth * progress(day))
        * (0.92 + 0.16 * noise(concat_ws('/', global_name, sku_id, day))), 3) as day_amount
) as daily;

-- A resource commitment is paid by the account, whatever runs: no project.
insert into line by name
select
    '6F81-5844-456A' as service_id, 'Compute Engine' as service, 'C0A1-2D3E-4F50' as sku_id,
    'Commitment v1: N2 Cpu in Americas for 1 Year' as sku_description, pacific_midnight(day) as starts,
    pacific_midnight(day + 1) as ends, 'commitment-n2-cores' as resource_name,
    '//compute.googleapis.com/project_commitments/310000000004/regions/us-central1/commitments/5519027744'
        as global_name,
    64 * 24 as amount, 0.019915 as rate, 'hour' as pricing_unit, 3600.0 as unit_size, 'seconds' as usage_unit,
    money(64 * 24, 0.019915) as cost, 'regular' as cost_type, [] as credits,
    '7c4b1d52-0b55-4f10-9a26-18e9b6a3f001' as subscription_id
from period
cross join lateral (select unnest(generate_series(period_start, through - 1, interval 1 day))::date as day);

-- Usage of the last evening of October that was metered too late for October's invoice.
insert into line by name
select
    service_id, service, sku_id, sku_description, timestamp '2026-10-31 20:00:00' + hours * interval 1 hour as starts,
    timestamp '2026-10-31 21:00:00' + hours * interval 1 hour as ends, project_id, project, team,
    split_part(global_name, '/', -1) as resource_name, global_name, 16.0 as amount, rate, pricing_unit, unit_size,
    usage_unit, money(16.0, rate) as cost, 'regular' as cost_type, [] as credits
from daily_meter
cross join (select unnest(generate_series(0, 3)) as hours)
cross join period
where sku_id = '9F0C-5A1B-77E2' and period_start = date '2026-11-01' and delivered_on > date '2026-11-03';

-- What an invoice adds when it is issued: tax and rounding by account, a corrected price by project.
insert into line by name
select
    if(cost_type = 'adjustment', 'C7E2-9256-1C43', '') as service_id,
    if(cost_type = 'adjustment', 'Vertex AI', 'Invoice') as service,
    if(cost_type = 'adjustment', '9F0C-5A1B-77E2', '') as sku_id,
    description as sku_description, pacific_midnight(first_day) as starts, pacific_midnight(last_day) as ends,
    project_id, project, team, 0 as amount, given.cost, cost_type, [] as credits, adjustment_info
from period
cross join (select sum(cost) as metered from line where cost_type = 'regular') as metered
cross join lateral (values
    ('tax', 'Tax', period_start, period_end, null, null, null, round(metered * 0.0625, 2)::decimal(18, 10),
        null, null),
    ('rounding_error', 'Rounding error', period_start, period_end, null, null, null, 0.0043::decimal(18, 10),
        null, null),
    ('adjustment', 'Vertex AI: Online/Batch Prediction N1 Predefined Instance Core running in Americas',
        period_start - 12, period_start - 11, 'acme-nlp-prod', 'ranker', 'nlp', -84.5::decimal(18, 10),
        {'id': 'adj-20261006-01', 'description': 'Price correction for September 2026', 'mode': 'PARTIAL_CORRECTION',
            'type': 'PRICE_CORRECTION'}, date '2026-10-01')
) as given (
    cost_type, description, first_day, last_day, project_id, project, team, cost, adjustment_info, only_in
)
where through = period_end and (only_in is null or only_in = period_start);

insert into export_row by name
select
    '0123AB-4567CD-89EF01' as billing_account_id,
    {'id': service_id, 'description': service} as service,
    {'id': sku_id, 'description': sku_description} as sku,
    utc_text(starts) as usage_start_time,
    utc_text(ends) as usage_end_time,
    if(gcp_project.project_id is null, null, {
        'id': gcp_project.project_id, 'number': project_number, 'name': project_name,
        'ancestry_numbers': '/700000000001/800000000001/',
        'ancestors': [
            {'resource_name': 'projects/' || project_number, 'display_name': project_name},
            {'resource_name': 'folders/800000000001', 'display_name': folder},
            {'resource_name': 'organizations/700000000001', 'display_name': 'acme.example'}
        ],
        'labels': pairs([{'key': 'project', 'value': project_label}, {'key': 'team', 'value': team_label}])
    }) as project,
    pairs([
        {'key': 'app', 'value': app}, {'key': 'project', 'value': project}, {'key': 'team', 'value': team}
    ]) as labels,
    pairs([
        {'key': 'compute.googleapis.com/machine_spec', 'value': machine_spec},
        {'key': 'compute.googleapis.com/cores', 'value': cores::varchar},
        {'key': 'compute.googleapis.com/memory', 'value': (memory_gb * 1024)::varchar}
    ]) as system_labels,
    if(cost_type = 'regular', {
        'location': coalesce(zone, 'us-central1'), 'country': 'US', 'region': 'us-central1', 'zone': zone
    }, null) as location,
    if(global_name is null, null, {'name': resource_name, 'global_name': global_name}) as resource,
    if(gcp_project.project_id is null, [], [{
        'key': 'business_unit', 'value': folder, 'inherited': true, 'namespace': '700000000001'
    }]) as tags,
    if(rate is null, null, {
        'effective_price': numeric_text(rate), 'tier_start_amount': '0', 'unit': pricing_unit,
        'pricing_unit_quantity': '1', 'list_price': numeric_text(rate), 'effective_price_default': numeric_text(rate),
        'list_price_consumption_model': numeric_text(rate)
    }) as price,
    if(subscription_id is null, null, {'instance_id': subscription_id}) as subscription,
    if(cost_type = 'regular', 'GOOGLE', null) as transaction_type,
    utc_text(case
        when cost_type <> 'regular' then delivered_on + interval 10 hour
        when starts < pacific_midnight(period_start) then period_start + interval 58 hour
        else date_trunc('day', starts) + interval 34 hour
    end) as export_time,
    cost::double as cost,
    'USD' as currency,
    1.0 as currency_conversion_rate,
    if(rate is null, null, {
        'amount': amount::double * unit_size, 'unit': usage_unit, 'amount_in_pricing_units': amount::double,
        'pricing_unit': pricing_unit
    }) as usage,
    credits,
    {'month': strftime(period_start, '%Y%m'), 'publisher_type': 'GOOGLE'} as invoice,
    cost_type,
    adjustment_info,
    cost::double as cost_at_list,
    numeric_text(cost) as cost_at_effective_price_default,
    numeric_text(cost) as cost_at_list_consumption_model,
    if(cost_type = 'regular', {'id': '7754-699E-0EBF', 'description': 'Default'}, null) as consumption_model
from line
left join gcp_project using (project_id)
cross join period;
