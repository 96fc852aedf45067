"""What a ranking by prediction saves an autotuner."""
