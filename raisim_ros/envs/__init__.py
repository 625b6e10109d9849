"""Environments for Gymnasium on batches of worlds: the extra ``raisim_ros[learn]``.

``import raisim_ros.envs`` registers the tasks: ``gymnasium.make("raisim_ros/Quadruped-v0")``, or
``gymnasium.make_vec("raisim_ros/Quadruped-v0", num_envs=1024)`` for the native vector environment.
"""

from raisim_ros.envs.randomization import Randomization
from raisim_ros.envs.registration import TASKS, register
from raisim_ros.envs.single import RaisimEnv
from raisim_ros.envs.task import Task
from raisim_ros.envs.vector import RaisimVectorEnv

__all__ = ["TASKS", "RaisimEnv", "RaisimVectorEnv", "Randomization", "Task", "register"]

register()
