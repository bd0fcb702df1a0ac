-- Lists of Google's own FOCUS export with the member names of its billing export, so that one way reads both. Within the
-- values of JSON text a quote is escaped, so that only names are met.
-- Source: Cloud Billing documentation, "Export Cloud Billing data in the FOCUS format".
create or replace temporary macro gcp_list_of_focus(list) as
    replace(
        replace(
            replace(
                replace(
                    replace(replace(list, '"Key":', '"key":'), '"Value":', '"value":'), '"x_Namespace":', '"namespace":'
                ),
                '"x_Inherited":', '"inherited":'
            ),
            '"Type":', '"type":'
        ),
        '"Amount":', '"amount":'
    )
