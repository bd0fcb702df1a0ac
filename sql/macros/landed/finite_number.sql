-- A finite DOUBLE from text; null for anything else, NaN and infinity included.
create or replace temporary macro finite_number(value) as
    case when isfinite(try_cast(value as double)) then try_cast(value as double) end
