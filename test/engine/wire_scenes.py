"""Posts, point masses and the wires between them."""

G = 9.81
ORIGIN = (0.0, 0.0, 0.0)


def anchor(world, position=ORIGIN):
    """A small static body that collides with nothing."""
    post = world.add_sphere(0.01, 1.0, collision_mask=0)
    post.set_body_type(2)
    post.set_position(position)
    return post


def ball(world, position, mass=1.0, velocity=ORIGIN):
    """A small ball that collides with nothing: a point mass, as wires hold it at its centre."""
    handle = world.add_sphere(0.01, mass, collision_mask=0)
    handle.set_position(position)
    handle.set_linear_velocity(velocity)
    return handle


def tie(world, first, second, length, kind="stiff", *rest):
    add = {"stiff": world.add_stiff_wire, "compliant": world.add_compliant_wire, "custom": world.add_custom_wire}
    return add[kind](first, 0, ORIGIN, second, 0, ORIGIN, length, *rest)


def energy(*bodies):
    return sum(
        0.5 * b.get_mass() * float(b.get_linear_velocity() @ b.get_linear_velocity())
        + b.get_mass() * G * b.get_position()[2]
        for b in bodies
    )
