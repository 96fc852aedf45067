"""Speed, as ratios against something run beside it. ``python -m benchmarks`` prints the table."""
