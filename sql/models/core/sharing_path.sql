-- Where shared costs come to rest: splits are gone through in the order of the configuration, one each time that this
-- is run, and what a split gives is taken again by a later one whose conditions it meets.
-- grain: one row per group of costs that a split takes, split that gave last, and names that a share ends under
-- key: billing_month, group_number, split_name?, project, team, cost_centre, gl_account?
-- repeated: core.sharing_start, once per row of settings.split
with moved as (select * from core.sharing_start),
matched as (select * from core.sharing_matched),
met as (select * from core.sharing_value),
shares as (select * from core.sharing_share),
splits as (select * from settings.split),
offered as (
    select moved.*, splits.split_number, splits.is_daily,
        case
            when splits.share_others = coalesce(matched.others_met, 0)
                and splits.share_names = case when projects_met.value is null then 0 else 1 end
                + case when teams_met.value is null then 0 else 1 end
                + case when centres_met.value is null then 0 else 1 end
                and (splits.from_month is null or splits.from_month <= moved.billing_month)
                and (splits.until_month is null or moved.billing_month < splits.until_month)
                then splits.split_name
        end as taken_by
    from moved
    inner join splits on splits.split_number = moved.last_split + 1
    left join matched
        on moved.billing_month = matched.billing_month and moved.group_number = matched.group_number
        and splits.split_number = matched.split_number and matched.part = 'share'
    left join met as projects_met
        on moved.billing_month = projects_met.billing_month and splits.split_number = projects_met.split_number
        and projects_met.part = 'share' and projects_met.dimension = 'project'
        and moved.project = projects_met.value
    left join met as teams_met
        on moved.billing_month = teams_met.billing_month and splits.split_number = teams_met.split_number
        and teams_met.part = 'share' and teams_met.dimension = 'team' and moved.team = teams_met.value
    left join met as centres_met
        on moved.billing_month = centres_met.billing_month and splits.split_number = centres_met.split_number
        and centres_met.part = 'share' and centres_met.dimension = 'cost_centre'
        and moved.cost_centre = centres_met.value
),
given as (
    select offered.billing_month, offered.group_number, offered.charge_date, offered.billing_currency,
        offered.split_number, offered.taken_by, coalesce(shares.project, offered.project) as project,
        coalesce(shares.team, offered.team) as team, coalesce(shares.cost_centre, offered.cost_centre) as cost_centre,
        case when shares.project is null then offered.gl_account else shares.gl_account end as gl_account,
        offered.billed_share * coalesce(shares.billed_share, 1) as billed_share,
        offered.effective_share * coalesce(shares.effective_share, 1) as effective_share
    from offered
    left join shares
        on offered.billing_month = shares.billing_month and offered.split_number = shares.split_number
        and offered.billing_currency = shares.billing_currency
        and shares.charge_date is not distinct from case when offered.is_daily then offered.charge_date end
    where offered.taken_by is not null
)

-- What the split does not take stays; each split gives under a name of its own, so that only what it gives is summed.
select offered.billing_month, offered.group_number, offered.charge_date, offered.billing_currency,
    offered.split_number as last_split, offered.split_name, offered.project, offered.team, offered.cost_centre,
    offered.gl_account, offered.billed_share, offered.effective_share
from offered
where offered.taken_by is null
union all
select given.billing_month, given.group_number, given.charge_date, given.billing_currency,
    given.split_number as last_split, given.taken_by as split_name, given.project, given.team, given.cost_centre,
    given.gl_account, cast(sum(given.billed_share) as decimal(13, 12)) as billed_share,
    cast(sum(given.effective_share) as decimal(13, 12)) as effective_share
from given
group by given.billing_month, given.group_number, given.charge_date, given.billing_currency, given.split_number,
    given.taken_by, given.project, given.team, given.cost_centre, given.gl_account
