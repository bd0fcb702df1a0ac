"""Values of the configuration: what a month, an amount, a glob, a threshold, an address may look like.

Pure functions from text to value. Each raises ValueError with one lower-case clause that never repeats a secret.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal, localcontext
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from alerts.loopback import is_loopback
from ingest.source import BigQueryTable, GcsLocation, S3Location

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_MONTH = re.compile(r"(?P<year>(?:19|20)\d\d)-(?P<month>0[1-9]|1[0-2])")
_CURRENCY = re.compile(r"[A-Z]{3}")
_AMOUNT = re.compile(r"\d{1,26}(?:\.\d{1,12})?")
_PERCENT = re.compile(r"(?P<percent>\d{1,6}(?:\.\d{1,6})?)\s*%")
_PRICED = re.compile(r"(?P<amount>\S+)\s+(?P<currency>\S+)")
_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://")
_S3_ARN = re.compile(r"arn:aws[a-z-]*:s3:[^:]*:[^:]*:", re.IGNORECASE)
_MEMORY = re.compile(r"(?P<amount>\d+(?:\.\d+)?)\s*(?:[KMGT]i?B?)", re.IGNORECASE)
_STORAGE_VERSION = re.compile(
    r"v0\.10\.[0-3]|v1\.0\.0|v1\.1\.[0-3]|v1\.2\.[0-2]|v1\.3\.[0-2]|v1\.4\.[0-5]|v1\.5\.[0-6]|v2\.0\.[01]|latest"
)
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*")
_ROLE_ARN = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]{1,576}", re.ASCII)
_EXTERNAL_ID = re.compile(r"[\w+=,.@:/-]{2,1224}", re.ASCII)
_REGION = re.compile(r"[a-z]{2}(?:-[a-z]+)+-\d{1,2}")
_GCP_PROJECT = re.compile(r"(?:[a-z0-9.-]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]")
_BYTES = re.compile(r"(?P<amount>[0-9]{1,6}) ?(?P<unit>MB|GB|TB)")
_UNITS = {"MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000}
_ENVIRONMENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_TAKEN = re.compile(
    r"(?P<before>[^{}]*)\{(?P<kind>tag|account_tag|cost_category):(?P<key>[^{}]+?)(?:\|(?P<case>lower|upper))?\}"
    r"(?P<after>[^{}]*)",
    re.DOTALL,
)
TAG_PREFIXES = {"tag": "", "account_tag": "accountTag/", "cost_category": "costCategory/"}
DIMENSIONS = ("project", "team", "environment", "workload", "cost_centre")
"""What attribution says of a charge."""
WORKLOADS = ("training", "inference", "experiment", "monitoring", "platform")
"""What compute is used for."""

_PLACES = Decimal("0.000000000001")
_ENOUGH_DIGITS = 60


def parse_name(text: str) -> str:
    """Accept an identifier that is safe as a directory and table name."""
    if not _NAME.fullmatch(text):
        raise ValueError("must be lower-case letters, digits, - and _, beginning with a letter or digit, 63 at most")
    return text


def parse_label(text: str) -> str:
    """Accept the name of a team, project, tag key or account as the cloud spells it."""
    if not text or text != text.strip() or not text.isprintable():
        raise ValueError("must be a printable name without spaces around it")
    if len(text) > 256:
        raise ValueError("must be 256 characters at most")
    return text


def parse_exact_label(text: str) -> str:
    """Accept a name, and refuse a pattern where only exact names are looked up."""
    if is_glob(text):
        raise ValueError("must be an exact name; * and ? work in match and in a budget's scope")
    return parse_label(text)


def parse_glob(text: str) -> str:
    """Accept a glob over a whole value; only `*` and `?` are special."""
    return parse_label(text)


def parse_tag_key(text: str) -> str:
    """Accept a tag key as the cloud has it: any text, quotes, line ends and emoji too."""
    if not text.strip() or len(text) > 1024:
        raise ValueError("must be a tag key of 1 to 1024 characters")
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """What a rule sets: a fixed text, or with a `key` what the tag of that key says between `before` and `after`."""

    before: str
    key: str | None = None
    """Tag key; `accountTag/KEY` of the account, `costCategory/NAME` of a cost category."""
    case: Literal["lower", "upper"] | None = None
    after: str = ""


def parse_assigned(text: str) -> Assigned:
    """Return what a rule sets, such as `vision` or `ml-{tag:project|lower}`."""
    if "{" not in text and "}" not in text:
        return Assigned(before=parse_exact_label(text))
    found = _TAKEN.fullmatch(text)
    if found is None:
        raise ValueError('must be a name, or take one value from a tag, like "{tag:project}" or "{tag:project|lower}"')
    for part in (found["before"], found["after"]):
        if not part.isprintable() or is_glob(part):
            raise ValueError("must be an exact name around what is taken from the tag")
    return Assigned(
        before=found["before"],
        key=TAG_PREFIXES[found["kind"]] + parse_tag_key(found["key"]),
        case={"lower": "lower", "upper": "upper", None: None}[found["case"]],
        after=found["after"],
    )


def parse_workload(text: str) -> str:
    """Accept one of the five workloads, evaluation as another word for monitoring, or one taken from a tag."""
    assigned = parse_assigned(text)
    if assigned.key is None and text not in {*WORKLOADS, "evaluation"}:
        raise ValueError(f"must be one of {', '.join(WORKLOADS)}, or be taken from a tag")
    if assigned.key is not None and (assigned.before or assigned.after):
        raise ValueError("must be what the tag says and nothing around it, since it is one of five words")
    return text


def is_glob(text: str) -> bool:
    """Return whether `text` matches more than itself."""
    return "*" in text or "?" in text


def like_pattern(glob: str) -> str:
    r"""Return the LIKE pattern, escaped with a backslash, that matches what `glob` matches."""
    special = {"*": "%", "?": "_", "%": r"\%", "_": r"\_", "\\": "\\\\"}
    return "".join(special.get(character, character) for character in glob)


def parse_month(text: str) -> date:
    """Return the first day of a `YYYY-MM`."""
    match = _MONTH.fullmatch(text)
    if match is None:
        raise ValueError('must be a month, "YYYY-MM"')
    return date(int(match["year"]), int(match["month"]), 1)


def parse_instant(text: str) -> datetime:
    """Return an instant in UTC, without zone, from ISO 8601 with an offset or Z."""
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        instant = None
    if instant is None or instant.tzinfo is None:
        raise ValueError('must be an instant with its offset, like "2026-10-05T11:30:00Z"')
    return instant.astimezone(UTC).replace(tzinfo=None)


def parse_period(text: str) -> str:
    """Accept `YYYY-MM` or `from-rows`."""
    if text != "from-rows" and not _MONTH.fullmatch(text):
        raise ValueError('must be a month, "YYYY-MM", or "from-rows"')
    return text


def parse_currency(text: str) -> str:
    """Accept an ISO 4217 code."""
    if not _CURRENCY.fullmatch(text):
        likely = text.strip().upper()
        advice = f', did you mean "{likely}"?' if _CURRENCY.fullmatch(likely) else ""
        raise ValueError(f"must be the three capital letters of an ISO 4217 currency{advice}")
    return text


def parse_amount(text: str) -> Decimal:
    """Return an exact amount above zero: up to 26 digits, then up to 12 decimals [the currency beside it]."""
    if not _AMOUNT.fullmatch(text) or not text.isascii():
        raise ValueError('must be a decimal number in quotes, like "180000" or "180000.50"')
    amount = Decimal(text)
    if amount <= 0:
        raise ValueError("must be more than zero")
    return amount


def parse_count(text: str) -> Decimal:
    """Return a count of up to 999 with up to three decimals."""
    count = parse_amount(text)
    if count >= 1000 or count != round(count, 3):
        raise ValueError('must be below 1000 with at most three decimals, like 8 or "0.125"')
    return count


def parse_discount(text: str) -> Decimal:
    """Return a share of a price, `25%`, between 0 and 1."""
    percent = _PERCENT.fullmatch(text)
    share = Decimal(percent["percent"]) / 100 if percent is not None else Decimal(0)
    if not 0 < share < 1:
        raise ValueError('must be a share of the price between 0% and 100%, like "25%"')
    return share


def parse_threshold(text: str, limit: Decimal, currency: str) -> Decimal:
    """Return the amount that `80%` or `150000 USD` stands for under `limit`, in `currency`, at 12 decimals."""
    percent = _PERCENT.fullmatch(text)
    if percent is not None:
        return _share(limit, percent["percent"])
    priced = _PRICED.fullmatch(text)
    if priced is None:
        raise ValueError('must be a share or an amount, like "80%" or "150000 USD"')
    amount = parse_amount(priced["amount"])
    if parse_currency(priced["currency"]) != currency:
        raise ValueError(f"is in {priced['currency']} but the limit is in {currency}, and no rate joins them")
    return amount


def _share(limit: Decimal, percent: str) -> Decimal:
    with localcontext() as context:
        context.prec = _ENOUGH_DIGITS
        amount = (limit * Decimal(percent) / 100).quantize(_PLACES, rounding=ROUND_HALF_UP)
    if amount <= 0:
        raise ValueError("must be more than zero")
    return amount


def check_threshold(text: str) -> str:
    """Accept the form of a threshold; its currency is compared with the limit's by `parse_threshold`."""
    priced = _PRICED.fullmatch(text)
    currency = priced["currency"] if priced and not _PERCENT.fullmatch(text) else "USD"
    parse_threshold(text, Decimal(1), currency)
    return text


