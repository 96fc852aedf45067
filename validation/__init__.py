"""One script per published table or public data set; results go to ``docs/validation/``."""
