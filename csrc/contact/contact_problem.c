#include "contact_problem.h"

/* Fastest push-out [m/s]: deep overlaps, as after a careless placement, must not explode. */
static const double MAX_PUSH_OUT_SPEED = 3.0;
/* Push-out gain per unit of ERP, and its limit: the share of the overlap removed in one step. */
static const double ERP_GAIN = 0.2, MAX_ERP_SHARE = 0.3;
/* Share of the touch distance within which gaps and overlaps count as none. */
static const double FREE_SHARE = 0.25;
/* Keeps the speed at which a gap may close finite for perfectly elastic pairs. */
static const double MIN_INELASTICITY = 1e-9;
/* Diagonal added to a singular effective inverse mass, relative to its trace. */
static const double REGULARISATION = 1e-12;

/* Adds the part of one body to the effective inverse mass in the contact frame. */
static void add_inverse_mass(rs_sym3 *g, const rs_solver_body *body, rs_vec3 r, const rs_touch *touch) {
    if (body->inverse_mass == 0.0)
        return;
    rs_vec3 c1 = rs_cross(r, touch->t1), c2 = rs_cross(r, touch->t2), c3 = rs_cross(r, touch->n);
    rs_vec3 i1 = rs_columns_mul3(&body->inverse_inertia, c1), i2 = rs_columns_mul3(&body->inverse_inertia, c2),
            i3 = rs_columns_mul3(&body->inverse_inertia, c3);
    g->xx += body->inverse_mass + rs_dot(c1, i1);
    g->yy += body->inverse_mass + rs_dot(c2, i2);
    g->zz += body->inverse_mass + rs_dot(c3, i3);
    g->xy += rs_dot(c1, i2);
    g->xz += rs_dot(c1, i3);
    g->yz += rs_dot(c2, i3);
}

static rs_vec3 point_velocity(rs_vec3 v, rs_vec3 w, rs_vec3 r) { return rs_add(v, rs_cross(w, r)); }

/* Gaps and overlaps well within the touch distance count as none: otherwise rounding would give the corners of a resting
 * box different targets, only three of four could hold, and the load would jump between them in every step. From there on
 * they count more and more: what slowly comes apart, as on a sinking lift, must not do so in jumps. */
static double beyond_touch(double distance, double touch) {
    double free = FREE_SHARE * touch;
    if (distance >= touch)
        return distance;
    return rs_max(0.0, (distance - free) / (1.0 - FREE_SHARE));
}

/* Normal speed that the contact must reach. A gap may close, at a speed that brings the next midpoint, `time` from
 * here, to touch; closing it within this step would leave a speed that penetrates in the next one. The more elastic
 * the pair, the faster it may close: a body struck in this step would lose at the gap the speed with which it is to
 * bounce. */
static double target_speed(double time, const rs_material_pair *pair, double gap, double touch, double approach) {
    double bounce = pair->restitution * rs_max(0.0, approach - pair->restitution_threshold);
    double closing = beyond_touch(gap, touch) / time;
    if (bounce > 0.0 && approach >= closing)
        return bounce;
    return -closing / rs_max(1.0 - pair->restitution, MIN_INELASTICITY);
}

/* Speed of the motion that removes overlap. It is kept apart from the velocities: pushed into them it would heat up
 * every stack that is not solved to the last digit. */
static double push_speed(const rs_problem_input *input, double gap, double touch, double approach) {
    if (gap >= 0.0)
        return -beyond_touch(gap, touch) / input->dt;
    double share = rs_min(ERP_GAIN * input->settings->erp, MAX_ERP_SHARE);
    double push = rs_min(share * beyond_touch(-gap, touch) / input->dt, MAX_PUSH_OUT_SPEED);
    return rs_max(0.0, push - input->settings->erp2 * rs_max(0.0, approach));
}

rs_contact_law rs_contact_law_of(const rs_problem_input *input, rs_touch *touch, rs_vec3 relative) {
    touch->velocity = rs_v3(rs_dot(relative, touch->t1), rs_dot(relative, touch->t2), rs_dot(relative, touch->n));
    const rs_collider *a = &input->colliders[touch->collider_a], *b = &input->colliders[touch->collider_b];
    const rs_material_pair *pair = rs_materials_find(input->materials, a->material, b->material);
    double slip = sqrt(touch->velocity.x * touch->velocity.x + touch->velocity.y * touch->velocity.y);
    touch->friction = rs_material_friction(pair, slip);
    touch->restitution = pair->restitution;
    bool launched = input->bodies[touch->body_a].launched || input->bodies[touch->body_b].launched;
    double near = rs_touch_distance(a, b), time = launched ? RS_LAUNCH_STEPS * input->dt : input->dt;
    return (rs_contact_law){.mu = touch->friction,
                            .target = target_speed(time, pair, touch->gap, near, -touch->velocity.z),
                            .push = push_speed(input, touch->gap, near, -touch->velocity.z),
                            .rolling = pair->rolling_friction,
                            .spinning = pair->spinning_friction};
}

rs_vec3 rs_contact_arm(const rs_body *body, const rs_body *other, rs_vec3 point, double dt) {
    rs_vec3 arm = rs_sub(point, body->middle_com);
    if (body->type != RS_BODY_KINEMATIC)
        return arm;
    return rs_madd(arm, 0.5 * dt, rs_sub(other->velocity, body->velocity));
}

void rs_row_make(const rs_problem_input *input, rs_touch *touch, rs_body_row *row) {
    const rs_body *a = &input->bodies[touch->body_a], *b = &input->bodies[touch->body_b];
    row->body_a = touch->body_a;
    row->body_b = touch->body_b;
    row->t1 = (rs_quad){touch->t1, 0.0};
    row->t2 = (rs_quad){touch->t2, 0.0};
    row->n = (rs_quad){touch->n, 0.0};
    rs_vec3 ra = rs_contact_arm(a, b, touch->position, input->dt), rb = rs_contact_arm(b, a, touch->position, input->dt);
    row->ra = (rs_quad){ra, 0.0};
    row->rb = (rs_quad){rb, 0.0};

    rs_vec3 relative = rs_sub(point_velocity(a->velocity, a->middle_omega, ra),
                              point_velocity(b->velocity, b->middle_omega, rb));
    rs_contact_law law = rs_contact_law_of(input, touch, relative);
    row->law = (rs_law){.impulse.xyz = touch->impulse, .aim.xyz.z = law.target, .mu = law.mu, .upper = INFINITY,
                        .kind = RS_ROW_CONTACT, .push = law.push};

    touch->g = (rs_sym3){0};
    add_inverse_mass(&touch->g, &input->solver_bodies[touch->body_a], ra, touch);
    add_inverse_mass(&touch->g, &input->solver_bodies[touch->body_b], rb, touch);
    double regularisation = REGULARISATION * (touch->g.xx + touch->g.yy + touch->g.zz);
    touch->g.xx += regularisation;
    touch->g.yy += regularisation;
    touch->g.zz += regularisation;
    rs_sym3 g_inverse = rs_sym3_inverse(&touch->g);
    row->g = rs_columns_of(&touch->g);
    row->g_inverse = rs_columns_of(&g_inverse);
    row->law.inverse_mass = rs_max(rs_max(touch->g.xx, touch->g.yy), touch->g.zz);
    row->law.normal_inverse_mass = touch->g.zz;
}
