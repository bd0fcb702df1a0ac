-- What Acme runs on GCP: reference tables from which gcp_usage.sql makes charges.
create or replace table gcp_project as
select * from (values
    ('acme-vision-train', '310000000001', 'Acme Vision Training', 'vision', null, 'research'),
    ('acme-nlp-prod', '310000000002', 'Acme NLP', 'nlp', null, 'research'),
    ('acme-robotics-sim', '310000000003', 'Acme Robotics Simulation', 'robotics', 'simulator', 'research'),
    ('acme-lake', '310000000004', 'Acme Data Lake', 'platform', null, 'platform'),
    ('acme-observability', '310000000005', 'Acme Observability', 'platform', null, 'platform'),
    ('acme-playground', '310000000006', 'Acme Playground', null, null, 'research')
) as given (project_id, project_number, project_name, team_label, project_label, folder);

-- Machines: hours of the day [first_hour, last_hour) in UTC, and how many cores a commitment covers on them.
create or replace table virtual_machine as
select * from (values
    ('segmenter-train-1', 'acme-vision-train', 'segmenter', 'vision', null,
        'a2-highgpu-2g', 'A100', 2, 24, 170, 13, 22, false, 0),
    ('ranker-train-1', 'acme-nlp-prod', 'ranker', 'nlp', null,
        'a2-highgpu-4g', 'A100', 4, 48, 340, 12, 22, false, 0),
    ('ranker-train-2', 'acme-nlp-prod', 'ranker', 'nlp', null,
        'a2-highgpu-4g', 'A100', 4, 48, 340, 14, 20, false, 0),
    ('sim-farm-1', 'acme-robotics-sim', null, null, 'isaac-lab',
        'a3-highgpu-8g', 'H100', 8, 208, 1872, 14, 20, false, 0),
    ('sim-farm-2', 'acme-robotics-sim', null, null, 'gazebo',
        'a3-highgpu-8g', 'H100', 8, 208, 1872, 16, 19, false, 0),
    ('lake-etl-1', 'acme-lake', 'data-lake', 'platform', null,
        'n2-standard-32', null, 0, 32, 128, 0, 24, true, 32),
    ('lake-etl-2', 'acme-lake', 'data-lake', 'platform', null,
        'n2-standard-32', null, 0, 32, 128, 0, 24, true, 32),
    ('lake-etl-3', 'acme-lake', 'data-lake', 'platform', null,
        'n2-standard-32', null, 0, 32, 128, 0, 24, true, 0),
    ('metrics-1', 'acme-observability', 'monitoring', 'platform', null,
        'n2-standard-8', null, 0, 8, 32, 0, 24, true, 0),
    ('play-1', 'acme-playground', null, null, null,
        'n2-standard-8', null, 0, 8, 32, 8, 18, false, 0)
) as given (
    machine, project_id, project, team, app, machine_spec, accelerator, gpus, cores, memory_gb,
    first_hour, last_hour, runs_at_weekend, committed_cores
);

-- Prices of us-central1: USD per GPU-hour, core-hour and gibibyte-hour.
create or replace table compute_sku as
select * from (values
    ('a2', 'gpu', 'BE93-0CD2-5C9B', 'Nvidia Tesla A100 GPU running in Americas', 2.934),
    ('a2', 'core', '2922-40C5-B19F', 'A2 Instance Core running in Americas', 0.031611),
    ('a2', 'ram', '2390-DCAF-DA38', 'A2 Instance Ram running in Americas', 0.004237),
    ('a3', 'gpu', 'D6D2-1F6A-2B7C', 'Nvidia H100 80GB GPU running in Americas', 9.796558),
    ('a3', 'core', '4A7E-9B21-33D0', 'A3 Instance Core running in Americas', 0.029),
    ('a3', 'ram', '71C3-52EF-90A4', 'A3 Instance Ram running in Americas', 0.002534),
    ('n2', 'core', 'BB77-5FDA-69D9', 'N2 Instance Core running in Americas', 0.031611),
    ('n2', 'ram', '5B01-D157-A097', 'N2 Instance Ram running in Americas', 0.004237)
) as given (series, kind, sku_id, sku_description, rate);

-- Services metered by the day.
create or replace table daily_meter as
select * from (values
    ('acme-nlp-prod', 'ranker', 'nlp', 'C7E2-9256-1C43', 'Vertex AI', '9F0C-5A1B-77E2',
        'Vertex AI: Online/Batch Prediction N1 Predefined Instance Core running in Americas', 384.0, 0.0365,
        'hour', 3600.0, 'seconds',
        '//aiplatform.googleapis.com/projects/310000000002/locations/us-central1/endpoints/4417203998', 0.8, 0.1),
    ('acme-nlp-prod', 'embeddings', 'nlp', 'C7E2-9256-1C43', 'Vertex AI', '1B7D-A3C4-0F19',
        'Gemini 2.0 Flash Text Input - Predictions', 900000000.0, 0.00000015, 'count', 1.0, 'requests',
        '//aiplatform.googleapis.com/projects/310000000002/locations/us-central1/publishers/google', 0.5, 0.3),
    ('acme-vision-train', 'segmenter', 'vision', 'C7E2-9256-1C43', 'Vertex AI', 'A41E-66B0-8D2F',
        'Vertex AI: Training/Pipelines on a2-highgpu-1g in Americas', 26.0, 4.2244, 'hour', 3600.0, 'seconds',
        '//aiplatform.googleapis.com/projects/310000000001/locations/us-central1/customJobs/7750129', 0.3, 0.2),
    ('acme-robotics-sim', 'simulator', 'robotics', '95FF-2EF5-5EA1', 'Cloud Storage', 'E5F0-6A5D-7BAD',
        'Standard Storage US Regional', 2100.0, 0.02, 'gibibyte month', 2885976442470400.0, 'byte-seconds',
        '//storage.googleapis.com/projects/_/buckets/acme-sim-episodes', 1.0, 0.2),
    ('acme-lake', 'data-lake', 'platform', '95FF-2EF5-5EA1', 'Cloud Storage', '0D5D-6E23-4250',
        'Standard Storage US Multi-region', 5200.0, 0.026, 'gibibyte month', 2885976442470400.0, 'byte-seconds',
        '//storage.googleapis.com/projects/_/buckets/acme-lake-landing', 1.0, 0.2),
    ('acme-lake', 'data-lake', 'platform', '24E6-581D-38E5', 'BigQuery', '3362-E469-6BEF',
        'Analysis (us-central1)', 21.0, 6.25, 'tebibyte', 1099511627776.0, 'bytes',
        '//bigquery.googleapis.com/projects/acme-lake/datasets/curated', 0.4, 0.2),
    ('acme-observability', 'monitoring', 'platform', '24E6-581D-38E5', 'BigQuery', '3362-E469-6BEF',
        'Analysis (us-central1)', 5.0, 6.25, 'tebibyte', 1099511627776.0, 'bytes',
        '//bigquery.googleapis.com/projects/acme-observability/datasets/logs', 0.9, 0.1)
) as given (
    project_id, project, team, service_id, service, sku_id, sku_description, amount, rate, pricing_unit,
    unit_size, usage_unit, global_name, weekend_share, growth
);
