"""Value types every floor shares: no behaviour beyond their own invariants, no imports from above."""
