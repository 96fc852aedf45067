"""Geometry of the pictures in HTML pages: where lines, ticks and labels lie in an SVG picture.

Templates draw them. Our own lines instead of a plotting library keep a page a hundred times smaller than one
that carries the library along, and printable without scripts.
"""
