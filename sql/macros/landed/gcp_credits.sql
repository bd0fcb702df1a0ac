-- The credits of a GCP row as a list with amounts in money; none is an empty list. Summed per row, never joined: a row
-- with two credits stays one row.
create or replace temporary macro gcp_credits(credits) as
    coalesce(
        list_transform(
            from_json(credits, '[{"type":"VARCHAR","amount":"VARCHAR"}]'),
            lambda credit: {
                'type': credit.type,
                'amount': case
                    when credit.amount is null then 0
                    when try_cast(credit.amount as decimal(38, 12)) is null
                    then error('column credits: amount ' || credit.amount || ' is not a finite number')
                    else cast(credit.amount as decimal(38, 12))
                end,
                'rest': case
                    when length(credit.amount) > 13 or contains(lower(credit.amount), 'e-')
                    then try_cast(credit.amount as decimal(38, 24))
                    - try_cast(try_cast(credit.amount as decimal(38, 12)) as decimal(38, 24))
                end
            }
        ),
        []
    );

create or replace temporary macro gcp_credit_sum(credits) as
    cast(coalesce(list_sum(list_transform(gcp_credits(credits), lambda credit: credit.amount)), 0) as decimal(38, 12));

create or replace temporary macro gcp_credit_rest(credits) as
    list_sum(list_transform(gcp_credits(credits), lambda credit: credit.rest));

create or replace temporary macro gcp_promotion_sum(credits) as
    cast(
        coalesce(
            list_sum(
                list_transform(
                    list_filter(
                        gcp_credits(credits), lambda credit: credit.type in ('PROMOTION', 'CREDIT_TYPE_UNSPECIFIED')
                    ),
                    lambda credit: credit.amount
                )
            ),
            0
        ) as decimal(38, 12)
    )
