-- Services as charges name them, and whether their category and subcategory are words of FOCUS 1.2 that go together.
-- Source: FOCUS 1.2, ServiceCategory and ServiceSubcategory, allowed values.
-- grain: one row per source, month, provider, service, category and subcategory
-- key: source, billing_month, provider?, service_name?, service_category?, service_subcategory?
with charges as (select * from focus.cost_and_usage),
services as (
    select charges.x_Source as source, charges.x_BillingMonth as billing_month, charges.ProviderName as provider,
        charges.ServiceName as service_name, charges.ServiceCategory as service_category,
        charges.ServiceSubcategory as service_subcategory, count(*) as charge_rows
    from charges
    group by charges.x_Source, charges.x_BillingMonth, charges.ProviderName, charges.ServiceName,
        charges.ServiceCategory, charges.ServiceSubcategory
),
-- The category that most charges of a service have, the first in the alphabet where two have as many.
category_rows as (
    select services.source, services.billing_month, services.provider, services.service_name,
        services.service_category, sum(services.charge_rows) as charge_rows
    from services
    group by services.source, services.billing_month, services.provider, services.service_name,
        services.service_category
),
most_rows as (
    select category_rows.source, category_rows.billing_month, category_rows.provider, category_rows.service_name,
        max(category_rows.charge_rows) as charge_rows
    from category_rows
    group by category_rows.source, category_rows.billing_month, category_rows.provider, category_rows.service_name
),
main_categories as (
    select category_rows.source, category_rows.billing_month, category_rows.provider, category_rows.service_name,
        min(category_rows.service_category) as service_category
    from category_rows
    inner join most_rows
        on category_rows.source = most_rows.source and category_rows.billing_month = most_rows.billing_month
        and category_rows.provider = most_rows.provider and category_rows.service_name = most_rows.service_name
        and category_rows.charge_rows = most_rows.charge_rows
    group by category_rows.source, category_rows.billing_month, category_rows.provider, category_rows.service_name
)

select
    -- Source that delivered the charges
    services.source,
    -- First day of the invoice month
    services.billing_month,
    -- ProviderName
    services.provider,
    -- ServiceName
    services.service_name,
    -- ServiceCategory
    services.service_category,
    -- ServiceSubcategory
    services.service_subcategory,
    -- Charges
    services.charge_rows,
    -- Whether the category is a word of FOCUS
    coalesce(services.service_category in (
        'AI and Machine Learning', 'Analytics', 'Business Applications', 'Compute', 'Databases', 'Developer Tools',
        'Identity', 'Integration', 'Internet of Things', 'Management and Governance', 'Media', 'Migration',
        'Mobile', 'Multicloud', 'Networking', 'Security', 'Storage', 'Web', 'Other'
    ), false) as is_category_known,
    -- Whether the subcategory is one of the category's
    coalesce(services.service_subcategory = 'Other (' || services.service_category || ')'
        or services.service_category || ' > ' || services.service_subcategory in (
        'AI and Machine Learning > AI Platforms', 'AI and Machine Learning > Bots',
        'AI and Machine Learning > Generative AI', 'AI and Machine Learning > Machine Learning',
        'AI and Machine Learning > Natural Language Processing', 'Analytics > Analytics Platforms',
        'Analytics > Business Intelligence', 'Analytics > Data Processing', 'Analytics > Search',
        'Analytics > Streaming Analytics', 'Business Applications > Productivity and Collaboration',
        'Compute > Containers', 'Compute > End User Computing', 'Compute > Quantum Compute',
        'Compute > Serverless Compute', 'Compute > Virtual Machines', 'Databases > Caching',
        'Databases > Data Warehouses', 'Databases > Ledger Databases', 'Databases > NoSQL Databases',
        'Databases > Relational Databases', 'Databases > Time Series Databases',
        'Developer Tools > Developer Platforms', 'Developer Tools > Continuous Integration and Deployment',
        'Developer Tools > Development Environments', 'Developer Tools > Source Code Management',
        'Developer Tools > Quality Assurance', 'Identity > Identity and Access Management',
        'Integration > API Management', 'Integration > Messaging', 'Integration > Workflow Orchestration',
        'Internet of Things > IoT Analytics', 'Internet of Things > IoT Platforms',
        'Management and Governance > Architecture', 'Management and Governance > Compliance',
        'Management and Governance > Cost Management', 'Management and Governance > Data Governance',
        'Management and Governance > Disaster Recovery', 'Management and Governance > Endpoint Management',
        'Management and Governance > Observability', 'Management and Governance > Support',
        'Media > Content Creation', 'Media > Gaming', 'Media > Media Streaming', 'Media > Mixed Reality',
        'Migration > Data Migration', 'Migration > Resource Migration', 'Multicloud > Multicloud Integration',
        'Networking > Application Networking', 'Networking > Content Delivery',
        'Networking > Network Connectivity', 'Networking > Network Infrastructure', 'Networking > Network Routing',
        'Networking > Network Security', 'Security > Secret Management', 'Security > Security Posture Management',
        'Security > Threat Detection and Response', 'Storage > Backup Storage', 'Storage > Block Storage',
        'Storage > File Storage', 'Storage > Object Storage', 'Storage > Storage Platforms',
        'Web > Application Platforms'
    ), false) as is_subcategory_known,
    -- Whether most charges of the service have another category
    coalesce(services.service_category <> main_categories.service_category, false) as is_category_divided
from services
left join main_categories
    on services.source = main_categories.source and services.billing_month = main_categories.billing_month
    and services.provider = main_categories.provider and services.service_name = main_categories.service_name
