-- check: no attempt that completed, never began or still runs loses anything
select losses.source, losses.attempt_id, attempts.state, losses.certainty, losses.lost_share
from core.run_loss as losses
inner join core.run_attempt as attempts
    on losses.source = attempts.source and losses.attempt_id = attempts.attempt_id
where losses.lost_share < 0 or losses.lost_share > 1
    or losses.lost_share > 0
    and (attempts.state in ('completed', 'running', 'pending') or attempts.started_at is null)
