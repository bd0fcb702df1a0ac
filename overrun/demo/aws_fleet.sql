-- What Acme runs on AWS: reference tables from which aws_usage.sql makes charges.
create or replace table account as
select * from (values
    ('111111111111', 'acme-payer', 'platform'),
    ('222222222222', 'acme-vision', 'research'),
    ('333333333333', 'acme-nlp', 'research'),
    ('444444444444', 'acme-robotics', 'research'),
    ('555555555555', 'acme-data-lake', 'platform'),
    ('666666666666', 'acme-shared', 'platform'),
    ('777777777777', 'acme-sandbox', 'research')
) as given (account_id, account_name, business_unit);

-- USD per hour in us-east-1: on demand, under the Savings Plan, under the reservation.
create or replace table instance as
select * from (values
    ('p4d.24xlarge', 'GPU instance', 96, 8, '1152 GiB', 21.957642, null, null),
    ('g5.xlarge', 'GPU instance', 4, 1, '16 GiB', 1.006, null, null),
    ('c6i.8xlarge', 'Compute optimized', 32, 0, '64 GiB', 1.36, 0.9923, null),
    ('m6i.4xlarge', 'General purpose', 16, 0, '64 GiB', 0.768, 0.5603, 0.48384),
    ('r6i.2xlarge', 'Memory optimized', 8, 0, '64 GiB', 0.504, null, null)
) as given (instance_type, family, vcpu, gpu, memory, demand_rate, plan_rate, reserved_rate);

-- EC2 fleets. Elastic ones run fewer hours at the weekend; growth is the share of machines that join in the quarter.
create or replace table fleet as
select * from (values
    ('detector-label', '222222222222', 'g5.xlarge', 14, 'detector', 'vision',
        'production', 24.0, 1.0, 0.2, 'demand', 200, 45),
    ('detector-exp', '222222222222', 'p4d.24xlarge', 1, 'detector-exp-anchor-free', 'vision',
        'experiment', 9.0, 0.0, 0.0, 'demand', 2000, 20),
    ('segmenter', '222222222222', 'g5.xlarge', 12, 'segmenter', 'vision',
        'production', 22.0, 0.8, 0.1, 'demand', 200, 60),
    ('embeddings', '333333333333', 'c6i.8xlarge', 10, 'embeddings', 'nlp',
        'production', 24.0, 0.9, 0.0, 'plan', 100, 30),
    ('ranker', '333333333333', 'm6i.4xlarge', 12, 'ranker', 'nlp',
        'production', 24.0, 1.0, 0.0, 'plan', 100, 50),
    ('chat-web', '333333333333', 'm6i.4xlarge', 6, 'chat-assistant', 'nlp',
        'production', 24.0, 1.0, 0.0, 'reserved', 100, 120),
    ('grasping', '444444444444', 'g5.xlarge', 10, 'grasping', 'robotics',
        'development', 14.0, 0.4, 0.1, 'demand', 300, 15),
    ('monitoring', '666666666666', 'm6i.4xlarge', 6, 'monitoring', 'platform',
        'shared', 24.0, 1.0, 0.0, 'plan', 500, 25),
    ('lake-query', '555555555555', 'r6i.2xlarge', 20, null, null,
        null, 20.0, 0.7, 0.1, 'demand', 400, 70),
    ('sandbox', '777777777777', 'g5.xlarge', 5, null, null,
        null, 8.0, 0.3, 0.0, 'spot', 100, 4)
) as given (
    fleet, account_id, instance_type, machines, project, team, environment,
    hours, weekend_share, growth, purchase, volume_gb, egress_gb
);

-- SageMaker training: jobs a day, instances a job, hours an instance.
create or replace table training as
select * from (values
    ('detector', '222222222222', 'vision', 'ml.p4d.24xlarge', 25.2513, 3, 2, 3.2, 0.4, 0.25),
    ('segmenter', '222222222222', 'vision', 'ml.g5.xlarge', 1.408, 8, 4, 5.0, 0.5, 0.1),
    ('embeddings', '333333333333', 'nlp', 'ml.p4d.24xlarge', 25.2513, 1, 2, 4.0, 1.0, 0.2),
    ('grasping', '444444444444', 'robotics', 'ml.p4d.24xlarge', 25.2513, 2, 1, 6.0, 0.5, 0.3)
) as given (
    project, account_id, team, instance_type, rate, jobs, instances, hours, weekend_share, growth
);

create or replace table endpoint as
select * from (values
    ('chat-assistant-prod', '333333333333', 'chat-assistant', 'nlp', 8),
    ('ranker-prod', '333333333333', 'ranker', 'nlp', 4),
    ('segmenter-live', '222222222222', 'segmenter', 'vision', 3)
) as given (endpoint, account_id, project, team, instances);

-- Gigabytes a day into endpoints; segmenter-live has been forgotten, and nothing asks it any more.
create or replace table endpoint_traffic as
select * from (values ('chat-assistant-prod', 6.0), ('ranker-prod', 2.5)) as given (endpoint, gb);

-- What nobody uses: hours are charged and nothing else.
create or replace table idle_thing as
select * from (values
    ('nat-0b7e5d2c9a1f43680', '444444444444', 'grasping', 'robotics', 'NatGateway-Hours', 'NatGateway', 0.045,
        '$0.045 per NAT Gateway Hour', 'NAT Gateway'),
    ('eipalloc-04c19de0b7a6f5238', '444444444444', 'grasping', 'robotics', 'PublicIPv4:IdleAddress',
        'AllocateAddressVPC', 0.005, '$0.005 per idle public IPv4 address per hour', 'IP Address')
) as given (
    resource_id, account_id, project, team, usage_type, operation, rate, description, product_family
);

-- Bedrock: thousands of tokens a working day.
create or replace table token_stream as
select * from (values
    ('chat-assistant', '333333333333', 'nlp', 'input', 105000.0, 0.003),
    ('chat-assistant', '333333333333', 'nlp', 'output', 26000.0, 0.015),
    ('ranker', '333333333333', 'nlp', 'input', 30000.0, 0.003),
    ('ranker', '333333333333', 'nlp', 'output', 1500.0, 0.015)
) as given (project, account_id, team, direction, thousands, rate);

create or replace table bucket as
select * from (values
    ('acme-vision-datasets', '222222222222', 'detector', 'vision', 180000, 0.3),
    ('acme-segmentation-masks', '222222222222', 'segmenter', 'vision', 60000, 0.2),
    ('acme-nlp-corpora', '333333333333', 'embeddings', 'nlp', 90000, 0.2),
    ('acme-chat-transcripts', '333333333333', 'chat-assistant', 'nlp', 12000, 0.5),
    ('acme-robot-telemetry', '444444444444', 'grasping', 'robotics', 75000, 0.4),
    ('acme-lake-raw', '555555555555', null, null, 240000, 0.2),
    ('acme-lake-curated', '555555555555', null, null, 110000, 0.2),
    ('acme-metrics-archive', '666666666666', 'monitoring', 'platform', 30000, 0.1)
) as given (bucket, account_id, project, team, stored_gb, growth);

create or replace table database as
select * from (values
    ('chat-sessions', '333333333333', 'chat-assistant', 'nlp', 'db.r6g.xlarge', 0.45, 800),
    ('robot-fleet', '444444444444', 'grasping', 'robotics', 'db.r6g.large', 0.225, 300),
    ('lake-catalog', '555555555555', null, null, 'db.r6g.xlarge', 0.45, 500),
    ('grafana', '666666666666', 'monitoring', 'platform', 'db.r6g.large', 0.225, 200)
) as given (database, account_id, project, team, instance_type, rate, stored_gb);
