/* From pairs of colliders to touching points, and from those to solver rows. */
#ifndef RS_CONTACT_CONTACT_PROBLEM_H
#define RS_CONTACT_CONTACT_PROBLEM_H

#include "../collision/pair_memory.h"
#include "contact.h"

/* Runs the narrow phase on the ordered pairs and fills `touches`, ordered by pair. `before` holds those of the last
 * step: they lend their impulses, and pairs at rest (no active body) are taken over unchanged. `memory` likewise lends
 * what it knows of the pairs. */
rs_status rs_touches_find(const rs_contact_settings *settings, const rs_body *bodies, const rs_collider *colliders,
                          const rs_array *pairs, rs_pair_memory *memory,
                          const rs_array *before, rs_array *touches);

typedef struct {
    double dt;
    const rs_solver_settings *settings;
    const rs_materials *materials;
    const rs_collider *colliders;
    const rs_body *bodies;
    const rs_solver_body *solver_bodies;
} rs_problem_input;

/* What the materials and the state of a touching point ask of the solver. */
typedef struct {
    double mu;
    double target; /* normal speed to reach or exceed [m/s] */
    double push;   /* the same for the motion that removes overlap [m/s] */
} rs_contact_law;
/* `relative`: velocity of A against B at the point at the beginning of the step, world frame. Also writes velocity,
 * friction and restitution into the point. */
rs_contact_law rs_contact_law_of(const rs_problem_input *input, rs_touch *touch, rs_vec3 relative);

/* The solver row of a touching point; also writes velocity, friction and restitution into the point. */
void rs_row_make(const rs_problem_input *input, rs_touch *touch, rs_row *out);

#endif
