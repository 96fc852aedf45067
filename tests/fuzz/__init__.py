"""Loaders under hostile files: whatever the bytes, an answer or a typed error, in bounded time."""
