"""One damped Jacobi step of the 2-D Poisson equation with fixed edges."""


def reference(a):
    """Return the field after the step, in double precision."""
    u = a["in"].reshape(a["height"], a["width"])
    source = a["source"].reshape(u.shape)
    out = u.copy()
    neighbours = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    solved = 0.25 * (neighbours - a["spacing"] ** 2 * source[1:-1, 1:-1])
    out[1:-1, 1:-1] += a["relaxation"] * (solved - u[1:-1, 1:-1])
    return {"out": out.ravel()}
