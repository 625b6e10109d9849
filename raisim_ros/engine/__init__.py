"""The simulation engine: World and the handles of its objects. Needs no ROS."""
