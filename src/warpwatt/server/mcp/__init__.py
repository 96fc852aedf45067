"""Predictions for agents that speak the Model Context Protocol, over standard input and output."""
