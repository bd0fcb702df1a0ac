-- check: no source is complete beyond yesterday less its settle days
select source, complete_through, as_of
from marts.data_freshness
where days_behind < 0 or complete_through >= as_of

-- check: every source with charges in force is listed
select loads.source
from ops.load as loads
cross join settings.night as night
left join marts.data_freshness as freshness on loads.source = freshness.source
where loads.is_current and freshness.source is null

-- check: the latest loaded month has a status
select source, last_billing_month, last_month_status
from marts.data_freshness
where last_billing_month is not null and coalesce(last_month_status, 'no data') = 'no data'

-- check: what is provisional begins where what is complete ends
select source, complete_through, provisional_from
from marts.data_freshness
where coalesce(date_diff('day', complete_through, provisional_from), 1) <> 1
