-- FOCUS ServiceCategory of an AWS service. By service name first, so that one name never has two categories.
-- Source: FOCUS 1.2, allowed values of ServiceCategory; the grouping of services is AWS's own product catalogue.
create or replace macro focus.aws_service_category(service_code, service_name) as
    case
        when service_name = 'Amazon Elastic Block Store' then 'Storage'
        when service_name = 'AWS Data Transfer' then 'Networking'
        when service_code in (
            'AmazonEC2', 'AWSLambda', 'AmazonECS', 'AmazonEKS', 'AmazonECR', 'AmazonECRPublic', 'AWSBatch', 'AmazonLightsail',
            'AWSElasticBeanstalk', 'AmazonWorkSpaces', 'AWSComputeOptimizer', 'ComputeSavingsPlans', 'AWSAppRunner',
            'AWSOutposts', 'AmazonAppStream'
        ) then 'Compute'
        when service_code in (
            'AmazonSageMaker', 'AmazonBedrock', 'AmazonBedrockService', 'AmazonBedrockFoundationModels',
            'AmazonBedrockAgentCore', 'AmazonRekognition', 'comprehend', 'AmazonTextract', 'transcribe', 'AmazonPolly',
            'AmazonLex', 'translate', 'AmazonPersonalize', 'AmazonForecast', 'AmazonKendra', 'AmazonQ',
            'MachineLearningSavingsPlans'
        ) or contains(service_name, 'Bedrock') then 'AI and Machine Learning'
        when service_code in (
            'AmazonS3', 'AmazonS3GlacierDeepArchive', 'AmazonGlacier', 'AmazonEFS', 'AmazonFSx', 'AWSBackup',
            'AWSStorageGateway', 'AWSDataSync', 'AWSTransfer'
        ) then 'Storage'
        when service_code in (
            'AmazonRDS', 'AmazonDynamoDB', 'AmazonElastiCache', 'AmazonRedshift', 'AmazonNeptune', 'AmazonDocDB',
            'AmazonMemoryDB', 'AmazonTimestream', 'AmazonQLDB', 'AmazonMCS', 'AmazonDAX', 'AmazonAurora',
            'AWSDatabaseSavingsPlans'
        ) then 'Databases'
        when service_code in (
            'AmazonVPC', 'AWSELB', 'AmazonCloudFront', 'AmazonRoute53', 'AWSDirectConnect', 'AWSDataTransfer',
            'AWSGlobalAccelerator', 'AmazonVPNConnections', 'AWSTransitGateway', 'AWSPrivateLink'
        ) then 'Networking'
        when service_code in (
            'AmazonAthena', 'AWSGlue', 'ElasticMapReduce', 'AmazonKinesis', 'AmazonKinesisFirehose',
            'AmazonKinesisAnalytics', 'AmazonES', 'AmazonQuickSight', 'AmazonMSK', 'AWSLakeFormation', 'AmazonMWAA'
        ) then 'Analytics'
        when service_code in (
            'AmazonSNS', 'AWSQueueService', 'AmazonStates', 'AmazonApiGateway', 'AWSEvents', 'AmazonMQ', 'AmazonAppSync'
        ) then 'Integration'
        when service_code in (
            'AmazonCloudWatch', 'AWSCloudTrail', 'AWSConfig', 'AWSSystemsManager', 'AWSCloudFormation', 'AWSSupportBusiness',
            'AWSSupportEnterprise', 'AWSDeveloperSupport', 'AWSSupport', 'AWSCostExplorer', 'AWSBudgets', 'AWSServiceCatalog',
            'AmazonGrafana', 'AmazonPrometheus', 'AWSXRay'
        ) or starts_with(service_code, 'AWSSupport') or starts_with(service_code, 'OCB') then 'Management and Governance'
        when service_code in (
            'awskms', 'AWSSecretsManager', 'AmazonGuardDuty', 'awswaf', 'AWSShield', 'AmazonInspector', 'AmazonInspectorV2',
            'AWSSecurityHub', 'AmazonMacie', 'AWSCertificateManager', 'AmazonDetective', 'AWSNetworkFirewall', 'CloudHSM'
        ) then 'Security'
        when service_code in ('AmazonCognito', 'AWSDirectoryService', 'AWSIAM') then 'Identity'
        when service_code in ('CodeBuild', 'AWSCodePipeline', 'AWSCodeCommit', 'AWSCodeArtifact', 'AmazonCodeGuru', 'AWSCloud9')
        then 'Developer Tools'
        when service_code in ('AmazonPinpoint', 'AmazonSES', 'AmazonConnect', 'AmazonWorkMail', 'AmazonChime')
        then 'Business Applications'
        when service_code in ('AWSIoT', 'AWSIoTAnalytics', 'AWSGreengrass') then 'Internet of Things'
        when service_code in ('AWSElementalMediaConvert', 'AWSElementalMediaLive', 'AmazonIVS') then 'Media'
        when service_code in ('AWSDatabaseMigrationSvc', 'AWSApplicationMigrationSvc') then 'Migration'
        when service_code in ('AWSAmplify') then 'Web'
        else 'Other'
    end
