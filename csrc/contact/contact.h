/* Contact points as they persist from step to step, and the rows the solver works on. */
#ifndef RS_CONTACT_CONTACT_H
#define RS_CONTACT_CONTACT_H

#include "../base/memory.h"
#include "../collision/broad_phase.h"
#include "../collision/narrow_phase.h"
#include "../dynamics/rigid_body.h"
#include "../model/material.h"

/* Surfaces closer than this touch [m]. Without it a body at rest would lose its contact to rounding, fall for a
 * step and hit again. */
static const double RS_TOUCH_DISTANCE = 1e-5;

/* A launched body (see rs_body) is this many steps away from its next midpoint, others are one. */
static const double RS_LAUNCH_STEPS = 1.5;

/* What a row of the general solver may do. */
typedef enum {
    RS_ROW_CONTACT,  /* 3 impulses (t1, t2, n) under Coulomb's law */
    RS_ROW_SCALAR,   /* 1 impulse between two bounds: joint limits, friction and motors, coupled joints, wires */
    RS_ROW_PIN       /* 3 impulses of any sign: closed loop */
} rs_row_kind;

/* One touching point. Side A is the collider with the smaller index. */
typedef struct {
    int32_t collider_a, collider_b;
    int32_t body_a, body_b;
    int32_t island; /* RS_NONE while asleep */
    uint32_t feature;
    rs_vec3 position;     /* world frame */
    rs_vec3 t1, t2, n;    /* contact frame, n towards A */
    double gap;           /* negative when penetrating [m] */
    rs_vec3 velocity;     /* of A against B at the beginning of the step, contact frame */
    rs_vec3 impulse;      /* on A, contact frame; kept to start the next solve */
    rs_sym3 g;            /* effective inverse mass, contact frame [1/kg] */
    double friction, restitution;
} rs_touch;

/* One contact in the solver: 3 unknown impulses (t1, t2, n). Relative velocity v = G * impulse + (all the rest). The
 * fields come in the order in which a sweep reads them: sweeps are bound by memory. */
typedef struct {
    rs_quad impulse;
    rs_quad former;    /* impulse after the sweep before */
    rs_quad ra, rb;    /* contact point from the centres of mass */
    rs_quad n;
    int32_t body_a, body_b;
    double target;     /* normal speed to reach or exceed [m/s] */
    double mu;
    double push;       /* target of the push-out motion, which moves bodies apart without giving them speed [m/s] */
    rs_quad t1, t2;
    rs_columns g, g_inverse;
    double push_impulse;
    int32_t touch;     /* where the result goes */
} rs_row;

#endif
