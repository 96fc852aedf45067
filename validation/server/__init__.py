"""``warpwatt serve`` under attack."""
