-- The same charges as CUR 2.0 delivers them: maps for tags, product attributes, discounts and cost categories.
select
    * exclude (
        file_row_number, resource_tags_user_name, resource_tags_user_project, resource_tags_user_team,
        resource_tags_user_environment, resource_tags_user_cost_centre, product_product_name, product_gpu, product_memory,
        product_vcpu, product_operating_system, product_region
    ),
    product_region as product_region_code,
    map_from_entries(
        list_filter(
            [
                {'tag': 'user_name', 'value': resource_tags_user_name},
                {'tag': 'user_project', 'value': resource_tags_user_project},
                {'tag': 'user_team', 'value': resource_tags_user_team},
                {'tag': 'user_environment', 'value': resource_tags_user_environment},
                {'tag': 'user_cost_centre', 'value': resource_tags_user_cost_centre}
            ],
            lambda entry: entry.value is not null
        )
    ) as resource_tags,
    map_from_entries(
        list_filter(
            [
                {'attribute': 'product_name', 'value': product_product_name},
                {'attribute': 'region', 'value': product_region},
                {'attribute': 'operating_system', 'value': product_operating_system},
                {'attribute': 'vcpu', 'value': product_vcpu},
                {'attribute': 'memory', 'value': product_memory},
                {'attribute': 'gpu', 'value': product_gpu}
            ],
            lambda entry: entry.value is not null
        )
    ) as product,
    map {'business_unit': product_region} as cost_category,
    map {}::map(varchar, double) as discount,
from delivered
