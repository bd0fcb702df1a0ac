-- Tag keys that are nearly one that names a dimension: other case or width, or one or two letters off.
-- grain: one row per source, month, dimension and tag key that was probably meant to be another
-- key: source, billing_month, dimension, tag_key
with tag_sets as (select * from core.tag_set),
tag_keys as (select * from settings.attribution_tag),
found as (
    select distinct tag_sets.source, tag_sets.billing_month, tag_sets.tag_key
    from tag_sets
    left join tag_keys on tag_sets.tag_key = tag_keys.tag_key
    where tag_keys.tag_key is null and length(tag_sets.tag_key) <= 64
),
folded_found as (
    select found.*, lower(trim(translate(
            found.tag_key,
            'ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ０１２３４５６７８９－＿　',
            'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_ '
        ))) as folded
    from found
),
folded_wanted as (
    select tag_keys.*, lower(trim(translate(
            tag_keys.tag_key,
            'ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ０１２３４５６７８９－＿　',
            'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_ '
        ))) as folded
    from tag_keys
),
compared as (
    select folded_found.source, folded_found.billing_month, folded_found.tag_key, folded_wanted.dimension,
        folded_wanted.tag_key as meant_key, levenshtein(folded_found.folded, folded_wanted.folded) as distance,
        length(folded_wanted.folded) as size
    from folded_found
    cross join folded_wanted
),
-- Short keys are near one another by chance: env and end, app and ape.
near as (
    select compared.*
    from compared
    where compared.distance = 0 or (compared.distance = 1 and compared.size >= 4)
        or (compared.distance = 2 and compared.size >= 7)
),
nearest as (
    select near.source, near.billing_month, near.tag_key, near.dimension, min(near.distance) as distance
    from near
    group by near.source, near.billing_month, near.tag_key, near.dimension
)

select
    -- The [[source]] of the configuration that delivered the charges
    near.source,
    -- First day of the invoice month
    near.billing_month,
    -- project, team, environment, workload or cost_centre
    near.dimension,
    -- Key as it is found on charges
    near.tag_key,
    -- Key of the configuration that was probably meant
    min(near.meant_key) as meant_key
from near
inner join nearest
    on near.source = nearest.source and near.billing_month = nearest.billing_month
    and near.tag_key = nearest.tag_key and near.dimension = nearest.dimension
    and near.distance = nearest.distance
group by near.source, near.billing_month, near.dimension, near.tag_key
