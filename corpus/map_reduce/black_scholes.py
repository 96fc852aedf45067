"""Black-Scholes prices of European options."""

from math import erf

import numpy as np


def inputs(a):
    """Return prices around 20 and years up to ten."""
    return {
        "spot": 5 + 25 * a["spot"],
        "strike": 1 + 40 * a["strike"],
        "years": np.float32(0.25) + np.float32(9.75) * a["years"],
    }


def reference(a):
    """Return prices of call and put; the put by parity."""
    spot, strike, years = (a[name].astype(np.float64) for name in ("spot", "strike", "years"))
    deviation = a["volatility"] * np.sqrt(years)
    d1 = (np.log(spot / strike) + (a["rate"] + a["volatility"] ** 2 / 2) * years) / deviation
    normal = np.vectorize(lambda x: (1 + erf(x / 2**0.5)) / 2)
    discounted = strike * np.exp(-a["rate"] * years)
    call = spot * normal(d1) - discounted * normal(d1 - deviation)
    return {"call": call.astype(np.float32), "put": (call - spot + discounted).astype(np.float32)}
