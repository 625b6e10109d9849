/* Small articulated systems for the tests of their algorithms. */
#ifndef RAISIM_TEST_ARTICULATION_FIXTURE_H
#define RAISIM_TEST_ARTICULATION_FIXTURE_H

#include <string.h>

#include "../../csrc/dynamics/articulated.h"
#include "check.h"

/* A link of 1.5 kg with uneven inertia on a joint about (or along) z, 0.4 m beside its parent. */
static inline rs_link_def fixture_link(int32_t parent, rs_joint_type type)
{
    rs_link_def def;
    rs_default_link_def(&def);
    def.parent = parent;
    def.joint_type = (int32_t)type;
    def.mass = 1.5;
    def.spring_mount[0] = type == RS_JOINT_SPHERICAL ? 1.0 : 0.0;
    const double inertia[6] = {0.02, 0.03, 0.04, 0.002, -0.001, 0.003}, position[3] = {0.4, 0.1, -0.2};
    const double com[3] = {0.05, -0.1, 0.15};
    memcpy(def.inertia, inertia, sizeof inertia);
    memcpy(def.com, com, sizeof com);
    if (parent >= 0)
        memcpy(def.joint_position, position, sizeof position);
    return def;
}

static inline rs_articulation *fixture_make(const rs_link_def *defs, int32_t count)
{
    rs_articulation_def def = {.link_count = count, .links = defs};
    rs_articulation *a = NULL;
    CHECK(rs_articulation_new(&def, &a) == RS_OK);
    return a;
}

/* Branching tree with all joint types, in a configuration and motion without symmetry. */
static inline rs_articulation *mixed_tree(bool floating)
{
    const int32_t parents[8] = {-1, 0, 1, 2, 1, 0, 5, 6};
    const rs_joint_type types[8] = {floating ? RS_JOINT_FLOATING : RS_JOINT_FIXED, RS_JOINT_REVOLUTE, RS_JOINT_SPHERICAL,
                                    RS_JOINT_PRISMATIC, RS_JOINT_REVOLUTE, RS_JOINT_PRISMATIC, RS_JOINT_REVOLUTE,
                                    RS_JOINT_SPHERICAL};
    rs_link_def defs[8];
    for (int32_t i = 0; i < 8; i++) {
        defs[i] = fixture_link(parents[i], types[i]);
        const double axis[3] = {0.48, 0.64 * (i % 2 ? 1 : -1), 0.6};
        const double turned[9] = {0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6};
        memcpy(defs[i].axis, axis, sizeof axis);
        if (i > 0)
            memcpy(defs[i].joint_rotation, turned, sizeof turned);
    }
    rs_articulation *a = fixture_make(defs, 8);
    for (int32_t k = 0; k < a->u_count; k++)
        a->u[k] = 0.7 * sin(1.3 * k + 0.4);
    rs_kinematics_advance(a, a->q, a->u, 0.9, a->q);
    return a;
}

#endif
