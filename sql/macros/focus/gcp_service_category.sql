-- FOCUS ServiceCategory of a GCP service, by its name, so that one name never has two categories.
-- Source: FOCUS 1.2, allowed values of ServiceCategory; the grouping of services is Google's own product list.
create or replace macro focus.gcp_service_category(service_name) as
    case
        when service_name in (
            'Compute Engine', 'Kubernetes Engine', 'Cloud Run', 'Cloud Run Functions', 'Cloud Functions', 'App Engine', 'Batch',
            'Bare Metal Solution', 'VMware Engine', 'Cloud TPU', 'Workstations', 'Cloud Workstations'
        ) then 'Compute'
        when service_name in (
            'Vertex AI', 'Gemini API', 'Generative Language API', 'AI Platform', 'Cloud Vision API', 'Cloud Speech API',
            'Cloud Natural Language API', 'Translate', 'Cloud Translation API', 'Document AI', 'Cloud AutoML', 'Dialogflow API',
            'Cloud Text-to-Speech API', 'Recommendations AI', 'Vertex AI Search', 'Notebooks'
        ) then 'AI and Machine Learning'
        when service_name in (
            'Cloud Storage', 'Cloud Filestore', 'Filestore', 'Backup for GKE', 'NetApp Volumes', 'Artifact Registry', 'Backup and DR Service'
        ) then 'Storage'
        when service_name in (
            'Cloud SQL', 'Cloud Spanner', 'Cloud Bigtable', 'Cloud Firestore', 'Cloud Datastore', 'Cloud Memorystore for Redis',
            'Cloud Memorystore', 'AlloyDB', 'BigQuery'
        ) then 'Databases'
        when service_name in (
            'Networking', 'Cloud DNS', 'Cloud CDN', 'Cloud NAT', 'Cloud VPN', 'Cloud Load Balancing', 'Cloud Interconnect',
            'Network Connectivity Center', 'Network Intelligence Center'
        ) then 'Networking'
        when service_name in (
            'Cloud Dataflow', 'Cloud Dataproc', 'Dataproc', 'Dataplex', 'Data Fusion', 'Cloud Composer', 'Looker', 'Datastream',
            'BigQuery Data Transfer Service', 'BigQuery Storage API', 'BigQuery Reservation API', 'BigQuery BI Engine'
        ) then 'Analytics'
        when service_name in ('Cloud Pub/Sub', 'Cloud Tasks', 'Cloud Scheduler', 'Workflows', 'Eventarc', 'Apigee', 'API Gateway')
        then 'Integration'
        when service_name in ('Cloud Logging', 'Cloud Monitoring', 'Stackdriver', 'Stackdriver Monitoring', 'Support', 'Invoice')
            or contains(service_name, 'Support') then 'Management and Governance'
        when service_name in (
            'Cloud Key Management Service (KMS)', 'Secret Manager', 'Security Command Center', 'Cloud Armor', 'reCAPTCHA Enterprise'
        ) then 'Security'
        when service_name in ('Identity Platform', 'Cloud Identity', 'Managed Service for Microsoft Active Directory') then 'Identity'
        when service_name in ('Cloud Build', 'Source Repository', 'Cloud Deploy') then 'Developer Tools'
        when service_name in ('Firebase', 'Firebase Hosting') then 'Mobile'
        when service_name in ('Maps API', 'Places API') then 'Business Applications'
        when service_name in ('Cloud IoT Core') then 'Internet of Things'
        when service_name in ('Transcoder API', 'Live Stream API') then 'Media'
        when service_name in ('Database Migration Service', 'Storage Transfer Service') then 'Migration'
        else 'Other'
    end
