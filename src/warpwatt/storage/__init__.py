"""Files on this machine: where they are kept, and a cache of them that stays within bounds."""
