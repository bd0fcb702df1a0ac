-- Machines and databases of an old family, of which a newer one at the same size costs less.
-- grain: one row per machine, unless the other is known to cost as much or more
-- key: source, check_name, resource_id, billing_currency
-- materialized: full
with twins as (select * from core.waste_machine_twin)

select twins.*
from twins
where twins.check_name = 'previous_generation'
