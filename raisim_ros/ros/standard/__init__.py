"""simulation_interfaces: the services that simulators have in common."""
