-- Tags as JSON text without entries whose value is empty; null where none is left. The slow way is taken only where an
-- empty value stands in the text.
create or replace temporary macro without_empty_tags(tags) as
    case
        when not contains(tags, ':""') then nullif(tags, '{}')
        else nullif(
            cast(
                to_json(
                    map_from_entries(
                        list_filter(
                            map_entries(try_cast(cast(tags as json) as map(varchar, varchar))), lambda tag: tag.value <> ''
                        )
                    )
                ) as varchar
            ),
            '{}'
        )
    end
