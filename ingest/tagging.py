"""Tag sets of a new part, and what its costs are split among, which has tags of its own."""

from __future__ import annotations

from collections.abc import Sequence

from ingest import ledger
from ingest.landed import create_label_sets, create_landed_view
from ingest.loading import Loading, over
from ingest.scan import staging_text
from sql.warehouse import quoted

_TEXTS = ("Tags", "x_CostCategories")
_TAGGED = '"x_TagSetId", "Tags", "x_CostCategories"'
_COLLISION = "tags whose keys came to one, the first value in the alphabet taken"


def write_split(loading: Loading) -> None:
    """Write the split costs of a delivery that has some."""
    if loading.split_rows:
        text = loading.staging("split")
        loading.warehouse.execute(f"create table {loading.split} as\n{text}")


def find_labels(loading: Loading) -> list[str]:
    """Work out the tags of each combination of labels before rows are written; return the temporary tables.

    Where their texts need no part, they are written beside it at once.
    """
    warehouse, dataset = loading.warehouse, loading.described.dataset
    if dataset.label_columns is not None:
        found = create_label_sets(warehouse, loading.described)
        if found:
            create_landed_view(warehouse, loading.described, loading.month, is_labelled=True)
        return found
    if not dataset.keeps_tags_apart:
        return []
    warehouse.execute(f"create or replace temporary table label_set as\n{loading.staging('labels')}")
    warehouse.execute(f"create table {loading.texts} as\n{loading.staging('tag_text')}")
    return ["label_set"]


def write_tag_sets(loading: Loading, labels: Sequence[str]) -> list[ledger.Count]:
    """Write the tag sets of charges and of what their costs are split among; count keys that came to one."""
    if loading.described.dataset.label_columns is not None:
        _take_texts_apart(loading, labels)
    loading.warehouse.execute(f"create table {loading.tags} as\n{_tag_sets_text(loading)}")
    collisions = loading.warehouse.rows(f"select tag_key, count(*) from {loading.tags} where tag_values > 1 group by 1")
    return [
        ledger.Count(rule=_COLLISION, effect="noted", subject=str(key), rows=int(str(combinations)))
        for key, combinations in collisions
    ]


def _take_texts_apart(loading: Loading, labels: Sequence[str]) -> None:
    """Write the texts of tags beside the part, from the combinations or from rows, which have the id alone after it."""
    warehouse = loading.warehouse
    tables = [loading.table, loading.split] if loading.split_rows else [loading.table]
    tagged = f"({' union all '.join(f'select {_TAGGED} from {table}' for table in tables)})"
    if labels:
        texts = 'select tag_set_id as "x_TagSetId", tags_text as "Tags", cost_categories_text as "x_CostCategories"'
        found = " union all ".join(f"{texts} from {name}" for name in labels)
        tagged = f'(select * from ({found}) where "x_TagSetId" in (select "x_TagSetId" from {tagged}))'
    warehouse.execute(f"create table {loading.texts} as\n{over(loading.staging('tag_text'), tagged)}")
    for table in tables:
        for column in _TEXTS:
            warehouse.execute(f"alter table {table} drop column {quoted(column)}")


def _tag_sets_text(loading: Loading) -> str:
    """Return the SELECT of the tag sets, from the texts that rows have, or from what was worked out once."""
    dataset = loading.described.dataset
    if dataset.label_columns is not None:
        names = '"x_TagSetId", tags_text as "Tags", cost_categories_text as "x_CostCategories"'
        return over(staging_text("tag_set.sql"), f"(select {names} from {loading.texts})")
    if dataset.keeps_tags_apart:
        return loading.staging("tag_set")
    return over(staging_text("tag_set.sql"), f"(select {_TAGGED} from {loading.charges})")
