/* Bodies and links that soft objects touch: how they move within a step, and what impulses do to them.
 *
 * Soft objects take many substeps in one step of the world. Their partners move along: they start where the step starts,
 * get faster by what forces and (going by the step before) contacts do to them, and feel every impulse at once. In the
 * end the impulses become part of the velocities that the contact solver starts from, to the bit that the soft object
 * lost: momentum is kept. */
#ifndef RS_SOFT_PARTNER_H
#define RS_SOFT_PARTNER_H

#include "../base/thread_pool.h"
#include "../collision/collider.h"
#include "../dynamics/articulated.h"
#include "../dynamics/rigid_body.h"
#include "../model/material.h"

typedef struct {
    int32_t body, link;
    rs_articulation *tree; /* NULL for a single body */
    bool mobile;           /* impulses change its velocity */
    bool touched;          /* by an impulse in this step */
    bool pushed;           /* by an impulse in this substep */
    rs_transform pose;     /* of the body or link, world frame */
    rs_vec3 centre;        /* that the velocity and the impulses refer to: centre of mass, or origin of the link */
    rs_vec3 v, w;
    rs_vec3 a, alpha;      /* what forces and contacts change in a second */
    double inverse_mass;   /* single body */
    rs_sym3 inverse_inertia;
    double response[36];   /* link: change of (v, w) per unit impulse and moment, row-major */
    rs_vec3 v_start, w_start;        /* before the impulses of this substep */
    rs_pair6 substep;                /* impulse and moment in this substep */
    rs_pair6 impulse;                /* in this step, about the centre; moments are those of the moments of the impulses */
    rs_vec3 shift, turn;             /* single body: how far the impulses of this step moved it so far */
    int32_t contacts;                /* in the last substep */
} rs_partner;
RS_ARRAY_OF(rs_partner);

/* A collider near a soft object. */
typedef struct {
    const rs_shape *shape;
    rs_transform local; /* in the frame of the partner */
    rs_transform pose;  /* world frame, now */
    rs_aabb box;        /* world frame, grown by its motion in this step */
    int32_t partner, collider;
    double speed;       /* most that any point of it has at the beginning of the step [m/s] */
} rs_near_shape;
RS_ARRAY_OF(rs_near_shape);

/* What soft objects see of the world. */
typedef struct {
    rs_body *bodies;
    rs_solver_body *solver_bodies;
    const rs_collider *colliders;
    int64_t collider_count;
    const rs_materials *materials;
    const rs_contact_settings *settings;
    rs_vec3 gravity;
    double dt;
    rs_thread_pool *pool; /* NULL: one thread */
} rs_soft_scene;

/* A soft object that asks for what is near. */
typedef struct {
    uint64_t group, mask;
    int32_t material;
} rs_soft_filter;
RS_ARRAY_OF(rs_soft_filter);

typedef struct {
    RS_ARRAY(rs_partner) partners;
    RS_ARRAY(rs_near_shape) shapes; /* in the order of the colliders */
    RS_ARRAY(double) frictions;     /* per soft object and shape: of their materials; negative: they do not collide */
    int64_t turn;                   /* of which soft object it is to ask */
    double rate;                    /* steps in a second */
    RS_ARRAY(double) trees_before;  /* of robots, before the step: what impulses change in them */
} rs_partners;

void rs_partners_free(rs_partners *partners);

/* Lists what is within the box (world frame) in this step and collides with one of the soft objects. */
rs_status rs_partners_gather(rs_partners *partners, const rs_soft_scene *scene, const rs_aabb *box,
                             const rs_soft_filter *filters, int64_t count);
/* Friction of a shape with the soft object whose turn it is; negative: they do not collide. */
static inline double rs_partners_friction(const rs_partners *partners, int64_t shape) {
    return partners->frictions.items[partners->turn * partners->shapes.count + shape];
}
/* Adds a body or link that nothing needs to be near: where something is pinned to it. Its index, or RS_NONE. */
int32_t rs_partners_find(rs_partners *partners, const rs_soft_scene *scene, int32_t body, int32_t link);

/* When all are known and nothing has pushed them: what `rs_partners_take_back` goes back to. */
rs_status rs_partners_keep(rs_partners *partners);
/* Nothing was done to them in this step: what diverged has no say in how others move. */
void rs_partners_take_back(rs_partners *partners);

/* Moves all of them, and the shapes, for some time. */
void rs_partners_drift(rs_partners *partners, double time);
/* The same at the end of a substep that began with a kick and goes all the way with the velocity at its end. What nothing
 * pushed falls as forces say; what was pushed was held from the beginning of the substep on, and moves as it does now. */
void rs_partners_advance(rs_partners *partners, double time);
/* Velocities at the beginning of a substep: forces and contacts act for its length. */
void rs_partners_kick(rs_partners *partners, double time);
/* After the impulses of a substep: links take over what they do to their whole robot. */
void rs_partners_settle(rs_partners *partners);
/* More impulses of the substep follow; those so far have been settled. */
void rs_partners_settled(rs_partners *partners);
/* What the impulses of a substep of length h did to them, once they are settled [J]; `held`: and how much more than that they
 * got, since forces did not move what was held. */
double rs_partners_work(const rs_partners *partners, double h, double *held);
/* After the step: velocities of bodies that the contact solver starts from. */
void rs_partners_finish(rs_partners *partners, const rs_soft_scene *scene);

void rs_partner_push(rs_partner *partner, rs_vec3 point, rs_vec3 impulse);
/* A moment [N m s]. */
void rs_partner_turn(rs_partner *partner, rs_vec3 moment);
/* Change of the velocity of a point along the unit direction per unit impulse there [1/kg]. */
double rs_partner_inverse_mass(const rs_partner *partner, rs_vec3 point, rs_vec3 direction);

static inline rs_vec3 rs_partner_velocity(const rs_partner *partner, rs_vec3 point) {
    return rs_add(partner->v, rs_cross(partner->w, rs_sub(point, partner->centre)));
}

#endif
