"""The block model of Boughzala, Lefèvre and Orgerie (2020)."""
