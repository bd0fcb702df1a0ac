"""Demo exports in the providers' own formats, and the configuration that loads them."""
