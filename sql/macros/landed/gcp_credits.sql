-- The credits of a GCP row as a list with amounts in money; null where it has none. Read once per row and summed, never
-- joined: a row with two credits stays one row. The sums take this list.
create or replace temporary macro gcp_credits(credits) as
    case
        when not starts_with(credits, '[') and credits <> 'null' then error('column credits: it is no list')
        when credits <> '[]'
        then list_transform(
            from_json(credits, '[{"type":"VARCHAR","amount":"VARCHAR"}]'),
            lambda credit: {
                'type': credit.type,
                'amount': case
                    when credit is not null and credit.amount is null and not contains(credits, '"amount"')
                    then error('column credits: a credit has no amount; members are named in small letters')
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
        )
    end;

create or replace temporary macro gcp_credit_sum(credit_list) as
    cast(coalesce(list_sum(list_transform(credit_list, lambda credit: credit.amount)), 0) as decimal(38, 12));

create or replace temporary macro gcp_credit_rest(credit_list) as
    list_sum(list_transform(credit_list, lambda credit: credit.rest));

-- The sum of the credits of one type; null where the row has none of it.
create or replace temporary macro gcp_credit_of(credit_list, credit_type) as
    cast(
        list_sum(
            list_transform(
                list_filter(credit_list, lambda credit: credit.type = credit_type), lambda credit: credit.amount
            )
        ) as decimal(38, 12)
    );

create or replace temporary macro gcp_promotion_sum(credit_list) as
    coalesce(gcp_credit_of(credit_list, 'PROMOTION'), 0) + coalesce(gcp_credit_of(credit_list, 'CREDIT_TYPE_UNSPECIFIED'), 0)