def parse_location(text: str) -> Path | S3Location | GcsLocation:
    """Return a folder or file on disk, or a place in a bucket; a refused URL is not repeated: it may carry a key."""
    scheme = _SCHEME.match(text)
    if scheme is None:
        _refuse_half_a_place(text)
        return Path(parse_path(text))
    name = scheme["scheme"].lower()
    if name not in {"s3", "gs"}:
        raise ValueError(f"begins with {name}://, but this version reads from disk, s3:// and gs://")
    if scheme["scheme"] != name:
        raise ValueError(f"must begin with {name}:// in small letters")
    return S3Location.parse(text) if name == "s3" else GcsLocation.parse(text)


def _refuse_half_a_place(text: str) -> None:
    """Refuse other spellings of a place in S3, which would be the name of a folder."""
    arn = _S3_ARN.match(text)
    if arn is None and not text.lower().startswith("s3:"):
        return
    named = text[arn.end() :] if arn else text[3:].lstrip("/")
    try:
        likely = f', did you mean "{S3Location.parse(f"s3://{named}")}"?'
    except ValueError:
        likely = ", like s3://BUCKET/PREFIX"
    raise ValueError(f"must begin with s3:// for a place in S3{likely}")


def parse_bigquery_table(text: str) -> BigQueryTable:
    """Return the table that `project.dataset.table` names."""
    return BigQueryTable.parse(text)


