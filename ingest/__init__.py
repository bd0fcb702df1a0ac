"""Sources to landed files to FOCUS rows; one sub-package per provider, one module per export kind."""
