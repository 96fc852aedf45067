"""Alavani's thesis (2023): time models, features, peers and the power study."""
