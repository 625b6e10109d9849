/* Questions about articulated systems: kinematics, dynamics, energies, constants of links. */
#include "world.h"

#include <string.h>

/* Enters the world. The articulation with its links placed: at the present state, or within a step where the step's
 * dynamics are taken; NULL with the status set without one, or where a vector of the question, if it has one, is not finite. */
static rs_articulation *enter(rs_world *world, rs_object_id id, const char *name, const double *vector, rs_status *status) {
    rs_body *body;
    rs_world_enter_to_read(world);
    *status = rs_check_finite(name, vector, vector != NULL ? 3 : 0);
    rs_articulation *a = *status == RS_OK ? rs_world_articulation(world, id, &body) : NULL;
    if (a != NULL)
        rs_world_place_links(world, body);
    else if (*status == RS_OK)
        *status = RS_UNKNOWN_OBJECT;
    return a;
}

static rs_status check_link(const rs_articulation *a, int32_t link) {
    if (a == NULL)
        return RS_UNKNOWN_OBJECT;
    return link >= 0 && link < a->link_count
               ? RS_OK
               : rs_fail(RS_INVALID_VALUE, "link is %d; expected 0 to %d", link, a->link_count - 1);
}

/* ---- kinematics ---- */

rs_status rs_articulation_read_links(rs_world *world, rs_object_id id, double *position, double *rotation,
                                     double *linear_velocity, double *angular_velocity) {
    rs_status status;
    const rs_articulation *a = enter(world, id, NULL, NULL, &status);
    for (int32_t i = 0; a != NULL && i < a->link_count; i++) {
        const rs_link_motion *m = &a->motion[i];
        if (position != NULL)
            rs_v3_store(&position[3 * i], m->pos);
        if (rotation != NULL)
            memcpy(&rotation[9 * i], m->rot.m, sizeof m->rot.m);
        if (linear_velocity != NULL)
            rs_v3_store(&linear_velocity[3 * i], m->v);
        if (angular_velocity != NULL)
            rs_v3_store(&angular_velocity[3 * i], m->w);
    }
    return rs_world_leave(world, status);
}

rs_status rs_articulation_jacobian(rs_world *world, rs_object_id id, int32_t link, const double point[3],
                                   int32_t derivative, int32_t *index, double *linear, double *angular, int32_t *count) {
    rs_status status;
    const rs_articulation *a = enter(world, id, "point", point, &status);
    RS_THEN(status, check_link(a, link));
    if (status != RS_OK)
        return rs_world_leave(world, status);
    *count = derivative ? rs_jacobian_derivative(a, link, rs_v3_load(point), a->columns)
                        : rs_jacobian(a, link, rs_v3_load(point), a->columns);
    for (int32_t k = 0; k < *count; k++) {
        index[k] = a->columns[k].index;
        rs_v3_store(&linear[3 * k], a->columns[k].linear);
        rs_v3_store(&angular[3 * k], a->columns[k].angular);
    }
    return rs_world_leave(world, RS_OK);
}

/* ---- dynamics ---- */

rs_status rs_articulation_mass_matrix(rs_world *world, rs_object_id id, double *out) {
    rs_status status;
    rs_articulation *a = enter(world, id, NULL, NULL, &status);
    if (a != NULL)
        rs_crba(a, out);
    return rs_world_leave(world, status);
}

rs_status rs_articulation_inverse_mass_matrix(rs_world *world, rs_object_id id, double *out) {
    rs_status status;
    rs_articulation *a = enter(world, id, NULL, NULL, &status);
    if (a == NULL)
        return rs_world_leave(world, status);
    rs_actuation_rule rule = rs_articulated_rule(a, world->data.dt);
    rs_actuation_result scratch = {a->work[0], a->work[1], a->weight};
    int32_t joint;
    rs_actuation(a, a->placed_at, a->u, &rule, &scratch);
    rs_aba_factor(a, a->weight, &joint);
    size_t n = (size_t)a->u_count;
    for (size_t k = 0; k < n; k++) {
        memset(&out[n * k], 0, n * sizeof *out);
        out[n * k + k] = 1.0;
        rs_aba_solve(a, &out[n * k], &out[n * k]);
    }
    return rs_world_leave(world, status);
}

rs_status rs_articulation_mass_multiply(rs_world *world, rs_object_id id, const double *x, double *out) {
    rs_status status;
    rs_articulation *a = enter(world, id, NULL, NULL, &status);
    if (a != NULL)
        rs_mass_multiply(a, x, out);
    return rs_world_leave(world, status);
}

rs_status rs_articulation_nonlinearities(rs_world *world, rs_object_id id, const double gravity[3], double *out) {
    return rs_articulation_inverse_dynamics(world, id, gravity, NULL, out, NULL);
}

rs_status rs_articulation_inverse_dynamics(rs_world *world, rs_object_id id, const double gravity[3],
                                           const double *udot, double *tau, double *wrench) {
    rs_status status;
    rs_articulation *a = enter(world, id, "gravity", gravity, &status);
    if (a == NULL)
        return rs_world_leave(world, status);
    rs_rnea(a, rs_v3_load(gravity), udot, false, tau);
    for (int32_t i = 0; i < a->link_count && wrench != NULL; i++) {
        rs_v3_store(&wrench[6 * i], a->force[i].lin);
        rs_v3_store(&wrench[6 * i + 3], a->force[i].ang);
    }
    return rs_world_leave(world, status);
}

