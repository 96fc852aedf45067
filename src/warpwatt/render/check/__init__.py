"""Results of ``warpwatt check`` as text, JSON, GitHub annotations and JUnit XML."""
