"""The tables that machine code is read by: learnt from nvdisasm, and compared with it."""
