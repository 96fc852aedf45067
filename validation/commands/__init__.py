"""What users type, beside what the published documents say: one table for each group of rows."""
