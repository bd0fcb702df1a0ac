-- One name per provider, so that charges of the same cloud group together whatever export they came from.
create or replace macro focus.provider_name(name) as
    case
        when name is null then 'Unknown'
        when lower(name) in ('aws', 'amazon web services', 'amazon web services, inc.') or starts_with(name, 'Amazon Web Services')
        then 'AWS'
        when lower(name) in ('google cloud', 'google', 'google cloud platform', 'gcp') then 'Google Cloud'
        when starts_with(lower(name), 'microsoft') or lower(name) = 'azure' then 'Microsoft'
        else name
    end
