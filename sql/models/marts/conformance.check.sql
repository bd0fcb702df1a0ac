-- check: no rule is broken by more charges than there are
select source, billing_month, rule, violating_rows, charge_rows
from marts.conformance
where violating_rows > charge_rows and rule not in ('commitment_month_conserved', 'commitment_term_conserved')
