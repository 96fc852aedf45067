"""Everything that is measured: all probes, and the launches of each."""
from warpwatt.measure.microbench import barriers, chases, instructions, streams
def probes():
    return (*instructions.probes(), *chases.probes(), *streams.probes(), *barriers.probes())
