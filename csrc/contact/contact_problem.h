/* From touching points to solver rows. */
#ifndef RS_CONTACT_CONTACT_PROBLEM_H
#define RS_CONTACT_CONTACT_PROBLEM_H

#include "contact.h"
#include "rows_body.h"

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
    double rolling, spinning; /* friction against turning: moment per normal force [m] */
} rs_contact_law;
/* `relative`: velocity of A against B at the point at the beginning of the step, world frame. Also writes velocity,
 * friction and restitution into the point. */
rs_contact_law rs_contact_law_of(const rs_problem_input *input, rs_touch *touch, rs_vec3 relative);

/* From the centre of mass of a body to where it touches another one. What a kinematic body carries goes on for half a
 * step until it has the velocity that the contact gives it: the point of contact goes with it. */
rs_vec3 rs_contact_arm(const rs_body *body, const rs_body *other, rs_vec3 point, double dt);

/* The solver row of a touching point; also writes velocity, friction and restitution into the point. */
void rs_row_make(const rs_problem_input *input, rs_touch *touch, rs_body_row *out);

#endif
