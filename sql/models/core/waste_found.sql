-- What all checks for waste found, before it is known whose it is: those of single resources, and those of all that a
-- project has in a sub-account.
-- grain: one row per check and resource, or sub-account, project and team
-- key: source, check_name, resource_id?, sub_account_id?, project?, team?, billing_currency
-- materialized: full
with resources as (
    select idle_address.* from core.waste_idle_address as idle_address
    union all
    select idle_nat.* from core.waste_idle_nat as idle_nat
    union all
    select idle_load_balancer.* from core.waste_idle_load_balancer as idle_load_balancer
    union all
    select idle_endpoint.* from core.waste_idle_endpoint as idle_endpoint
    union all
    select idle_bucket.* from core.waste_idle_bucket as idle_bucket
    union all
    select idle_reservation.* from core.waste_idle_reservation as idle_reservation
    union all
    select unused_commitment.* from core.waste_unused_commitment as unused_commitment
    union all
    select extended_support.* from core.waste_extended_support as extended_support
    union all
    select gp2_volume.* from core.waste_gp2_volume as gp2_volume
    union all
    select provisioned_iops.* from core.waste_provisioned_iops as provisioned_iops
    union all
    select old_snapshot.* from core.waste_old_snapshot as old_snapshot
    union all
    select log_growth.* from core.waste_log_growth as log_growth
    union all
    select stopped_machine_disk.* from core.waste_stopped_machine_disk as stopped_machine_disk
    union all
    select previous_generation.* from core.waste_previous_generation as previous_generation
    union all
    select arm_twin.* from core.waste_arm_twin as arm_twin
    union all
    select always_on_notebook.* from core.waste_always_on_notebook as always_on_notebook
    union all
    select gpu_without_metrics.* from core.waste_gpu_without_metrics as gpu_without_metrics
),
groups as (
    select uncovered_on_demand.* from core.waste_uncovered_on_demand as uncovered_on_demand
    union all
    select short_lived_machine.* from core.waste_short_lived_machine as short_lived_machine
    union all
    select cross_zone_traffic.* from core.waste_cross_zone_traffic as cross_zone_traffic
    union all
    select used_address.* from core.waste_used_address as used_address
)

select resources.source, resources.check_name, resources.resource_id, cast(null as varchar) as sub_account_id,
    cast(null as varchar) as project, cast(null as varchar) as team, resources.billing_currency, resources.outcome,
    resources.usage_cost, resources.covered_cost, resources.saving_share, resources.charged_days, resources.evidence
from resources
union all
select groups.source, groups.check_name, cast(null as varchar) as resource_id, groups.sub_account_id, groups.project,
    groups.team, groups.billing_currency, groups.outcome, groups.usage_cost, groups.covered_cost, groups.saving_share,
    groups.charged_days, groups.evidence
from groups
