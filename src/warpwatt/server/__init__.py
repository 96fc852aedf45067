"""Servers: the web page with its JSON interface, and the language server for editors."""
