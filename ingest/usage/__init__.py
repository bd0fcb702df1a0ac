"""What sources tell of use: runs, and the capacity that they ran on."""
