"""How to stop what costs money for nothing: a command where one does, else what to do. Pure.

Ids come from a cloud and are hostile: each is one quoted word behind its option, so that none is taken for an option or
for a second command. Called by `analysis.waste_run`.
"""

from __future__ import annotations

import re
import shlex

from sql.text import visible

_LONGEST_ID = 400
_NEW_BALANCER = re.compile(r":loadbalancer/(?:app|net|gwy)/")

_COMMANDS = {
    ("idle_address", "AWS"): "aws ec2 release-address --allocation-id={name}{region}",
    ("idle_address", "Google Cloud"): "gcloud compute addresses delete{project}{region} -- {name}",
    ("idle_nat", "AWS"): "aws ec2 delete-nat-gateway --nat-gateway-id={name}{region}",
    ("idle_load_balancer", "AWS"): "aws elbv2 delete-load-balancer --load-balancer-arn={id}{region}",
    ("idle_classic_balancer", "AWS"): "aws elb delete-load-balancer --load-balancer-name={name}{region}",
    ("idle_load_balancer", "Google Cloud"): "gcloud compute forwarding-rules delete{project}{region} -- {name}",
    ("old_snapshot", "AWS"): "aws ec2 delete-snapshot --snapshot-id={name}{region}",
    ("old_snapshot", "Google Cloud"): "gcloud compute snapshots delete{project} -- {name}",
    ("gp2_volume", "AWS"): "aws ec2 modify-volume --volume-type=gp3 --volume-id={name}{region}",
    ("provisioned_iops", "AWS"): "aws ec2 modify-volume --volume-type=gp3 --iops=3000 --volume-id={name}{region}",
    ("idle_reservation", "AWS"): "aws ec2 cancel-capacity-reservation --capacity-reservation-id={name}{region}",
    ("idle_endpoint", "AWS"): "aws sagemaker delete-endpoint --endpoint-name={name}{region}",
    ("always_on_notebook", "AWS"): "aws sagemaker stop-notebook-instance --notebook-instance-name={name}{region}",
}
_STEPS = {
    "stopped_machine_disk": "Snapshot the disk; once that is complete, detach the disk and delete it.",
    "always_on_notebook": "Stop it in the console when nobody works, or give it an idle timeout.",
    "idle_nat": "Delete the gateway in the console, under Cloud NAT.",
    "idle_reservation": "Cancel the reservation in the console, or start machines that take it.",
    "previous_generation": "Stop the machine, change its type to the newer family, start it.",
    "arm_twin": "Build for ARM processors, then move to the type named.",
    "unused_commitment": "It is paid until it ends: move usage under it, and do not renew this part.",
    "uncovered_on_demand": "Buy a commitment for the steady part, if it will last.",
    "log_growth": "Give the log group a retention time.",
    "idle_bucket": "Add a lifecycle rule that moves objects to colder storage.",
    "extended_support": "Upgrade to a version under standard support.",
    "short_lived_machine": "Start such machines on spot capacity.",
    "cross_zone_traffic": "Keep machines that talk to each other in one zone.",
    "used_address": "Put machines behind a load balancer or a NAT gateway, and release their addresses.",
    "gpu_without_metrics": "Report GPU metrics; then it can be told whether the GPUs work.",
}


def stop_step(
    check_name: str,
    provider: str,
    *,
    resource_id: str | None,
    region: str | None,
    sub_account: str | None,
    is_waste: bool = True,
) -> str:
    """Return the command or the step that stops a finding; one line, safe to paste.

    There is a command only for what is claimed, and for an id that is one.
    """
    command = _command(check_name, provider, resource_id or "") if is_waste else None
    name = (resource_id or "").rsplit("/", 1)[-1]
    if command is None or not name or resource_id != visible(resource_id or "") or len(resource_id) > _LONGEST_ID:
        return _STEPS.get(check_name, "Delete it in the console if nothing needs it.")
    return command.format(
        id=_word(resource_id),
        name=_word(name),
        region=f" --region={_word(region)}" if region else "",
        project=f" --project={_word(sub_account)}" if sub_account else "",
    )


def _command(check_name: str, provider: str, resource_id: str) -> str | None:
    """Return the command for a resource of this kind, told by its ARN where a check looks at several; else None."""
    if (check_name, provider) == ("idle_load_balancer", "AWS") and not _NEW_BALANCER.search(resource_id):
        return _COMMANDS["idle_classic_balancer", "AWS"]
    if check_name == "always_on_notebook" and ":notebook-instance/" not in resource_id:
        return None
    return _COMMANDS.get((check_name, provider))


def _word(text: str) -> str:
    """Return `text` as one word of a shell."""
    return shlex.quote(visible(text))
