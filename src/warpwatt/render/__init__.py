"""Renderers: one ``Prediction`` in, text, JSON, CSV or HTML out."""
