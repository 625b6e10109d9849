/* What is constant about a tree of links. Shared by its copies, in this world, in snapshots and in other worlds: one that
 * is to be changed is copied first.
 *
 * Link i hangs on joint i; parents come before their children. The frame of a link is its joint frame after the
 * joint's motion. */
#ifndef RS_MODEL_TREE_MODEL_H
#define RS_MODEL_TREE_MODEL_H

#include <stdatomic.h>

#include "../base/memory.h"
#include "../base/simd4.h"

RS_ARRAY_OF(rs_link_def);
RS_ARRAY_OF(rs_route_def);
RS_ARRAY_OF(rs_tendon_def);

typedef struct {
    rs_joint_type type;
    int32_t parent;  /* -1 for link 0 */
    int32_t q_first;     /* where its coordinates begin in q: */
    int32_t numbers;     /* so many that change by their velocity, */
    bool has_quaternion; /* then perhaps a quaternion */
    int32_t u_first;     /* where its velocities begin in u: of the numbers, then of the quaternion the angular velocity */
    int32_t u_count;     /* 0, 1, 3 or 6 */

    /* joint frame in the parent's frame, axis in the joint frame */
    rs_vec3 joint_pos;
    rs_mat3 joint_rot;
    rs_vec3 axis;

    /* link frame; inertia about the centre of mass */
    double mass;
    rs_vec3 com;
    rs_sym3 inertia;
    double lifted_mass; /* whose weight something else carries, */
    rs_vec3 lifted_com; /* at this point */

    /* follow from the above */
    int32_t depth; /* joints between it and link 0 */
    bool joint_rot_identity;
    rs_mat3 turn_fixed, turn_cos, turn_sin; /* joint_rot * R(axis, q) = fixed + cos(q) * turn_cos + sin(q) * turn_sin */
    rs_vec3 axis_in_parent;
    rs_vec3 mass_com;       /* mass * com */
    rs_sym3 inertia_origin; /* about the link origin */
    double least_moment;    /* of `inertia`: a lower bound */
} rs_link;

/* Four doubles that the processor treats as one. As a 3-vector the fourth is of no meaning, as right-hand sides each
 * lane is one of them. */
typedef rs_v4 rs_lanes;

/* The same constants of four revolute links, equally deep in the tree, a lane for each: they are placed together. */
typedef struct {
    int32_t link[4];
    bool one_parent; /* they hang on the same link */
    rs_lanes turn_fixed[9], turn_cos[9], turn_sin[9];
    rs_lanes axis_in_parent[3], joint_pos[3];
    rs_lanes mass, mass_com[3], inertia_origin[6]; /* xx yy zz xy xz yz */
} rs_four_links;

/* Two points that coincide, each in its link's frame. */
typedef struct {
    int32_t link[2];
    rs_vec3 point[2];
} rs_pin;

/* A joint that follows another, both with one degree of freedom: q = multiplier * (q of the leader) + offset. */
typedef struct {
    int32_t follower, leader; /* links */
    double multiplier, offset;
} rs_coupling;

/* See rs_route_def. */
typedef struct {
    rs_route_kind kind;
    int32_t link, side_link;
    bool has_side;
    rs_vec3 position, side;
    rs_mat3 rotation;
    double size;
} rs_route;

/* See rs_tendon_def. */
typedef struct {
    rs_tendon_kind kind;
    int32_t term_first, term_count, route_first, route_count;
    int32_t dof_first, dof_count;   /* in `tendon_dofs`: degrees of freedom that change its length */
    int32_t link_first, link_count; /* in `tendon_links`: the links of their joints, and all those below towards the base */
    double gear[6];
    int32_t flags, of[2];
    double reference[2], curve[5];
    double stiffness, damping, rest_lower, rest_upper, friction, lower, upper;
} rs_tendon;

typedef struct {
    atomic_int holders; /* articulations that use it; snapshots die on any thread */
    int32_t link_count, q_count, u_count, pin_count, coupling_count, tendon_count, term_count;
    int32_t route_count, tendon_dof_count, tendon_link_count, drive_count;
    bool fixed_base;
    bool lifted; /* some link is */
    rs_link *links;
    rs_pin *pins;
    rs_coupling *couplings;
    rs_tendon *tendons;
    rs_tendon_term *terms; /* of all tendons, as the next three */
    rs_route *routes;
    int32_t *tendon_dofs, *tendon_links; /* per tendon from the last link to the base */
    rs_drive_def *drives;
    int32_t *order; /* all links but link 0, by depth: parents first, neighbours in the list on different branches, so that
                       the processor works on several of them at once */
    int32_t *four_at;       /* per place in `order`: which of `fours` the next four links make, or -1 */
    rs_four_links *fours;
    uint8_t *self_contacts; /* link_count x link_count, symmetric: most contacts of two links with each other */
    size_t bytes;           /* of the whole block, this struct first */
} rs_tree_model;

/* Checks the definition and builds the model, held once; pins are left to the caller. */
rs_status rs_tree_model_new(const rs_articulation_def *def, rs_tree_model **out);
/* A model with room for the numbers of parts in `counts`, all of them zero; held once. NULL without memory. */
rs_tree_model *rs_tree_model_alloc(const rs_tree_model *counts);
/* Checks links, pins, couplings, tendons and drives that were filled in, and adds what follows from them. */
rs_status rs_tree_model_complete(rs_tree_model *model);
void rs_tree_model_hold(rs_tree_model *model);
void rs_tree_model_drop(rs_tree_model *model);
/* A copy that is held once; NULL without memory. */
rs_tree_model *rs_tree_model_clone(const rs_tree_model *model);

/* Degrees of freedom of a type of joint; 0 when there is no such type. */
int32_t rs_joint_velocity_count(int32_t type);

/* ---- tendon_model.c ---- */

/* Counts what the tendons and drives of a definition need. Its links are in order. */
rs_status rs_tendon_model_count(rs_tree_model *counts, const rs_articulation_def *def);
/* Checks them and takes them over into a model with links. */
rs_status rs_tendon_model_fill(rs_tree_model *model, const rs_articulation_def *def);
/* Checks tendons and drives that were filled in, and adds what follows from them and from the links. */
rs_status rs_tendon_model_complete(rs_tree_model *model);

/* ---- parts ---- */

/* RS_OK, or what is wrong with the definition of link `index`. */
rs_status rs_tree_model_check_link(int32_t index, const rs_link_def *def);
/* The same for its mass, centre of mass and inertia; the rest is not read. */
rs_status rs_tree_model_check_mass(int32_t index, const rs_link_def *def);
/* Takes over masses, centres of mass and inertias of links from checked definitions. */
void rs_tree_model_set_masses(rs_tree_model *model, int32_t count, const int32_t *links, const rs_link_def *defs);
/* Takes over joint placement, axis and mass from a checked definition. */
void rs_tree_model_set_link(rs_tree_model *model, int32_t index, const rs_link_def *def);

#endif
