"""`overrun reconcile`: what is loaded against what AWS Cost Explorer, invoices of GCP, or a file of invoices say."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from overrun.exits import CommandFailed, Exit, worst
from overrun.options import Invocation, Month, OverrunCommand, common_options

if TYPE_CHECKING:
    from ingest.aws.cost_explorer import CostExplorerAnswer
    from ingest.source import SourceSettings
    from overrun.config import Config
    from overrun.invoices import Invoice

_TYPED = re.compile(r"\s*\d{4}-?\d{2}\s")
"""How a typed total begins: with its month."""


@click.command(
    "reconcile",
    cls=OverrunCommand,
    examples=(
        "overrun reconcile",
        "overrun reconcile --invoice invoices.csv",
        "overrun reconcile aws-main --month 2026-10 --all",
        "overrun reconcile gcp-main --invoices totals.csv",
        'overrun reconcile gcp-main --invoice "202610 01ABCD-2345EF-6789AB 1234.56 USD 5012345678"',
    ),
    exits=(Exit.FINDINGS, Exit.SOURCE, Exit.LOCKED),
)
@click.argument("source", required=False)
@click.option(
    "--month",
    type=Month(),
    metavar="MONTH",
    help="Month to compare, YYYY-MM or YYYYMM; default the last that is loaded, of GCP the last that has ended.",
)
@click.option("--all", "shows_all", is_flag=True, help="AWS: show the lines that tie, too.")
@click.option(
    "--invoice",
    "typed",
    multiple=True,
    metavar="FILE|TEXT",
    help="Compare a CSV file of invoices of any provider: billing_month, billing_account_id, issuer, invoice_id,"
    ' currency, total, tax. GCP also: keep one total, "YYYYMM ACCOUNT AMOUNT CURRENCY [ID]". Repeat it for more.',
)
@click.option(
    "--invoices",
    "file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="GCP: keep the invoice totals of a CSV file: month, billing account, invoice id, currency, amount.",
)
@click.option("--list", "lists", is_flag=True, help="GCP: show the invoices that are kept, of every source.")
@click.option("--remove", "removed", multiple=True, metavar="ID", help="GCP: forget a kept invoice.")
@common_options
def command(
    invocation: Invocation,
    source: str | None,
    month: date | None,
    shows_all: bool,
    **invoices: Any,  # noqa: ANN401 - the fields of InvoiceOptions
) -> Exit:
    """Compare what is loaded of SOURCE, or of every source, with what its provider says.

    With a file of invoices: each by its invoice id, else by account, issuer and month. Up to 0.01, and 0.005 for each
    line of the file, is rounding. What it came to is kept, and marts.invoice_reconciliation has all of it after the
    next build.

    AWS: with Cost Explorer, by account, line item type and metric, with the source's own credentials, which need
    ce:GetCostAndUsage. Each page of the answer costs 0.01 USD; mostly it is one.

    GCP: with invoice totals given here, per invoice month, billing account and currency, beside the totals of each
    cost type. They are kept, and the next night calls a month that ties final. Several invoices of a month add up. One
    that is given again, by its id, replaces what was kept.

    Reads the published copy, so that it works while a night runs. Ends with 1 where anything differs by more than a
    cent (GCP: by a cent or more, or an account has no invoice).
    """
    given = InvoiceOptions(**invoices)
    config = invocation.load()
    if given.files:
        return _reconcile_file(invocation, config, source, month, given)
    if source is not None:
        return _reconcile_source(invocation, config, source, Choice(month=month, shows_all=shows_all, given=given))
    if given != InvoiceOptions():
        raise CommandFailed(
            "these invoices need a source",
            code=Exit.USAGE,
            hint="name it: overrun reconcile gcp-main ...; a file of any source is given by --invoice FILE",
        )
    return _reconcile_all(invocation, config, Choice(month=month, shows_all=shows_all, given=given))


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceOptions:
    """What the options about invoices say."""

    file: Path | None = None
    typed: tuple[str, ...] = ()
    lists: bool = False
    removed: tuple[str, ...] = ()

    @property
    def files(self) -> list[Path]:
        """What of --invoice names files: whatever does not begin like a typed total, or is there as a file."""
        return [Path(text) for text in self.typed if not _TYPED.match(text) or Path(text).is_file()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What of a source is compared."""

    month: date | None
    shows_all: bool
    given: InvoiceOptions


def _reconcile_source(invocation: Invocation, config: Config, source: str, choice: Choice) -> Exit:
    settings = _source(config, source)
    if settings.kind.startswith("gcp-"):
        return _reconcile_invoices(invocation, config, source, choice.month, choice.given)
    if choice.given != InvoiceOptions():
        raise CommandFailed(
            f"source {source} is of AWS, and no invoices are kept of it",
            code=Exit.USAGE,
            hint="leave out --invoices, --list and --remove; --invoice FILE compares a file of its invoices",
        )
    return _reconcile_cost_explorer(invocation, config, settings, choice.month, shows_all=choice.shows_all)


