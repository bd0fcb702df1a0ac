"""GCP billing exports: standard and detailed."""
