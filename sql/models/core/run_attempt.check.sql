-- check: every attempt of usage.run is there, once
select given.source, given.attempts, built.attempts
from (select source, count(*) as attempts from usage.run group by source) as given
full join (select source, count(*) as attempts from core.run_attempt group by source) as built
    on given.source = built.source
where given.attempts is distinct from built.attempts
