-- check: every commitment with charges is listed
select used.source, used.billing_month, used.commitment_discount_id
from core.commitments_used as used
left join marts.commitment_usage as listed
    on used.source = listed.source and used.billing_month = listed.billing_month
    and used.commitment_discount_id = coalesce(listed.commitment_discount_id, '')
where listed.source is null
