"""One script per published table or public data set; each writes a page of ``docs/validation/``."""