rs_status rs_articulation_forward_dynamics(rs_world *world, rs_object_id id, const double gravity[3],
                                           const double *tau, double *udot) {
    rs_status status;
    rs_articulation *a = enter(world, id, "gravity", gravity, &status);
    if (a == NULL)
        return rs_world_leave(world, status);
    int32_t joint;
    rs_rnea(a, rs_v3_load(gravity), NULL, false, a->spare);
    for (int32_t k = 0; k < a->u_count; k++)
        udot[k] = tau[k] - a->spare[k];
    rs_aba_factor(a, a->rotor_inertia, &joint);
    rs_aba_solve(a, udot, udot);
    return rs_world_leave(world, status);
}

rs_status rs_articulation_command(rs_world *world, rs_object_id id, double *out) {
    rs_status status;
    rs_articulation *a = enter(world, id, NULL, NULL, &status);
    if (a != NULL) {
        static const rs_actuation_rule explicit_rule = {0};
        rs_actuation_result result = {a->work[2], a->work[0], a->work[1]};
        rs_actuation(a, a->placed_at, a->u, &explicit_rule, &result);
        memcpy(out, a->work[2], sizeof(double) * (size_t)a->u_count);
    }
    return rs_world_leave(world, status);
}

/* ---- composites, energy, momentum ---- */

static void store_symmetric(double *out, const rs_sym3 *s) {
    const double values[6] = {s->xx, s->yy, s->zz, s->xy, s->xz, s->yz};
    memcpy(out, values, sizeof values);
}

rs_status rs_articulation_composites(rs_world *world, rs_object_id id, double *mass, double *com, double *inertia) {
    rs_status status;
    rs_articulation *a = enter(world, id, NULL, NULL, &status);
    if (a != NULL)
        rs_composites_sum(a);
    for (int32_t i = 0; a != NULL && i < a->link_count; i++) {
        rs_composite composite = rs_composite_of(a, i);
        mass[i] = composite.mass;
        rs_v3_store(&com[3 * i], composite.com);
        store_symmetric(&inertia[6 * i], &composite.inertia);
    }
    return rs_world_leave(world, status);
}

rs_status rs_articulation_energy(rs_world *world, rs_object_id id, const double gravity[3], double out[3]) {
    rs_status status;
    const rs_articulation *a = enter(world, id, "gravity", gravity, &status);
    if (a != NULL) {
        out[0] = rs_kinetic_energy(a, a->u);
        out[1] = rs_potential_energy(a, rs_v3_load(gravity));
        out[2] = rs_spring_energy(a, a->placed_at);
    }
    return rs_world_leave(world, status);
}

rs_status rs_articulation_momentum(rs_world *world, rs_object_id id, const double about[3], double linear[3],
                                   double angular[3]) {
    rs_status status;
    const rs_articulation *a = enter(world, id, "reference point", about, &status);
    if (a != NULL) {
        rs_vec3 p, l;
        rs_momentum(a, rs_v3_load(about), &p, &l);
        rs_v3_store(linear, p);
        rs_v3_store(angular, l);
    }
    return rs_world_leave(world, status);
}

/* ---- constants of links ---- */

rs_status rs_articulation_get_link(rs_world *world, rs_object_id id, int32_t link, rs_link_def *out) {
    rs_body *body;
    rs_world_enter_to_read(world);
    const rs_articulation *a = rs_world_articulation(world, id, &body);
    rs_status status = check_link(a, link);
    if (status == RS_OK) {
        const rs_link *l = &a->links[link];
        rs_default_link_def(out);
        out->parent = l->parent;
        out->joint_type = (int32_t)l->type;
        rs_v3_store(out->joint_position, l->joint_pos);
        out->lifted_mass = l->lifted_mass;
        rs_v3_store(out->lifted_com, l->lifted_com);
        memcpy(out->joint_rotation, l->joint_rot.m, sizeof l->joint_rot.m);
        rs_v3_store(out->axis, l->axis);
        out->mass = l->mass;
        rs_v3_store(out->com, l->com);
        store_symmetric(out->inertia, &l->inertia);
    }
    return rs_world_leave(world, status);
}

rs_status rs_articulation_set_link(rs_world *world, rs_object_id id, int32_t link, const rs_link_def *def) {
    rs_body *body;
    rs_world_enter(world);
    rs_articulation *a = rs_world_articulation(world, id, &body);
    rs_status status = check_link(a, link);
    RS_THEN(status, rs_tree_model_check_link(link, def));
    if (status == RS_OK && (def->parent != a->links[link].parent || def->joint_type != (int32_t)a->links[link].type))
        status = rs_fail(RS_INVALID_VALUE, "link %d: parent and joint type cannot change", link);
    rs_tree_model *model = status == RS_OK ? rs_articulation_own_model(a) : NULL;
    if (status == RS_OK && model == NULL)
        status = RS_OUT_OF_MEMORY;
    if (status == RS_OK) {
        rs_tree_model_set_link(model, link, def);
        a->carried.known = false;
        a->placed_at = NULL;
        RS_EACH_COLLIDER(collider, &world->data, body->first_collider)
            rs_measure_collider(collider, body);
        rs_world_touch_body(world, body);
    }
    return rs_world_leave(world, status);
}
