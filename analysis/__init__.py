"""Numbers to judgements: pure functions and one `run.py` that reads and writes the warehouse."""
