"""One name for what the export calls a line item type and Cost Explorer a record type.

The export's names are those of `lineItem/LineItemType` (AWS Data Exports User Guide, "Line item columns"). Cost
Explorer's RECORD_TYPE has no published list of values: API answers have either the same names, or words of its own
("Recurring", "Upfront", "Enterprise Discount Program Discount"), and the console a third wording (AWS Cost Management
User Guide, "Budget filters", charge type). All three are taken. Where several on one side are one on the other, they
are one line: a Fee of the export is an upfront reservation fee, a support fee or any other charge out of cycle.
"""

from __future__ import annotations

from typing import Final

UNNAMED = "(none)"
"""Shown where an export or an answer names no type."""

_OTHER_NAMES: Final[dict[str, tuple[str, ...]]] = {
    # Usage that a reservation covered.
    "DiscountedUsage": ("ReservationAppliedUsage",),
    "RIFee": ("Recurring", "RecurringReservationFee"),
    "Fee": (
        "Upfront",  # reservations, and EC2 capacity blocks
        "UpfrontReservationFee",
        "Support",
        "SupportFee",
        "Other",
        "OtherOutofcycleCharges",
        "Subscription",
    ),
    "EdpDiscount": ("EnterpriseDiscountProgramDiscount",),
    "PrivateRateDiscount": ("PrivateRateCardDiscount",),
    "SppDiscount": ("SolutionProviderProgramDiscount",),
}
"""The export's name, and what else Cost Explorer calls it, without blanks and hyphens; equal names need no entry."""

_NAMES = {other.casefold(): name for name, others in _OTHER_NAMES.items() for other in (name, *others)}


def line_item_type(name: str) -> str:
    """Return the line that a name of either side belongs to; a name that is not known is a line of its own.

    Blanks do not count, so that "Savings Plan Negation" is SavingsPlanNegation, and so will be a name to come.
    """
    joined = "".join(name.split())
    return _NAMES.get(joined.replace("-", "").casefold(), joined) or UNNAMED
