"""Which loops the host runs, which become threads, which stay in a thread."""
