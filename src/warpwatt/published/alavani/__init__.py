"""Parts shared by the two time models of Alavani's thesis: equations, abstract GPU, Algorithms 4-8."""
