-- check: everything that was found is kept
select counted.checks, counted.kept
from (
    select
        (select count(*) from settings.invoice_check) as checks,
        (select count(*) from marts.invoice_reconciliation) as kept
) as counted
where counted.checks <> counted.kept
