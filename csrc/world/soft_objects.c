/* Objects made of particles, whatever their kind: inserting, reading, placing. */
#include "world.h"

rs_soft *rs_world_soft(rs_world *world, rs_object_id id, rs_body **body) {
    rs_body *found = rs_world_body(world, id);
    if (found == NULL)
        return NULL;
    if (found->soft == NULL)
        rs_fail(RS_WRONG_TYPE, "object %u is not made of particles", (uint32_t)(id >> 32));
    *body = found;
    return found->soft;
}

/* Something about the object changed. */
void rs_world_touch_soft(rs_world *world, rs_body *body) {
    rs_soft_measure(body->soft);
    body->position = rs_soft_sum(body->soft, rs_v3_zero()).centre;
    body->soft->calm_steps = 0;
    rs_world_rouse(world, body);
    world->version++;
}

rs_status rs_world_leave_soft(rs_world *world, rs_body *body, rs_status status) {
    if (status == RS_OK)
        rs_world_touch_soft(world, body);
    return rs_world_leave(world, status);
}

/* ---- checks of both kinds ---- */

rs_status rs_check_vectors(const char *name, int64_t count, const double *xyz) {
    for (int64_t k = 0; k < 3 * count && xyz != NULL; k++)
        if (!rs_is_carried(xyz[k]))
            return rs_fail(RS_INVALID_VALUE, "%s of particle %lld is (%g, %g, %g); expected finite numbers", name,
                           (long long)(k / 3), xyz[k - k % 3], xyz[k - k % 3 + 1], xyz[k - k % 3 + 2]);
    return RS_OK;
}

rs_status rs_check_room(int64_t capacity, int64_t count) {
    return capacity >= count ? RS_OK
                             : rs_fail(RS_INVALID_VALUE, "room for %lld particles; there are %lld", (long long)capacity,
                                       (long long)count);
}

rs_status rs_world_insert_soft(rs_world *world, rs_soft *soft, const rs_soft_place *place, rs_object_id *out) {
    rs_status status = rs_world_check_not_half_way(world);
    if (status == RS_OK && (place->material < 0 || place->material >= world->data.materials.names.count))
        status = rs_fail(RS_INVALID_VALUE, "material index %d is not registered", place->material);
    if (status == RS_OK) {
        soft->contact_material = place->material;
        soft->group = place->group;
        soft->mask = place->mask;
        rs_soft_measure(soft);
        rs_body body = {.type = RS_BODY_STATIC, .mass = 1.0, .quaternion = {1, 0, 0, 0}, .first_collider = RS_NONE,
                        .soft = soft, .position = rs_soft_sum(soft, rs_v3_zero()).centre};
        status = rs_world_insert_body(world, place->object_type, &body, 0, NULL, out);
    }
    if (status == RS_OK)
        world->data.soft_count++;
    else
        rs_soft_free(soft);
    return status;
}

/* ---- reading and placing ---- */

/* Those who write count the change themselves. */
static rs_soft *enter_soft(rs_world *world, rs_object_id id, rs_body **body, rs_status *status) {
    rs_world_enter_to_read(world);
    rs_soft *soft = rs_world_soft(world, id, body);
    *status = soft != NULL ? RS_OK : rs_world_slot(world, id) == NULL ? RS_UNKNOWN_OBJECT : RS_WRONG_TYPE;
    return soft;
}

int64_t rs_soft_particle_count(rs_world *world, rs_object_id id) {
    rs_body *body;
    rs_status status;
    const rs_soft *soft = enter_soft(world, id, &body, &status);
    int64_t count = status == RS_OK ? rs_soft_count(soft) : -1;
    rs_world_leave(world, status);
    return count;
}

rs_status rs_soft_read(rs_world *world, rs_object_id id, int64_t capacity, double *positions, double *velocities) {
    rs_body *body;
    rs_status status;
    const rs_soft *soft = enter_soft(world, id, &body, &status);
    RS_THEN(status, rs_check_room(capacity, rs_soft_count(soft)));
    for (int64_t k = 0; status == RS_OK && k < rs_soft_count(soft); k++) {
        if (positions != NULL)
            rs_v3_store(&positions[3 * k], rs_soft_positions(soft)[k].xyz);
        if (velocities != NULL)
            rs_v3_store(&velocities[3 * k], rs_soft_velocities(soft)[k].xyz);
    }
    return rs_world_leave(world, status);
}

rs_status rs_soft_write(rs_world *world, rs_object_id id, int64_t count, const double *positions, const double *velocities,
                        const double *angular_velocities) {
    rs_body *body;
    rs_status status;
    rs_soft *soft = enter_soft(world, id, &body, &status);
    world->changes++;
    RS_THEN(status, rs_world_check_not_half_way(world));
    if (status == RS_OK && count != rs_soft_count(soft))
        status = rs_fail(RS_INVALID_VALUE, "numbers of %lld particles; expected those of %lld", (long long)count,
                         (long long)rs_soft_count(soft));
    RS_THEN(status, rs_check_vectors("position", count, positions));
    RS_THEN(status, rs_check_vectors("velocity", count, velocities));
    RS_THEN(status, rs_check_vectors("angular velocity", count, angular_velocities));
    for (int64_t k = 0; status == RS_OK && k < count; k++) {
        if (positions != NULL)
            rs_soft_positions(soft)[k].xyz = rs_v3_load(&positions[3 * k]);
        if (velocities != NULL)
            rs_soft_velocities(soft)[k].xyz = rs_v3_load(&velocities[3 * k]);
        if (angular_velocities != NULL && soft->grains != NULL)
            soft->grains->w.items[k].xyz = rs_v3_load(&angular_velocities[3 * k]);
    }
    if (status == RS_OK) {
        if (positions != NULL)
            rs_soft_forget(soft);
    }
    return rs_world_leave_soft(world, body, status);
}

rs_status rs_soft_get_totals(rs_world *world, rs_object_id id, rs_soft_totals *out) {
    rs_body *body;
    rs_status status;
    const rs_soft *soft = enter_soft(world, id, &body, &status);
    if (status == RS_OK) {
        rs_soft_sums sums = rs_soft_sum(soft, world->data.gravity);
        *out = (rs_soft_totals){.mass = sums.mass, .kinetic_energy = sums.kinetic, .potential_energy = sums.potential,
                                .elastic_energy = sums.elastic};
        rs_v3_store(out->linear_momentum, sums.linear);
        rs_v3_store(out->angular_momentum, sums.angular);
        rs_v3_store(out->centre_of_mass, sums.centre);
    }
    return rs_world_leave(world, status);
}

rs_status rs_soft_read_contacts(rs_world *world, rs_object_id id, int64_t capacity, rs_soft_contact *out, int64_t *count) {
    rs_body *body;
    rs_status status;
    const rs_soft *soft = enter_soft(world, id, &body, &status);
    *count = status == RS_OK ? soft->impulses.count : 0;
    for (int64_t k = 0; k < *count && k < capacity; k++) {
        const rs_soft_impulse *from = &soft->impulses.items[k];
        const rs_body *other = &world->data.bodies.items[from->body];
        out[k] = (rs_soft_contact){.object = other->alive ? rs_slot_id(world, other->slot) : 0, .local = from->link};
        rs_v3_store(out[k].impulse, from->impulse.lin);
        rs_v3_store(out[k].moment, from->impulse.ang);
    }
    return rs_world_leave(world, status);
}
