"""What files say, as plain data: no engine, no ROS."""
