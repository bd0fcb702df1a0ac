-- A text that is no JSON, as it stands; null for JSON and for the empty text.
create or replace temporary macro not_json(value) as case when value <> '' and not json_valid(value) then value end
