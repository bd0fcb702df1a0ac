-- Whether an AWS row refunds the purchase of a commitment: its cost was never spread over usage, so neither is its refund.
-- Every other refund keeps its amount.
-- Source: AWS Well-Architected Cost Intelligence Dashboards, amortised cost.
create or replace macro focus.aws_is_purchase_refund(item_type, service_code, savings_plan, description) as
    item_type = 'Refund'
    and service_code = 'ComputeSavingsPlans'
    and (savings_plan is not null or starts_with(coalesce(description, ''), 'Refund for one-time fee for Savings Plan ID'))
