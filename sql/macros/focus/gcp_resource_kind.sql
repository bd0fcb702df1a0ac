-- What a resource commitment is an amount of, from the description of its fee or of the usage that it covers.
create or replace macro focus.gcp_resource_kind(sku_description) as
    case
        when regexp_matches(sku_description, '(?i)\b(gpu|nvidia)\b') then 'gpu'
        when regexp_matches(sku_description, '(?i)\btpu') then 'tpu'
        when regexp_matches(sku_description, '(?i)local ssd|\bssd\b') then 'ssd'
        when regexp_matches(sku_description, '(?i)\b(ram|memory)\b') then 'memory'
        when regexp_matches(sku_description, '(?i)\b(cpu|core|vcpu)s?\b') then 'core'
        else 'other'
    end
