-- What both clouds' generators share. Nothing here depends on DuckDB's own hash(), which may change between versions.

-- A number in [0, 1) that depends on the text alone.
create or replace macro noise(key) as ('0x' || md5(key)[1:8])::ubigint / 4294967296.0;

-- An identifier of hexadecimal digits that depends on the text alone.
create or replace macro identifier(key, digits) as md5(key)[1:digits];

create or replace macro is_weekend(day) as isodow(day) >= 6;

-- How far the demo's quarter has gone: 0 on 1 September 2026, 1 on 1 December.
create or replace macro progress(day) as date_diff('day', date '2026-09-01', day) / 91.0;

-- Ten decimals: a double of that many prints as short as the providers' own.
create or replace macro money(amount, rate) as round(amount * rate, 10)::decimal(18, 10);
