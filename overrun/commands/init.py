"""`overrun init`: a configuration to start from, in which every key is explained and shown with its default."""

from __future__ import annotations

import json

import click

from overrun.exits import CommandFailed, Exit
from overrun.options import Invocation, OverrunCommand, common_options
from overrun.waste_checks import check_template

TEMPLATE = """\
# Configuration of Overrun. Everything is optional; what stands behind a # is a default, or an example to fill in.
# Relative paths are relative to this file. Check it with: overrun check
# Keys of [warehouse] and [report] can also be set by environment variables, such as OVERRUN_WAREHOUSE_MEMORY_LIMIT.

[warehouse]
# The working database; only Overrun opens it.
#path = "warehouse.duckdb"
# The copy for people, replaced each night; open it with any DuckDB tool.
#publish = "finance.duckdb"
# Folder of delivered files, kept unchanged.
#landing = "landing"
# Which versions of delivered files are kept: open-months keeps all of a month until it is settled, then the newest;
# newest keeps the one in force and the one before, of every month; all keeps everything.
#keep_landed = "open-months"
# Runs, sent messages and human decisions.
#state = "state.sqlite"
# Memory that DuckDB may use.
#memory_limit = "1GB"
# Threads that DuckDB may use; without it, one per processor.
#threads = 2
# Where DuckDB puts what does not fit in memory; without it, beside the warehouse.
#temp_directory = "warehouse.duckdb.tmp"
# Oldest DuckDB version that can open the files.
#storage_version = "v1.2.0"

[report]
# Folder of the pages for people.
#path = "site"

# A further copy for people, which holds only the charges of the named teams. Repeat it for more.
#[[publish]]
#path = "finance-vision.duckdb"
#team = ["vision"]

# One place that exports are read from. Repeat it for more.
#[[source]]
# Name in tables, messages and folders; keep it for good.
#name = "aws-main"
# aws-export (legacy CUR, CUR 2.0 and FOCUS are told apart), gcp-export, gcp-bigquery or focus-export.
#kind = "aws-export"
# The export's root or any folder below it, or one file: on disk, like "exports/aws", or in S3.
#location = "s3://acme-billing/exports"
# For S3: profile of the AWS configuration files; without it, whatever credentials the AWS SDK finds.
#profile = "billing"
# For S3: role that is assumed, and the external id that its trust policy asks for.
#role_arn = "arn:aws:iam::123456789012:role/overrun-reader"
#external_id = "acme-billing"
# For S3: region of the bucket, and an endpoint of one's own; an endpoint of AWS for S3 is used for S3 alone.
#region = "us-east-1"
#endpoint_url = "https://bucket.vpce-0a1b2c3d-4e5f.s3.us-east-1.vpce.amazonaws.com"
# For files without a manifest: the month they bill, or from-rows, which is the default of gcp-export and focus-export.
#period = "from-rows"
# Currency of AWS exports whose rows carry none.
#currency = "USD"
# Days after which a day's usage counts as complete; default 1 for aws-export, else 2.
#settle_days = 1
# gcp-export only: spread the fees of commitments over the usage that they cover; false keeps Google's own cost.
#amortise = true
# aws-export only: ask AWS Organizations for names and tags of accounts each night.
#organizations = false
# Kinds of GCP only: ask Cloud Billing for the projects of the loaded billing accounts each night.
#projects = false
# HOST:PORT on this machine that Cloud Billing is asked at, without credentials; for tests.
#billing_endpoint = "127.0.0.1:9070"
# Source whose months this one takes over.
#replaces = "aws-old"
# Earlier name of this source.
#was = "aws"
# First month that belongs to this source, and first month that no longer does.
#from = "2026-01"
#until = "2027-01"

# One place that tells of runs, or of what clusters have; see docs/runs.md.
#[[source]]
#name = "cluster-runs"
# slurm (files of sacct), kubernetes (files of kubectl), mlflow (a store's folder or SQLite file), runs-files (CSV or
# parquet), or capacity (what clusters have).
#kind = "slurm"
#location = "exports/sacct"
# Cluster of rows that name none.
#cluster = "hpc"
# Tag key whose value, on a charge, is the id of the run that it is for.
#run_tag = "run-id"
# Price of one accelerator for an hour, and its currency: for runs whose cost no charge tells.
#gpu_hour_price = "2.50"
#currency = "USD"

# Exports of Google Cloud in files, which name no invoice.
#[[source]]
#name = "gcp-files"
#kind = "gcp-export"
# The folder that BigQuery exports to, in Cloud Storage.
#location = "gs://acme-billing/export/detailed"
# For gs:// and projects: where a service-account file stands; without it, application default credentials.
#credentials = "file:/etc/overrun/reader.json"
# Days without a change, from the 5th of the next month on, after which a month is final.
#quiet_days = 7
# A billing export that is read where Google writes it.
#[[source]]
#name = "gcp-main"
#kind = "gcp-bigquery"
# The table, or a list of those of several billing accounts.
#table = "acme-billing.billing.gcp_billing_export_resource_v1_0A1B2C_3D4E5F_6A7B8C"
# Project that pays for queries; without it, that of the table.
#job_project = "acme-finops"
# Invoice months before the current one that are looked at each night.
#lookback_months = 2
# What one query may bill at most.
#max_bytes_billed = "100 GB"
# Service-account file; without it, application default credentials.
#credentials = "file:/etc/overrun/service-account.json"
# Private addresses of BigQuery and of its Storage API.
#endpoint_url = "https://bigquery-acme.p.googleapis.com"
#storage_endpoint_url = "https://bigquerystorage-acme.p.googleapis.com"

[attribution]
# Tag keys that name the project, after the rules found nothing; the first that has a value wins.
#project_tags = ["project", "Project"]
# Tag keys that name the team.
#team_tags = ["team"]
# Tag keys that name the environment, the workload (training, inference, experiment, monitoring, platform) and the
# cost centre.
#environment_tags = ["environment", "env"]
#workload_tags = ["workload"]
#cost_centre_tags = ["cost_centre", "cost-centre", "cost_center", "cost-center", "CostCenter"]
# Accounts that belong to one project as a whole, after rules and tags found nothing.
#accounts = { "111111111111" = "vision" }

# A rule sets project, team, environment, workload or cost_centre; the first match for each wins. Conditions are ANDed,
# a list is any of its globs.
# Globs are case-sensitive and cover the whole value; * is any text, ? any one character. Tag keys are exact.
#[[attribution.rule]]
#project = "vision"
#team = "vision"
#match = { tag = { project = ["vision*", "detector"] }, account = "2222*" }
# What a rule sets may be taken from a tag, and the rule in force for some billing months only. These are the other
# conditions that there are.
#[[attribution.rule]]
#project = "{tag:app|lower}"
#environment = "research"
#workload = "training"
#cost_centre = "4711"
#from = "2026-10"
#until = "2027-01"
#[attribution.rule.match]
#account_name = "research-*"
#account_tag = { unit = "research" }
#cost_category = { Unit = "research" }
#billing_account = "999999999999"
#provider = "AWS"
#service = ["Amazon SageMaker*", "Amazon Elastic Compute Cloud*"]
#region = "eu-*"
#charge_category = "Usage"
#resource = "*training*"

[prices]
# Whether to ask Google's Cloud Billing catalogue for prices of GPUs, TPUs, processors and memory, once a day.
#gcp = false
# Ids of the services that are asked for: Compute Engine and Vertex AI.
#gcp_services = ["6F81-5844-456A", "C7E2-9256-1C43"]
# Currency that prices are asked for in.
#currency = "USD"
# HOST:PORT on this machine that the catalogue is asked at, without credentials; for tests.
#gcp_endpoint = "127.0.0.1:9070"

# Who owns projects: team, cost centre and ledger account, by billing month. Repeat it for more.
#[[owner]]
#projects = ["vision"]
#team = "vision"
#cost_centre = "4711"
#gl_account = "620100"
#from = "2026-10"
#until = "2027-10"

# Costs that others bear: support, taxes, shared clusters, what nothing used of a commitment. Splits are gone through in
# order, after attribution. Repeat it for more.
#[[split]]
#name = "support"
# Which costs are shared: globs, as below. This split goes by what the recipients cost of AWS, each month.
#share = { provider = "AWS", service = "*Support*" }
#by = "cost"
#of = { provider = "AWS" }
#over = "month"
# What is given to: each project or each team, and which of them; without to, all with costs of their own.
#each = "project"
#to = ["vision", "detector*"]
#from = "2026-10"
#until = "2027-10"
# These are the other conditions that there are.
#[[split]]
#name = "unused-commitments"
#[split.share]
#project = "platform"
#team = "platform"
#cost_centre = "4700"
#environment = "prod"
#workload = "platform"
#billing_account = "999999999999"
#service_category = "Compute"
#charge_category = "Usage"
#commitment_status = "Unused"
#[split.of]
#project = "vision"
#team = "vision"
#cost_centre = "4711"
#environment = "prod"
#workload = "training"
#billing_account = "999999999999"
#service = "Amazon Elastic Compute Cloud*"
#service_category = "Compute"
#charge_category = "Usage"
#commitment_status = "Unused"
# Fixed weights, in quotes; by = "even" gives all the same.
#[[split]]
#name = "observability"
#share = { project = "observability" }
#by = "weights"
#weights = { vision = "3", detector = "1" }
# What each used, from a CSV file with date, project and quantity.
#[[split]]
#name = "cluster"
#share = { project = "shared-cluster" }
#by = "usage"
#usage = "gpu-hours.csv"

[privacy]
# Where the secret key of the hashes stands that take the place of names, 16 characters or more; without it, none do.
#key = "env:OVERRUN_PRIVACY_KEY"
# Kinds of names that are hashed: in tags that are known to hold them, and in ids of resources.
#hash = ["user", "principal", "job-name"]
# Globs over further tag keys, capitals aside, whose values are hashed.
#tags = ["cost-contact"]

[currency]
# The one currency that costs are also shown in, beside what is billed; without it, none.
#reporting_currency = "EUR"
# CSV file of exchange rates, with the columns date,from,to,rate,source; 1 of from is worth rate of to.
#rates = "rates.csv"
# Which rate converts a cost: charge-day, month-end or month-average.
#rate = "charge-day"
# Days after its own that a rate goes on holding where none is published, as on weekends and holidays.
#carry_days = 5

# A team and the projects that it owns; a project has one team. Repeat it for more.
#[[team]]
#name = "vision"
#projects = ["vision", "detector"]

# Where messages can go. Secrets stay outside this file: env:NAME is a variable, file:PATH a file.
#[[channel]]
#id = "vision-slack"
#kind = "slack-webhook"
#url = "env:VISION_SLACK_URL"

#[[channel]]
#id = "finance-mail"
#kind = "email"
# Mail relay, its port (587 for starttls, 465 for ssl) and encryption: starttls, ssl, or none on this machine only.
#smtp_host = "smtp.example.com"
#smtp_port = 587
#security = "starttls"
# Login, where the relay asks for one.
#username = "overrun"
#password = "file:secrets/smtp-password"
# Sender, and recipients with one address per entry.
#from = "overrun@example.com"
#to = ["finance@example.com"]

# Which team's messages go where. A route without team takes what no other route takes.
#[[route]]
#team = "vision"
#channels = ["vision-slack"]

#[[route]]
#channels = ["finance-mail"]

# What costs money for nothing. Each check has a table with its numbers; docs/waste.md lists them.
#[waste]
# Waste below this a month never comes in a message of its own.
#minimum_monthly = "20"
# Working hours, UTC, Monday to Friday.
#work_from = 8
#work_until = 18
#[waste.CHECKS]

# Capacity that is paid before it is used: its cost is spread over the time that it is reserved for.
#[[prepaid_capacity]]
# Globs over the usage type of the fee, and over its resource id; without resource, any.
#usage_type = "*CapacityBlockFee*"
#resource = "cr-0123456789abcdef0"
# First instant that is reserved, and the first after, with their offset.
#from = "2026-10-05T11:30:00Z"
#until = "2026-10-19T11:30:00Z"

# What a machine type of AWS has of accelerators, where Overrun does not know it yet.
#[[accelerator]]
#instance_type = "p5.48xlarge"
#accelerator = "H100"
#count = 8

# What a spend commitment of Google Cloud takes off the price without it, where that is not the published discount.
#[[commitment_discount]]
# Globs over the service and the SKU of the fee; the SKU names the term.
#service = "Cloud SQL"
#sku = "*1 year*"
#discount = "30%"
# Billing months that it is in force: from the first, until before the other.
#from = "2026-01"
#until = "2027-01"

# A monthly limit on spend; each threshold is told once a month. Repeat it for more.
#[[budget]]
# Keep the id for good, since it is how a message is sent only once.
#id = "vision-monthly"
# What is measured.
#measure = "cost"
# Which cost: effective (commitments spread over usage), billed, or list (public prices).
#basis = "effective"
# What counts besides usage and purchases: any of credits, tax, refunds, and shared (what splits give).
#include = []
# What may be spent in one period; the amount is in quotes so that it is exact.
#limit = { amount = "180000", currency = "USD" }
# What is covered: globs over project and team; without it, everything.
#scope = { project = ["vision", "detector*"], team = ["vision"] }
# How often it starts anew: calendar month, UTC.
#period = { every = "month" }
# Shares of the limit, or amounts in its currency such as "150000 USD".
#thresholds = ["80%", "100%"]
""".replace("#[waste.CHECKS]\n", check_template())


@click.command(
    "init",
    cls=OverrunCommand,
    examples=("overrun init", "overrun init --config /etc/overrun/overrun.toml", "overrun init --force"),
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@common_options
def command(invocation: Invocation, force: bool) -> Exit:
    """Write a commented overrun.toml.

    The file is valid as written; take away the # before what you need. A file that is there is left alone.
    """
    from sql.files import make_directory, write_text
    from sql.text import visible

    file = invocation.config_file
    if file.exists() and not force:
        raise CommandFailed(f"{file} is there already", code=Exit.USAGE, hint="add --force to replace it")
    make_directory(file.absolute().parent)
    write_text(file, TEMPLATE)
    if invocation.as_json:
        click.echo(json.dumps({"schema_version": 1, "file": str(file.absolute())}))
        return Exit.DONE
    click.echo(visible(f"wrote {file}; add a [[source]], then run overrun check"))
    return Exit.DONE
