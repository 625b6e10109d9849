"""The ROS 2 node and its interface: the only part of the package that imports rclpy."""
