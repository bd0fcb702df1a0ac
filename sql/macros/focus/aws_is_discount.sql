-- Whether an AWS line item type is a discount row. Such rows repeat what the net columns already hold.
-- Source: AWS CUR data dictionary, lineItem/LineItemType.
create or replace macro focus.aws_is_discount(item_type) as
    item_type in (
        'EdpDiscount', 'PrivateRateDiscount', 'SppDiscount', 'RiVolumeDiscount', 'BundledDiscount', 'Discount',
        'DistributorDiscount'
    )
