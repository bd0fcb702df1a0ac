"""Speed and memory, measured as ratios within one run; `python -m benchmarks`, figures in `benchmarks/README.md`."""
