"""Objects made of particles: requests, commands, topics and markers."""
