"""The HTML report: what each section shows, as plain values that the templates only place."""
