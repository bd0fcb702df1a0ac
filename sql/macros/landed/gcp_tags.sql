-- Resource-manager tags, labels, project labels and system labels of a GCP row as one JSON object, keys in order.
-- Labels keep their key; tags stand under tag/<namespace>/, system labels under goog-system/; a project label counts where
-- the resource has no label of that key. A key without value is true. Null where there is none.
-- Source: FOCUS 1.2, Tags (finalised tags, provider-defined tags are prefixed).
create or replace temporary macro gcp_entries(list, prefix) as
    coalesce(
        list_transform(
            from_json(list, '[{"key":"VARCHAR","value":"VARCHAR","namespace":"VARCHAR"}]'),
            lambda entry: {'key': prefix || coalesce(nullif(entry.namespace, '') || '/', '') || entry.key, 'value': entry.value}
        ),
        []
    );

-- The entries that are the first of their key. The list is bound to a name, and keys are looked for only where one stands
-- twice: a macro's argument within a lambda is worked out anew for each element.
create or replace temporary macro gcp_first_of_key(entries) as
    list_transform(
        [entries],
        lambda bound: case
            when len(list_distinct(list_transform(bound, lambda entry: entry.key))) = len(bound) then bound
            else list_filter(
                bound,
                lambda entry, position: entry.key is not null
                and list_position(list_transform(bound, lambda other: other.key), entry.key) = position
            )
        end
    )[1];

create or replace temporary macro gcp_tag_entries(tags, labels, project_labels, system_labels) as
    list_sort(
        gcp_first_of_key(
            list_concat(
                gcp_entries(tags, 'tag/'),
                gcp_entries(labels, ''),
                gcp_entries(project_labels, ''),
                gcp_entries(system_labels, 'goog-system/')
            )
        )
    );

-- Entries as the text of a JSON object; null for none. The text is bound to a name: NULLIF, or a CASE around, works it out
-- twice.
create or replace temporary macro gcp_tags_text(entries) as
    list_transform(
        [
            '{' || array_to_string(
                list_transform(
                    entries,
                    lambda entry: cast(to_json(entry.key) as varchar) || ':'
                    || coalesce(cast(to_json(entry.value) as varchar), 'true')
                ),
                ','
            ) || '}'
        ],
        lambda bound: case when bound <> '{}' then bound end
    )[1];

create or replace temporary macro gcp_tags(tags, labels, project_labels, system_labels) as
    gcp_tags_text(gcp_tag_entries(tags, labels, project_labels, system_labels));

-- The keys among those of gcp_tags that a row inherits, as a JSON list: tags bound to a folder, project or organisation
-- above, and labels of its project that it has none of its own for. Null where it inherits none.
create or replace temporary macro gcp_inherited_tags(tags, labels, project_labels) as
    case
        when coalesce(project_labels, '[]') <> '[]' or regexp_matches(tags, '"inherited":("?)true')
        then list_transform(
            [cast(
                to_json(
                    list_sort(
                        list_distinct(
                            list_concat(
                                coalesce(
                                    list_transform(
                                        list_filter(
                                            from_json(
                                                tags, '[{"key":"VARCHAR","namespace":"VARCHAR","inherited":"VARCHAR"}]'
                                            ),
                                            lambda entry: entry.inherited = 'true' and entry.key is not null
                                        ),
                                        lambda entry: 'tag/' || coalesce(nullif(entry.namespace, '') || '/', '') || entry.key
                                    ),
                                    []
                                ),
                                list_transform(
                                    [list_transform(gcp_entries(labels, ''), lambda entry: entry.key)],
                                    lambda own: list_filter(
                                        list_transform(gcp_entries(project_labels, ''), lambda entry: entry.key),
                                        lambda key: key is not null and not list_contains(own, key)
                                    )
                                )[1]
                            )
                        )
                    )
                ) as varchar
            )],
            lambda bound: case when bound <> '[]' then bound end
        )[1]
    end
