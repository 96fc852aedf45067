"""A program's run as text, JSON, a page, and a trace that profilers' viewers open."""
