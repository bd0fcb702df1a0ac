-- What [privacy] hides is hashed on its way into a part: no table ever holds it. The key and the patterns are variables of
-- the session, set by ingest/privacy.py and never stored; without them each macro gives back what it is given.

-- HMAC-SHA-256 of a text, as 24 hexadecimal digits behind h-.
-- Source: RFC 2104; the two padded keys are worked out beforehand.
create or replace temporary macro private_hash(value) as
    'h-' || substr(
        sha256(unhex(getvariable('private_outer')) || unhex(sha256(unhex(getvariable('private_inner')) || encode(value)))),
        1,
        24
    );

-- Entries of tags, values of hidden keys hashed.
create or replace temporary macro private_entries(entries) as
    case
        when getvariable('private_tags') is null then entries
        else list_transform(
            entries,
            lambda entry: {
                'key': entry.key,
                'value': case
                    when regexp_matches(entry.key, getvariable('private_tags')) then private_hash(entry.value)
                    else entry.value
                end
            }
        )
    end;

-- Tags as JSON text, values of hidden keys hashed. A text in which a key stands twice is hashed as a whole, since there is
-- no telling which value is meant.
create or replace temporary macro private_tags(tags) as
    case
        when getvariable('private_tags') is null or tags is null then tags
        when not contains(tags, '\') and not regexp_matches(tags, getvariable('private_tags_text')) then tags
        else coalesce(
            cast(
                to_json(
                    map_from_entries(
                        private_entries(map_entries(try_cast(try_cast(tags as json) as map(varchar, varchar))))
                    )
                ) as varchar
            ),
            '{"hidden":"' || private_hash(tags) || '"}'
        )
    end;

-- A text in which the part that a pattern's second group matches is hashed, where it matches.
create or replace temporary macro private_part(text, pattern) as
    case
        when regexp_matches(text, pattern)
        then regexp_extract(text, pattern, 1) || private_hash(regexp_extract(text, pattern, 2)) || regexp_extract(text, pattern, 3)
        else text
    end;

-- The id of a resource, names of users and jobs in it hashed.
create or replace temporary macro private_resource(id) as
    private_part(private_part(id, getvariable('private_users')), getvariable('private_jobs'));

-- The name of a resource whose id holds the name of a user or a job.
create or replace temporary macro private_name(name, id) as
    case when private_resource(id) is distinct from id then private_hash(name) else name end;
