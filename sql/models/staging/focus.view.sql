-- A part of a FOCUS export holds every column of the contract that does not come from the ledger.
-- grain: one row per charge
-- key: x_RowNumber
select * from part
