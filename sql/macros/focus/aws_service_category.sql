-- FOCUS ServiceCategory of an AWS service. By service name first, so that one name never has two categories.
-- Look-ups in a map are made once per distinct value of a column, comparisons once per row: three times as slow.
-- Source: FOCUS 1.2, allowed values of ServiceCategory; the grouping of services is AWS's own product catalogue.
create or replace macro focus.aws_category_of_code(service_code) as
    map {
        'AmazonEC2': 'Compute', 'AWSLambda': 'Compute', 'AmazonECS': 'Compute', 'AmazonEKS': 'Compute',
        'AmazonECR': 'Compute', 'AmazonECRPublic': 'Compute', 'AWSBatch': 'Compute', 'AmazonLightsail': 'Compute',
        'AWSElasticBeanstalk': 'Compute', 'AmazonWorkSpaces': 'Compute', 'AWSComputeOptimizer': 'Compute',
        'ComputeSavingsPlans': 'Compute', 'AWSAppRunner': 'Compute', 'AWSOutposts': 'Compute',
        'AmazonAppStream': 'Compute',
        'AmazonSageMaker': 'AI and Machine Learning', 'AmazonBedrock': 'AI and Machine Learning',
        'AmazonBedrockService': 'AI and Machine Learning', 'AmazonBedrockFoundationModels': 'AI and Machine Learning',
        'AmazonBedrockAgentCore': 'AI and Machine Learning', 'AmazonRekognition': 'AI and Machine Learning',
        'comprehend': 'AI and Machine Learning', 'AmazonTextract': 'AI and Machine Learning',
        'transcribe': 'AI and Machine Learning', 'AmazonPolly': 'AI and Machine Learning',
        'AmazonLex': 'AI and Machine Learning', 'translate': 'AI and Machine Learning',
        'AmazonPersonalize': 'AI and Machine Learning', 'AmazonForecast': 'AI and Machine Learning',
        'AmazonKendra': 'AI and Machine Learning', 'AmazonQ': 'AI and Machine Learning',
        'MachineLearningSavingsPlans': 'AI and Machine Learning',
        'AmazonS3': 'Storage', 'AmazonS3GlacierDeepArchive': 'Storage', 'AmazonGlacier': 'Storage',
        'AmazonEFS': 'Storage', 'AmazonFSx': 'Storage', 'AWSBackup': 'Storage', 'AWSStorageGateway': 'Storage',
        'AWSDataSync': 'Storage', 'AWSTransfer': 'Storage',
        'AmazonRDS': 'Databases', 'AmazonDynamoDB': 'Databases', 'AmazonElastiCache': 'Databases',
        'AmazonRedshift': 'Databases', 'AmazonNeptune': 'Databases', 'AmazonDocDB': 'Databases',
        'AmazonMemoryDB': 'Databases', 'AmazonTimestream': 'Databases', 'AmazonQLDB': 'Databases',
        'AmazonMCS': 'Databases', 'AmazonDAX': 'Databases', 'AmazonAurora': 'Databases',
        'AWSDatabaseSavingsPlans': 'Databases',
        'AmazonVPC': 'Networking', 'AWSELB': 'Networking', 'AmazonCloudFront': 'Networking',
        'AmazonRoute53': 'Networking', 'AWSDirectConnect': 'Networking', 'AWSDataTransfer': 'Networking',
        'AWSGlobalAccelerator': 'Networking', 'AmazonVPNConnections': 'Networking', 'AWSTransitGateway': 'Networking',
        'AWSPrivateLink': 'Networking',
        'AmazonAthena': 'Analytics', 'AWSGlue': 'Analytics', 'ElasticMapReduce': 'Analytics',
        'AmazonKinesis': 'Analytics', 'AmazonKinesisFirehose': 'Analytics', 'AmazonKinesisAnalytics': 'Analytics',
        'AmazonES': 'Analytics', 'AmazonQuickSight': 'Analytics', 'AmazonMSK': 'Analytics',
        'AWSLakeFormation': 'Analytics', 'AmazonMWAA': 'Analytics',
        'AmazonSNS': 'Integration', 'AWSQueueService': 'Integration', 'AmazonStates': 'Integration',
        'AmazonApiGateway': 'Integration', 'AWSEvents': 'Integration', 'AmazonMQ': 'Integration',
        'AmazonAppSync': 'Integration',
        'AmazonCloudWatch': 'Management and Governance', 'AWSCloudTrail': 'Management and Governance',
        'AWSConfig': 'Management and Governance', 'AWSSystemsManager': 'Management and Governance',
        'AWSCloudFormation': 'Management and Governance', 'AWSSupportBusiness': 'Management and Governance',
        'AWSSupportEnterprise': 'Management and Governance', 'AWSDeveloperSupport': 'Management and Governance',
        'AWSSupport': 'Management and Governance', 'AWSCostExplorer': 'Management and Governance',
        'AWSBudgets': 'Management and Governance', 'AWSServiceCatalog': 'Management and Governance',
        'AmazonGrafana': 'Management and Governance', 'AmazonPrometheus': 'Management and Governance',
        'AWSXRay': 'Management and Governance',
        'awskms': 'Security', 'AWSSecretsManager': 'Security', 'AmazonGuardDuty': 'Security', 'awswaf': 'Security',
        'AWSShield': 'Security', 'AmazonInspector': 'Security', 'AmazonInspectorV2': 'Security',
        'AWSSecurityHub': 'Security', 'AmazonMacie': 'Security', 'AWSCertificateManager': 'Security',
        'AmazonDetective': 'Security', 'AWSNetworkFirewall': 'Security', 'CloudHSM': 'Security',
        'AmazonCognito': 'Identity', 'AWSDirectoryService': 'Identity', 'AWSIAM': 'Identity',
        'CodeBuild': 'Developer Tools', 'AWSCodePipeline': 'Developer Tools', 'AWSCodeCommit': 'Developer Tools',
        'AWSCodeArtifact': 'Developer Tools', 'AmazonCodeGuru': 'Developer Tools', 'AWSCloud9': 'Developer Tools',
        'AmazonPinpoint': 'Business Applications', 'AmazonSES': 'Business Applications',
        'AmazonConnect': 'Business Applications', 'AmazonWorkMail': 'Business Applications',
        'AmazonChime': 'Business Applications',
        'AWSIoT': 'Internet of Things', 'AWSIoTAnalytics': 'Internet of Things',
        'AWSGreengrass': 'Internet of Things',
        'AWSElementalMediaConvert': 'Media', 'AWSElementalMediaLive': 'Media', 'AmazonIVS': 'Media',
        'AWSDatabaseMigrationSvc': 'Migration', 'AWSApplicationMigrationSvc': 'Migration',
        'AWSAmplify': 'Web'
    }[service_code];

create or replace macro focus.aws_service_category(service_code, service_name) as
    coalesce(
        map {'Amazon Elastic Block Store': 'Storage', 'AWS Data Transfer': 'Networking'}[service_name],
        case
            when contains(service_name, 'Bedrock') and coalesce(focus.aws_category_of_code(service_code), '') <> 'Compute'
            then 'AI and Machine Learning'
        end,
        focus.aws_category_of_code(service_code),
        case
            when starts_with(service_code, 'AWSSupport') or starts_with(service_code, 'OCB')
            then 'Management and Governance'
        end,
        'Other'
    )
