"""Pages of the documentation that are made from the program: each module makes some, on every build."""
