"""Where numbers come from: measuring on a real GPU, and learning from what was measured."""
