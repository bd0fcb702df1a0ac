-- Region name for a GCP region; the region itself where it is not listed, so that it is null exactly with the region.
-- Source: Google Cloud documentation, "Regions and zones".
create or replace macro focus.gcp_region_name(region_id) as
    coalesce(
        map {
            'africa-south1': 'Johannesburg', 'asia-east1': 'Taiwan', 'asia-east2': 'Hong Kong', 'asia-northeast1': 'Tokyo',
            'asia-northeast2': 'Osaka', 'asia-northeast3': 'Seoul', 'asia-south1': 'Mumbai', 'asia-south2': 'Delhi',
            'asia-southeast1': 'Singapore', 'asia-southeast2': 'Jakarta', 'australia-southeast1': 'Sydney',
            'australia-southeast2': 'Melbourne', 'europe-central2': 'Warsaw', 'europe-north1': 'Finland',
            'europe-north2': 'Stockholm', 'europe-southwest1': 'Madrid', 'europe-west1': 'Belgium', 'europe-west2': 'London',
            'europe-west3': 'Frankfurt', 'europe-west4': 'Netherlands', 'europe-west6': 'Zurich', 'europe-west8': 'Milan',
            'europe-west9': 'Paris', 'europe-west10': 'Berlin', 'europe-west12': 'Turin', 'me-central1': 'Doha',
            'me-central2': 'Dammam', 'me-west1': 'Tel Aviv', 'northamerica-northeast1': 'Montreal',
            'northamerica-northeast2': 'Toronto', 'northamerica-south1': 'Mexico', 'southamerica-east1': 'Sao Paulo',
            'southamerica-west1': 'Santiago', 'us-central1': 'Iowa', 'us-east1': 'South Carolina',
            'us-east4': 'Northern Virginia', 'us-east5': 'Columbus', 'us-south1': 'Dallas', 'us-west1': 'Oregon',
            'us-west2': 'Los Angeles', 'us-west3': 'Salt Lake City', 'us-west4': 'Las Vegas', 'us': 'United States',
            'eu': 'European Union', 'asia': 'Asia'
        }[region_id],
        region_id
    )
