"""How far a load is invoiced, for `ops.load_invoice`: what says whether its month is still an estimate.

Charges name their invoice once it has been issued. AWS leaves `bill/InvoiceId` blank until the bill is finalised
(https://docs.aws.amazon.com/cur/latest/userguide/billing-columns.html); FOCUS has InvoiceId null until then.
"""

from __future__ import annotations

from ingest.ledger import Invoiced
from sql.warehouse import Warehouse

_DELIVERED = '"x_RowNumber" > 0'
"""Which charges are delivered ones: those that the load adds have a negative position."""
_QUERY = """
with invoices as (
    select
        coalesce("BillingAccountId", '') as billing_account_id,
        coalesce("x_InvoicingEntity", '') as invoicing_entity,
        nullif(trim("InvoiceId"), '') as invoice_id,
        count(*) as rows_delivered
    from {charges}
    where {delivered}
    group by 1, 2, 3
)
select
    billing_account_id,
    invoicing_entity,
    sum(rows_delivered),
    coalesce(sum(rows_delivered) filter (invoice_id is not null), 0),
    coalesce(md5(string_agg(invoice_id, chr(10) order by invoice_id)), '')
from invoices
group by 1, 2
order by 1, 2
"""


def count_invoiced(warehouse: Warehouse, charges: str) -> list[Invoiced]:
    """Return the delivered rows of `charges`, a relation of FOCUS charges, and those of them with an invoice."""
    rows = warehouse.rows(_QUERY.format(charges=charges, delivered=_DELIVERED))
    return [
        Invoiced(
            billing_account_id=str(account),
            invoicing_entity=str(entity),
            rows_delivered=int(str(delivered)),
            rows_invoiced=int(str(invoiced)),
            invoice_digest=str(digest),
        )
        for account, entity, delivered, invoiced, digest in rows
    ]
