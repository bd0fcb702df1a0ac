-- The discount of a spend commitment by its service and term, of the price without it; null where it is not known.
-- Source: Google Cloud documentation, page "Committed use discounts" of Cloud SQL, AlloyDB, Spanner, Bigtable, Memorystore
-- and Cloud Run, and "Compute flexible CUDs" for Compute Engine.
create or replace macro focus.gcp_commitment_discount(service_name, sku_description) as
    case
        when regexp_matches(lower(sku_description), '\b3[ -]?years?\b')
        then
            case
                when contains(service_name, 'SQL') or service_name = 'AlloyDB' then 0.52
                when contains(service_name, 'Spanner') or contains(service_name, 'Bigtable') then 0.40
                when contains(service_name, 'Memorystore') then 0.40
                when service_name = 'Cloud Run' then 0.17
                when service_name = 'Compute Engine' then 0.46
            end
        when regexp_matches(lower(sku_description), '\b1[ -]?years?\b')
        then
            case
                when contains(service_name, 'SQL') or service_name = 'AlloyDB' then 0.25
                when contains(service_name, 'Spanner') or contains(service_name, 'Bigtable') then 0.20
                when contains(service_name, 'Memorystore') then 0.20
                when service_name = 'Cloud Run' then 0.17
                when service_name = 'Compute Engine' then 0.28
            end
    end
