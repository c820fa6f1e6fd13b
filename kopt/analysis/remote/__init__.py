"""What the ranks of a kernel do to each other's memory, and whether everything is ordered that must be.

Pure. `unroll` writes down what each rank does, in order; `order` lets them run and notes what is known to come before
what; `hazards` names the accesses that nothing orders. Copies are done at some time between their start and the wait
for them, so a program has no hazard only if it has none in any order in which its ranks might run.
"""

from kopt.analysis.remote.hazards import Hazard, hazards
from kopt.analysis.remote.unroll import NotKnown, copies_to_other_ranks

__all__ = ["Hazard", "NotKnown", "copies_to_other_ranks", "hazards"]
