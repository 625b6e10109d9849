/* Contact points as they persist from step to step. */
#ifndef RS_CONTACT_CONTACT_H
#define RS_CONTACT_CONTACT_H

#include "../base/memory.h"
#include "../collision/broad_phase.h"
#include "../collision/narrow_phase.h"
#include "../dynamics/rigid_body.h"
#include "../model/material.h"

/* Surfaces closer than this touch [m]. Without it a body at rest would lose its contact to rounding, fall for a
 * step and hit again. */
static inline double rs_touch_distance(const rs_collider *a, const rs_collider *b) { return rs_min(a->touch, b->touch); }

/* A launched body (see rs_body) is this many steps away from its next midpoint, others are one. */
static const double RS_LAUNCH_STEPS = 1.5;

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
    rs_vec3 moment;       /* of rolling and spinning friction, likewise [N m s] */
    double relief;        /* links of one tree: what was to be removed of the overlap in the last step [m], */
    double trust;         /* and how far such promises were kept: share of the overlap's correction that is worth trying */
    rs_sym3 g;            /* effective inverse mass, contact frame [1/kg] */
    double friction, restitution;
} rs_touch;
RS_ARRAY_OF(rs_touch);

#endif