def parse_gcp_project(text: str) -> str:
    """Accept the id of a project of Google Cloud."""
    if not _GCP_PROJECT.fullmatch(text):
        raise ValueError('must be the id of a project, like "acme-billing"')
    return text


def parse_bytes(text: str) -> int:
    """Return a number of bytes: `100 GB` is 100,000,000,000."""
    found = _BYTES.fullmatch(text)
    if found is None or int(found["amount"]) == 0:
        raise ValueError('must be a size in MB, GB or TB, like "100 GB"')
    return int(found["amount"]) * _UNITS[found["unit"]]


def parse_role_arn(text: str) -> str:
    """Accept the ARN of an IAM role."""
    if not _ROLE_ARN.fullmatch(text):
        raise ValueError('must be the ARN of a role, like "arn:aws:iam::123456789012:role/overrun-reader"')
    return text


def parse_external_id(text: str) -> str:
    """Accept an external id as STS does; refused text is not repeated, since some keep it like a password.

    Source: AWS STS API reference, AssumeRole, ExternalId.
    """
    if not _EXTERNAL_ID.fullmatch(text):
        raise ValueError("must be 2 to 1224 letters, digits and any of + = , . @ : / - _")
    return text


def parse_region(text: str) -> str:
    """Accept the form of a region's name."""
    if not _REGION.fullmatch(text):
        raise ValueError('must be a region, like "eu-central-1"')
    return text


