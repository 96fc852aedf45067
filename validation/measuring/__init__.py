"""What measuring relies on: the machine code of microbenchmarks, fits."""
