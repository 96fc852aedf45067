"""The corpus and public suites: parsed, compiled, run, emulated, predicted."""
