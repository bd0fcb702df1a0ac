-- Region name for an AWS region code; the code itself where it is not listed, so that it is null exactly with the code.
-- Source: AWS General Reference, "AWS service endpoints".
create or replace macro focus.aws_region_name(region_id) as
    coalesce(
        map {
            'us-east-1': 'US East (N. Virginia)', 'us-east-2': 'US East (Ohio)', 'us-west-1': 'US West (N. California)',
            'us-west-2': 'US West (Oregon)', 'af-south-1': 'Africa (Cape Town)', 'ap-east-1': 'Asia Pacific (Hong Kong)',
            'ap-east-2': 'Asia Pacific (Taipei)', 'ap-south-1': 'Asia Pacific (Mumbai)',
            'ap-south-2': 'Asia Pacific (Hyderabad)', 'ap-southeast-1': 'Asia Pacific (Singapore)',
            'ap-southeast-2': 'Asia Pacific (Sydney)', 'ap-southeast-3': 'Asia Pacific (Jakarta)',
            'ap-southeast-4': 'Asia Pacific (Melbourne)', 'ap-southeast-5': 'Asia Pacific (Malaysia)',
            'ap-southeast-7': 'Asia Pacific (Thailand)', 'ap-northeast-1': 'Asia Pacific (Tokyo)',
            'ap-northeast-2': 'Asia Pacific (Seoul)', 'ap-northeast-3': 'Asia Pacific (Osaka)',
            'ca-central-1': 'Canada (Central)', 'ca-west-1': 'Canada West (Calgary)', 'cn-north-1': 'China (Beijing)',
            'cn-northwest-1': 'China (Ningxia)', 'eu-central-1': 'Europe (Frankfurt)', 'eu-central-2': 'Europe (Zurich)',
            'eu-west-1': 'Europe (Ireland)', 'eu-west-2': 'Europe (London)', 'eu-west-3': 'Europe (Paris)',
            'eu-north-1': 'Europe (Stockholm)', 'eu-south-1': 'Europe (Milan)', 'eu-south-2': 'Europe (Spain)',
            'il-central-1': 'Israel (Tel Aviv)', 'mx-central-1': 'Mexico (Central)', 'me-central-1': 'Middle East (UAE)',
            'me-south-1': 'Middle East (Bahrain)', 'sa-east-1': 'South America (Sao Paulo)',
            'us-gov-east-1': 'AWS GovCloud (US-East)', 'us-gov-west-1': 'AWS GovCloud (US-West)'
        }[region_id],
        region_id
    )
