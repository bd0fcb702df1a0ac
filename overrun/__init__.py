"""The front door of Overrun: command line, configuration, the night, demo data. Nobody imports it."""
