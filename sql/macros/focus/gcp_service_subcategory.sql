-- FOCUS ServiceSubcategory of a GCP service; the category's own "Other" where no finer one is certain.
-- Source: FOCUS 1.2, allowed values of ServiceSubcategory.
create or replace macro focus.gcp_service_subcategory(service_name) as
    coalesce(
        map {
            'Compute Engine': 'Virtual Machines',
            'Kubernetes Engine': 'Containers',
            'Cloud Run': 'Serverless Compute', 'Cloud Run Functions': 'Serverless Compute',
            'Cloud Functions': 'Serverless Compute',
            'Vertex AI': 'AI Platforms', 'AI Platform': 'AI Platforms', 'Cloud AutoML': 'AI Platforms',
            'Gemini API': 'Generative AI', 'Generative Language API': 'Generative AI',
            'Dialogflow API': 'Bots',
            'Cloud Natural Language API': 'Natural Language Processing', 'Translate': 'Natural Language Processing',
            'Cloud Translation API': 'Natural Language Processing',
            'Cloud Storage': 'Object Storage',
            'Cloud Filestore': 'File Storage', 'Filestore': 'File Storage', 'NetApp Volumes': 'File Storage',
            'Backup for GKE': 'Backup Storage', 'Backup and DR Service': 'Backup Storage',
            'Cloud SQL': 'Relational Databases', 'AlloyDB': 'Relational Databases',
            'Cloud Spanner': 'Relational Databases',
            'Cloud Bigtable': 'NoSQL Databases', 'Cloud Firestore': 'NoSQL Databases',
            'Cloud Datastore': 'NoSQL Databases',
            'Cloud Memorystore for Redis': 'Caching', 'Cloud Memorystore': 'Caching',
            'BigQuery': 'Data Warehouses',
            'Cloud CDN': 'Content Delivery',
            'Cloud DNS': 'Network Routing',
            'Cloud Load Balancing': 'Application Networking',
            'Cloud VPN': 'Network Connectivity', 'Cloud Interconnect': 'Network Connectivity',
            'Cloud NAT': 'Network Connectivity',
            'Networking': 'Network Infrastructure',
            'Cloud Dataflow': 'Data Processing', 'Cloud Dataproc': 'Data Processing', 'Dataproc': 'Data Processing',
            'Looker': 'Business Intelligence',
            'Cloud Pub/Sub': 'Messaging', 'Eventarc': 'Messaging',
            'Apigee': 'API Management', 'API Gateway': 'API Management',
            'Workflows': 'Workflow Orchestration',
            'Cloud Logging': 'Observability', 'Cloud Monitoring': 'Observability', 'Stackdriver': 'Observability',
            'Stackdriver Monitoring': 'Observability',
            'Cloud Key Management Service (KMS)': 'Secret Management', 'Secret Manager': 'Secret Management',
            'Security Command Center': 'Security Posture Management',
            'Identity Platform': 'Identity and Access Management', 'Cloud Identity': 'Identity and Access Management',
            'Cloud Build': 'Continuous Integration and Deployment'
        }[service_name],
        case when contains(service_name, 'Support') then 'Support' end,
        'Other (' || focus.gcp_service_category(service_name) || ')'
    )
