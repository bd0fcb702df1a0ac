-- What containers took of their machines on each day, from the split cost allocation rows of AWS's Cost and Usage Report.
-- grain: one row per day, machine, container, tag set, account, operation, usage type and currency
-- key: charge_date, parent_resource_id, resource_id?, x_TagSetId?, sub_account_id?, operation, usage_type?,
-- key: billing_currency
-- Source: AWS CUR data dictionary, "Split line item details".
with
    lines as (
        select
            *,
            list_contains(
                getvariable('net_payers'), coalesce(bill_payer_account_id, line_item_usage_account_id)
            ) as is_net,
        from landed
        where focus.aws_is_split_row(line_item_operation) and split_line_item_parent_resource_id is not null
    )

select
    cast(coalesce(line_item_usage_start_date, getvariable('billing_month')) as date) as charge_date,
    private_resource(split_line_item_parent_resource_id) as parent_resource_id,
    private_resource(line_item_resource_id) as resource_id,
    coalesce(tag_set_id, tag_set_id(private_tags(tags_text), cost_categories_text)) as "x_TagSetId",
    private_tags(tags_text) as "Tags",
    cost_categories_text as "x_CostCategories",
    line_item_usage_account_id as sub_account_id,
    max(line_item_usage_account_name) as sub_account_name,
    line_item_operation as operation,
    line_item_usage_type as usage_type,
    coalesce(line_item_currency_code, getvariable('default_currency')) as billing_currency,
    coalesce(
        sum(
            case
                when is_net then coalesce(split_line_item_net_split_cost, split_line_item_split_cost)
                else split_line_item_split_cost
            end
        ),
        0
    ) as split_cost,
    coalesce(
        sum(
            case
                when is_net then coalesce(split_line_item_net_unused_cost, split_line_item_unused_cost)
                else split_line_item_unused_cost
            end
        ),
        0
    ) as unused_cost,
    -- Summed as decimals: a parallel sum of doubles differs from run to run.
    cast(sum(try_cast(split_line_item_split_usage as decimal(38, 9))) as double) as split_usage,
    cast(sum(try_cast(split_line_item_actual_usage as decimal(38, 9))) as double) as actual_usage,
    cast(sum(try_cast(split_line_item_reserved_usage as decimal(38, 9))) as double) as reserved_usage,
    count(*) as split_rows,
from lines
group by all
