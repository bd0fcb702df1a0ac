-- Names that tags give and that are nearly another: other case or width of one with more charges, or one or two letters
-- off a name that the configuration has. Names that differ in digits alone are different names.
-- grain: one row per source, month, dimension and name that was probably meant to be another
-- key: source, billing_month, dimension, name
with costs as (select * from core.name_cost),
rules as (select * from settings.attribution_rule),
accounts as (select * from settings.attribution_account),
owners as (select * from settings.owner),
team_projects as (select * from settings.team_project),
known as (
    select rules.dimension, rules.value as name from rules where rules.value_key is null
    union
    select 'project' as dimension, accounts.project as name from accounts
    union
    select 'project' as dimension, team_projects.project as name from team_projects
    union
    select 'team' as dimension, team_projects.team as name from team_projects
    union
    select 'project' as dimension, owners.project as name from owners
    union
    select 'team' as dimension, owners.team as name from owners where owners.team is not null
    union
    select 'cost_centre' as dimension, owners.cost_centre as name from owners where owners.cost_centre is not null
),
found as (
    select costs.source, costs.billing_month, costs.dimension, costs.name, sum(costs.charge_rows) as charge_rows
    from costs
    left join known on costs.dimension = known.dimension and costs.name = known.name
    where costs.name <> 'unattributed' and length(costs.name) <= 256 and known.name is null
    group by costs.source, costs.billing_month, costs.dimension, costs.name
),
folded_found as (
    select found.*, lower(trim(translate(
            found.name,
            'ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ０１２３４５６７８９－＿　',
            'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_ '
        ))) as folded
    from found
),
spelt as (
    select folded_found.*, row_number() over (
            partition by folded_found.source, folded_found.billing_month, folded_found.dimension, folded_found.folded
            order by folded_found.charge_rows desc, folded_found.name
        ) as place
    from folded_found
),
folded_known as (
    select known.*, lower(trim(translate(
            known.name,
            'ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ０１２３４５６７８９－＿　',
            'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_ '
        ))) as folded
    from known
),
compared as (
    select folded_found.source, folded_found.billing_month, folded_found.dimension, folded_found.name,
        folded_known.name as meant, levenshtein(folded_found.folded, folded_known.folded) as distance,
        length(folded_known.folded) as size
    from folded_found
    inner join folded_known on folded_found.dimension = folded_known.dimension
        and abs(length(folded_found.folded) - length(folded_known.folded)) <= 2
    where folded_found.folded = folded_known.folded or translate(folded_found.folded, '0123456789', '')
        <> translate(folded_known.folded, '0123456789', '')
    union all
    select one.source, one.billing_month, one.dimension, one.name, other.name as meant, 0 as distance, 0 as size
    from spelt as one
    inner join spelt as other
        on one.source = other.source and one.billing_month = other.billing_month and one.dimension = other.dimension
        and one.folded = other.folded
    where one.place > 1 and other.place = 1
),
near as (
    select compared.*
    from compared
    where compared.distance = 0 or (compared.distance = 1 and compared.size >= 4)
        or (compared.distance = 2 and compared.size >= 7)
),
nearest as (
    select near.source, near.billing_month, near.dimension, near.name, min(near.distance) as distance
    from near
    group by near.source, near.billing_month, near.dimension, near.name
)

select near.source, near.billing_month, near.dimension, near.name,
    -- Name that was probably meant: one that the configuration has goes before one that others use
    coalesce(min(case when near.size > 0 then near.meant end), min(near.meant)) as meant_name
from near
inner join nearest
    on near.source = nearest.source and near.billing_month = nearest.billing_month
    and near.dimension = nearest.dimension and near.name = nearest.name and near.distance = nearest.distance
group by near.source, near.billing_month, near.dimension, near.name
