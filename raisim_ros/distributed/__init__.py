"""Many simulations on many processors and machines, by Ray: the extra ``raisim_ros[distributed]``.

The same script runs on a laptop, where Ray is started in the background, and on a cluster: there set
``RAY_ADDRESS``, or submit it as a job of Ray. Workers that die are replaced, and what
they were doing is done again to the same bits.
"""

from raisim_ros.distributed.jobs import JobError, Progress, WorkersLostError
from raisim_ros.distributed.rollouts import Rollout, rollouts
from raisim_ros.distributed.sweep import sweep

__all__ = ["JobError", "Progress", "Rollout", "WorkersLostError", "rollouts", "sweep"]
