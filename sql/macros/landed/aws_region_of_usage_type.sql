-- Region that the prefix of an AWS usage type names (USW2-BoxUsage: us-west-2); null where it names none. Usage types of
-- us-east-1 have no prefix, and neither have those of global services, so nothing follows from its absence.
-- Source: AWS Billing, region codes of usage types.
create or replace temporary macro aws_region_of_usage_type(usage_type) as
    map {
        'USE1': 'us-east-1', 'USE2': 'us-east-2', 'USW1': 'us-west-1', 'USW2': 'us-west-2', 'EU': 'eu-west-1',
        'EUW1': 'eu-west-1', 'EUW2': 'eu-west-2', 'EUW3': 'eu-west-3', 'EUC1': 'eu-central-1', 'EUC2': 'eu-central-2',
        'EUN1': 'eu-north-1', 'EUS1': 'eu-south-1', 'EUS2': 'eu-south-2', 'APN1': 'ap-northeast-1',
        'APN2': 'ap-northeast-2', 'APN3': 'ap-northeast-3', 'APS1': 'ap-southeast-1', 'APS2': 'ap-southeast-2',
        'APS3': 'ap-south-1', 'APS4': 'ap-southeast-3', 'APS5': 'ap-south-2', 'APS6': 'ap-southeast-4',
        'APE1': 'ap-east-1', 'CAN1': 'ca-central-1', 'CAN2': 'ca-west-1', 'SAE1': 'sa-east-1', 'AFS1': 'af-south-1',
        'MES1': 'me-south-1', 'MEC1': 'me-central-1', 'ILC1': 'il-central-1', 'UGW1': 'us-gov-west-1',
        'UGE1': 'us-gov-east-1', 'CNN1': 'cn-north-1', 'CNW1': 'cn-northwest-1'
    }[split_part(usage_type, '-', 1)]
