-- What costs money for nothing: since when, how much, whose it is and how to stop it. Costs are effective costs before
-- promotional credits; sum what is_counted has, per currency, and leave out what is resolved or dismissed.
-- grain: one row per finding; a resolved one stays for a year
-- key: finding_id
-- materialized: full
with findings as (select * from analysis.waste_state),
checks as (select * from settings.waste_check),
dismissals as (select * from settings.waste_dismissal),
night as (select * from settings.night)

select
    -- Id of the finding, for overrun waste dismiss
    findings.finding_id,
    -- new, still, resolved or dismissed
    case
        when findings.status <> 'resolved' and dismissals.until >= night.as_of then 'dismissed'
        else findings.status
    end as status,
    -- Source that delivered the charges
    findings.source,
    -- Check that found it
    findings.check_name,
    -- What the check looks for
    checks.title,
    -- Cloud provider
    findings.provider,
    -- AWS usage account, GCP project
    findings.sub_account_id,
    -- Region of the resource
    findings.region_id,
    -- The resource; null where it is of all that a project has in a sub-account
    findings.resource_id,
    -- Name of the resource; null where the export has none
    findings.resource_name,
    -- Project that it belongs to, as of its last day with charges
    findings.project,
    -- Team that it belongs to, alike
    findings.team,
    -- ISO 4217 code of every amount on the row
    findings.billing_currency,
    -- waste, advice (the saving is not known) or unknown (nothing is claimed)
    findings.outcome,
    -- Whether it counts: of one resource the largest finding does
    findings.is_counted,
    -- Cost in the window of what would be stopped
    findings.usage_cost,
    -- Cost in the window that went for nothing; 0 unless the outcome is waste
    findings.wasted_cost,
    -- Part of wasted_cost that no commitment pays, so that stopping saves it
    findings.cash_saving,
    -- Wasted cost of a month of 730 hours at that rate
    findings.monthly_cost,
    -- Wasted cost since first_seen, added up night by night
    findings.so_far_cost,
    -- What it would have cost since it was resolved; 0 while it is not
    findings.saved_cost,
    -- Number of days that wasted_cost is of
    findings.charged_days,
    -- First day of the window that was looked at, UTC
    findings.window_start,
    -- First day after the window, UTC
    findings.window_end,
    -- What was seen, in numbers
    findings.evidence,
    -- Command or step that stops it
    findings.stop_step,
    -- Whether the check was made for the first time, or with other numbers, when it was found
    findings.is_baseline,
    -- First day of the window in which it was found first, UTC
    findings.first_seen,
    -- Day of the night that found it first, UTC
    findings.first_found,
    -- Day of the night that found it last, UTC
    findings.last_found,
    -- Days from first_seen to the night's day, or to the night on which it was resolved
    date_diff('day', findings.first_seen, coalesce(findings.resolved_on, night.as_of)) as age_days,
    -- Day of the night that no longer found it, UTC; null while it is found
    findings.resolved_on,
    -- Who dismissed it; null where nobody did, or the time is over
    case when dismissals.until >= night.as_of then dismissals.dismissed_by end as dismissed_by,
    -- Last day on which it counts as dismissed, UTC
    case when dismissals.until >= night.as_of then dismissals.until end as dismissed_until,
    -- Why it was dismissed
    case when dismissals.until >= night.as_of then dismissals.reason end as dismissed_reason
from findings
cross join night
left join checks on findings.check_name = checks.check_name
left join dismissals on findings.finding_id = dismissals.finding_id
