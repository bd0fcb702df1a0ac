"""`overrun init`: a configuration to start from, in which every key is explained and shown with its default."""

from __future__ import annotations

import json

import click

from overrun.exits import CommandFailed, Exit
from overrun.options import Invocation, OverrunCommand, common_options

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
# aws-export (legacy CUR, CUR 2.0 and FOCUS are told apart), gcp-export or focus-export.
#kind = "aws-export"
# The export's root or any folder below it, or one file: on disk, like "exports/aws", or in S3.
#location = "s3://acme-billing/exports"
# For S3: profile of the AWS configuration files; without it, whatever credentials the AWS SDK finds.
#profile = "billing"
# For S3: role that is assumed, and the external id that its trust policy asks for.
#role_arn = "arn:aws:iam::123456789012:role/overrun-reader"
#external_id = "acme-billing"
# For S3: region of the bucket, and an endpoint of one's own where AWS's is not reached.
#region = "us-east-1"
#endpoint_url = "https://vpce-0a1b2c3d.s3.us-east-1.vpce.amazonaws.com"
# For files without a manifest: the month they bill, or from-rows, which is the default of gcp-export and focus-export.
#period = "from-rows"
# Currency of AWS files without a manifest that carry none.
#currency = "USD"
# Days after which a day's usage counts as complete; default 1 for aws-export, else 2.
#settle_days = 1
# aws-export only: ask AWS Organizations for names and tags of accounts each night.
#organizations = false
# Source whose months this one takes over.
#replaces = "aws-old"
# Earlier name of this source.
#was = "aws"
# First month that belongs to this source, and first month that no longer does.
#from = "2026-01"
#until = "2027-01"

#[[source]]
#name = "gcp-main"
#kind = "gcp-export"
# The folder that BigQuery exports to, in Cloud Storage.
#location = "gs://acme-billing/export/detailed"
# For gs://: where a service-account file stands; without it, application default credentials.
#credentials = "file:/etc/overrun/reader.json"

[attribution]
# Tag keys that name the project, after the rules found nothing; the first that has a value wins.
#project_tags = ["project", "Project"]
# Tag keys that name the team.
#team_tags = ["team"]
# Accounts that belong to one project as a whole, after rules and tags found nothing.
#accounts = { "111111111111" = "vision" }

# A rule sets project, team or both; the first match for each wins. Conditions are ANDed, a list is any of its globs.
# Globs are case-sensitive and cover the whole value; * is any text, ? any one character. Tag keys are exact.
#[[attribution.rule]]
#project = "vision"
#team = "vision"
#match = { tag = { project = ["vision*", "detector"] }, account = "2222*" }

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

# Capacity that is paid before it is used: its cost is spread over the time that it is reserved for.
#[[prepaid_capacity]]
# Globs over the usage type of the fee, and over its resource id; without resource, any.
#usage_type = "*CapacityBlockFee*"
#resource = "cr-0123456789abcdef0"
# First instant that is reserved, and the first after, with their offset.
#from = "2026-10-05T11:30:00Z"
#until = "2026-10-19T11:30:00Z"

# A monthly limit on spend; each threshold is told once a month. Repeat it for more.
#[[budget]]
# Keep the id for good, since it is how a message is sent only once.
#id = "vision-monthly"
# What is measured.
#measure = "cost"
# Which cost: effective (commitments spread over usage), billed, or list (public prices).
#basis = "effective"
# What counts besides usage and purchases: any of credits, tax, refunds.
#include = []
# What may be spent in one period; the amount is in quotes so that it is exact.
#limit = { amount = "180000", currency = "USD" }
# What is covered: globs over project and team; without it, everything.
#scope = { project = ["vision", "detector*"], team = ["vision"] }
# How often it starts anew: calendar month, UTC.
#period = { every = "month" }
# Shares of the limit, or amounts in its currency such as "150000 USD".
#thresholds = ["80%", "100%"]
"""


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