def _reconcile_all(invocation: Invocation, config: Config, choice: Choice) -> Exit:
    """Reconcile each source of AWS and GCP; one that cannot be compared does not stop the others."""
    from overrun.reconcile_show import SCHEMA_VERSION

    codes: list[int] = []
    told: list[str] = []
    for source in config.sources:
        if source.kind == "aws-export" or source.kind.startswith("gcp-"):
            held = io.StringIO()
            with redirect_stdout(held):
                codes.append(_outcome(invocation, config, source.name, choice))
            told.append(held.getvalue().rstrip())
    if not told:
        raise CommandFailed(
            "no source of AWS or GCP is configured",
            code=Exit.USAGE,
            hint="compare others with a file of invoices: overrun reconcile --invoice FILE",
        )
    if invocation.as_json:
        click.echo(json.dumps({"schema_version": SCHEMA_VERSION, "sources": [json.loads(text) for text in told]}))
    else:
        click.echo("\n\n".join(told))
    return worst(codes)


def _outcome(invocation: Invocation, config: Config, source: str, choice: Choice) -> Exit:
    """Reconcile one of several sources; why one cannot be is told in its place."""
    from overrun.exits import code_of
    from overrun.redaction import without_secrets
    from sql.text import visible

    try:
        return _reconcile_source(invocation, config, source, choice)
    except Exception as error:
        code = code_of(error)
        if code is None:
            raise
        message, hint = without_secrets(str(error)), getattr(error, "hint", None)
        if invocation.as_json:
            click.echo(json.dumps({"source": source, "error": message, "hint": hint}))
        else:
            click.echo(visible(f"{source}: not compared: {message}"))
            click.echo(f"hint: {visible(hint)}" if hint else "")
        return code


def _reconcile_file(
    invocation: Invocation, config: Config, source: str | None, month: date | None, given: InvoiceOptions
) -> Exit:
    """Compare a file of invoices with the charges of one source or all, and keep what it came to."""
    from overrun.invoice_checks import keep_checks
    from overrun.invoice_file import read_invoice_file, refuse
    from overrun.reconcile_invoices import compare, report_of
    from overrun.reconcile_read import read_accounts, read_charges
    from overrun.reconcile_show import show
    from sql.files import make_directory
    from sql.state import StateStore

    if len(given.typed) != 1 or given.file is not None or given.lists or given.removed:
        raise CommandFailed("a file of invoices stands alone", code=Exit.USAGE, hint="run the command once for each")
    if source is not None:
        _source(config, source, is_any_kind=True)
    (file,) = given.files
    lines = [line for line in read_invoice_file(file) if month is None or line.month == month]
    if not lines:
        raise CommandFailed(f"{file} has no invoices of {month:%Y-%m}", code=Exit.USAGE, hint="leave out --month")
    charges = read_charges(config.publish, {line.month for line in lines}, source)
    compared = compare(lines, charges, read_accounts(config.publish, source))
    refuse(file, compared.problems)
    make_directory(config.state.parent)
    with StateStore.open(config.state) as state:
        keep_checks(state, compared.comparisons, now=datetime.now(UTC))
    return show(report_of(compared.comparisons, file.name), sys.stdout, as_json=invocation.as_json)


def _reconcile_cost_explorer(
    invocation: Invocation, config: Config, settings: SourceSettings, month: date | None, *, shows_all: bool
) -> Exit:
    from overrun.reconcile_aws import Reconciliation, report_of
    from overrun.reconcile_compare import compare
    from overrun.reconcile_read import read_loaded_month
    from overrun.reconcile_show import show

    loaded = read_loaded_month(config.publish, settings.name, month)
    answer = _ask(settings, loaded.month, invocation.as_of)
    reconciliation = Reconciliation(
        source=settings.name, month=loaded.month, comparison=compare(loaded, answer), answer=answer, shows_all=shows_all
    )
    return show(report_of(reconciliation), sys.stdout, as_json=invocation.as_json)


def _reconcile_invoices(
    invocation: Invocation, config: Config, source: str, month: date | None, given: InvoiceOptions
) -> Exit:
    from overrun.reconcile_gcp import compare, report_of
    from overrun.reconcile_read import read_billed_accounts, read_loaded_month
    from overrun.reconcile_show import show

    new = _given_invoices(given)
    if given.lists or given.removed:
        return _show_invoices(config, given.removed, as_json=invocation.as_json)
    if new:
        new = _checked(new, read_billed_accounts(config.publish, source), invocation.as_of, source)
    wanted = max(invoice.month for invoice in new) if new and month is None else month
    loaded = read_loaded_month(config.publish, source, wanted, ended_by=invocation.as_of)
    if new:
        _keep(config, new)
    accounts = compare(loaded, _kept(config))
    return show(report_of(loaded, accounts, invocation.as_of), sys.stdout, as_json=invocation.as_json)