def parse_endpoint(text: str) -> str:
    """Accept an http(s) address without login, plain http on this machine only; refused text is not repeated."""
    message = 'must be an address, like "https://s3.example.com"'
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise ValueError(message) from error
    is_bare = text.isprintable() and not parts.query and not parts.fragment
    if parts.scheme not in {"http", "https"} or not parts.hostname or not is_bare:
        raise ValueError(message)
    if parts.username is not None or parts.password is not None:
        raise ValueError("must be without user and password, so that no secret stands in the file")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise ValueError("must begin with https://; plain http is for this machine only")
    return text


def parse_loopback(text: str) -> str:
    """Accept HOST:PORT of this machine alone, since nothing encrypts or proves who asks there."""
    host, _, port = text.rpartition(":")
    if not is_loopback(host.strip("[]")) or not re.fullmatch(r"[1-9]\d{0,4}", port, re.ASCII) or int(port) > 65535:
        raise ValueError('must be an address of this machine with its port, like "127.0.0.1:9060"')
    return text


def parse_service_id(text: str) -> str:
    """Accept the id of a service in the catalogue of Google Cloud.

    Source: Cloud Billing API reference, services.list.
    """
    if not re.fullmatch(r"[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}", text):
        raise ValueError('must be the id of a service, like "6F81-5844-456A"')
    return text


def parse_path(text: str) -> str:
    """Accept a path."""
    if not text.strip() or any(not character.isprintable() for character in text):
        raise ValueError("must be a path without control characters")
    if text.startswith("~"):
        raise ValueError("must be written out in full: ~ is not expanded, since cron may have another home")
    return text


def parse_memory(text: str) -> str:
    """Accept a size that DuckDB understands."""
    match = _MEMORY.fullmatch(text.strip())
    if match is None or not text.isascii() or Decimal(match["amount"]) <= 0:
        raise ValueError('must be a size like "1GB" or "512MB"')
    return text.strip()


def parse_storage_version(text: str) -> str:
    """Accept a DuckDB version whose file format can be written."""
    if not _STORAGE_VERSION.fullmatch(text):
        raise ValueError('must be a DuckDB version that can be written, like "v1.2.0", or "latest"')
    return text


def parse_host(text: str) -> str:
    """Accept a host name or address; refused text is not repeated, since people paste URLs with passwords."""
    if not _HOST.fullmatch(text):
        raise ValueError("must be a host name or an address alone, without scheme, user or port")
    return text


def parse_reference(text: str) -> str:
    """Accept `env:NAME` or `file:PATH`, without ever repeating the text."""
    scheme, _, target = text.partition(":")
    is_variable = scheme == "env" and _ENVIRONMENT_NAME.fullmatch(target)
    is_file = scheme == "file" and target.strip() and target.isprintable() and not target.startswith("//")
    if not (is_variable or is_file):
        raise ValueError("must be a reference, env:NAME or file:PATH, so that no secret stands in the file")
    return text


def parse_address(text: str) -> str:
    """Accept exactly one plain e-mail address."""
    from email.errors import NonASCIILocalPartDefect
    from email.policy import default

    message = 'must be one plain e-mail address, like "team@example.com"; list several as several entries'
    if not text.isprintable() or text != text.strip() or len(text) > 254 or not re.search(r"[^@]@[^@]", text):
        raise ValueError(message)
    try:
        header = default.header_factory("To", text)
    except (IndexError, ValueError) as error:
        raise ValueError(message) from error
    defects = [defect for defect in header.defects if not isinstance(defect, NonASCIILocalPartDefect)]
    addresses = [address.addr_spec for address in header.addresses]
    if defects or addresses != [text]:
        raise ValueError(message)
    return text