def _given_invoices(given: InvoiceOptions) -> list[Invoice]:
    """Return the invoices of file and command line."""
    from overrun.invoices import parse_invoice, read_invoices

    invoices = [] if given.file is None else read_invoices(given.file)
    for text in given.typed:
        try:
            invoices.append(parse_invoice(text))
        except ValueError as error:
            raise CommandFailed(f"--invoice: {error}", code=Exit.USAGE) from error
    if (given.file is not None or given.typed) and (given.lists or given.removed):
        raise CommandFailed(
            "invoices cannot be given and removed at once", code=Exit.USAGE, hint="run the command twice"
        )
    return invoices


def _checked(
    invoices: list[Invoice], accounts: Mapping[date, Mapping[str, set[str]]], as_of: date, source: str
) -> list[Invoice]:
    """Return invoices with their accounts spelt as the export does; raises CommandFailed where one fits no charge."""
    return [_fitted(invoice, accounts.get(invoice.month), as_of, source) for invoice in invoices]


def _fitted(invoice: Invoice, accounts: Mapping[str, set[str]] | None, as_of: date, source: str) -> Invoice:
    """Return an invoice with its account as the loaded month spells it; of a month not loaded, as it is."""
    from sql.parts import next_month

    if as_of < next_month(invoice.month):
        raise CommandFailed(
            f"{invoice.month:%Y-%m} has not ended on {as_of}, so that invoice {invoice.invoice_id} cannot be its",
            code=Exit.USAGE,
            hint="correct its month",
        )
    if accounts is None:
        return invoice
    spelt = {account.upper(): account for account in accounts}
    account = spelt.get(invoice.billing_account.upper())
    if account is None:
        raise CommandFailed(
            f"{invoice.month:%Y-%m} of source {source} has no charges of billing account {invoice.billing_account}",
            code=Exit.USAGE,
            hint=f"it has those of {', '.join(sorted(accounts))}",
        )
    if invoice.currency not in accounts[account]:
        raise CommandFailed(
            f"{invoice.month:%Y-%m} of billing account {account} has no charges in {invoice.currency}",
            code=Exit.USAGE,
            hint=f"give its invoice in {' or '.join(sorted(accounts[account]))}",
        )
    return replace(invoice, billing_account=account)


def _kept(config: Config) -> list[Invoice]:
    """Return the invoices that are kept; none before the first run, which makes the store."""
    from overrun.invoices import entered_invoices
    from sql.state import StateStore

    if not config.state.is_file():
        return []
    with StateStore.open_read_only(config.state) as state:
        return entered_invoices(state)


def _keep(config: Config, invoices: list[Invoice]) -> None:
    from overrun.invoices import enter_invoices
    from sql.files import make_directory
    from sql.state import StateStore

    make_directory(config.state.parent)
    with StateStore.open(config.state) as state:
        enter_invoices(state, invoices, now=datetime.now(UTC))


def _show_invoices(config: Config, removed: tuple[str, ...], *, as_json: bool) -> Exit:
    """Forget invoices, and show those that are kept."""
    from overrun.invoices import COLUMNS, remove_invoice
    from overrun.terminal import print_table
    from sql.state import StateStore

    if removed:
        with StateStore.open(config.state) as state, state.transaction():
            for invoice_id in removed:
                remove_invoice(state, invoice_id)
    values = [
        (f"{invoice.month:%Y-%m}", invoice.billing_account, invoice.invoice_id, invoice.currency, f"{invoice.amount:f}")
        for invoice in _kept(config)
    ]
    if as_json:
        names = [name.replace(" ", "_") for name in COLUMNS]
        click.echo(json.dumps({"invoices": [dict(zip(names, row, strict=True)) for row in values]}))
    elif values:
        print_table(COLUMNS, values, sys.stdout)
    else:
        click.echo("no invoices are kept")
    return Exit.DONE


def _source(config: Config, name: str, *, is_any_kind: bool = False) -> SourceSettings:
    """Return the configured source; raises CommandFailed where there is none, or where it is of neither provider."""
    from overrun.config_problems import nearest

    by_name = {source.name: source for source in config.sources}
    if name not in by_name:
        near = nearest(name, by_name)
        raise CommandFailed(
            f"no source {name} is configured",
            code=Exit.USAGE,
            hint=f"did you mean {near}?" if near else "overrun status lists the sources",
        )
    kind = by_name[name].kind
    if not is_any_kind and kind != "aws-export" and not kind.startswith("gcp-"):
        raise CommandFailed(
            f"source {name} is of neither AWS nor GCP",
            code=Exit.USAGE,
            hint="an export of AWS is compared with Cost Explorer, one of GCP with invoices; any by --invoice FILE",
        )
    return by_name[name]


def _ask(settings: SourceSettings, month: date, as_of: date) -> CostExplorerAnswer:
    """Return Cost Explorer's answer; raises IngestError where it cannot be asked."""
    from ingest.aws.cost_explorer import ask_month

    if month > as_of:
        raise CommandFailed(
            f"{month:%Y-%m} has not begun on {as_of}",
            code=Exit.USAGE,
            hint="name an earlier --month, or a later --as-of",
        )
    return ask_month(settings, month, as_of)
