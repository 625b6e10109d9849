/* Grains: many spheres in one object, by the discrete element method (DEM).
 *
 * Surfaces that overlap repel each other by springs and dampers along the normal, hold each other by a tangential spring
 * that slips at the friction limit, and resist rolling likewise; cohesion pulls across small gaps. The forces are explicit:
 * every step of the world is divided into as many substeps as the stiffest contact of the lightest grain needs. A substep
 * is half a way with the old velocity, forces there, half a way with the new one: free fall is exact, and collisions keep
 * their energy to second order. Each force acts on both sides alike: momentum is kept to rounding. */
#ifndef RS_SOFT_GRAINS_H
#define RS_SOFT_GRAINS_H

#include "../base/thread_pool.h"
#include "cell_grid.h"
#include "partner.h"

RS_ARRAY_OF(rs_grain_material);

/* Most substeps of a step, unless a material asks for more: grains that would need more are stopped. Nothing ends a step
 * before its time, so that one must not take for ever, and fewer than needed would blow them up. */
#define RS_MOST_GRAIN_SUBSTEPS 10000

/* How two grains, or a grain and a wall, act on each other. */
typedef struct {
    double k_n, c_n, k_t, c_t;
    double friction, rolling;
    double cohesion, reach; /* stiffness [N/m] and distance [m] */
    bool hertz;
} rs_grain_law;
RS_ARRAY_OF(rs_grain_law);

/* Springs of a pair of surfaces that touch. `spring.rest` is 1 while they do, `roll.rest` their overlap. */
typedef struct {
    rs_quad spring; /* how far the first surface slid along the other [m] */
    rs_quad roll;   /* how far the first one rolled against the other [rad] */
} rs_grain_bond;
RS_ARRAY_OF(rs_grain_bond);

/* A grain that touches a wall or a shape. */
typedef struct {
    int32_t grain;
    int32_t surface; /* collider, or -1 - wall */
    int32_t slot;    /* of several contacts with one surface */
    rs_grain_bond bond;
} rs_grain_touch;
RS_ARRAY_OF(rs_grain_touch);

/* A grain that may touch a shape in this step. */
typedef struct {
    int32_t grain, shape;
} rs_grain_candidate;
RS_ARRAY_OF(rs_grain_candidate);

/* What a pair does to its grains. */
typedef struct {
    rs_vec3 force, torque; /* on the first; of rolling resistance alone */
    rs_vec3 twist;         /* normal x force */
    double arm_i, arm_j;   /* from the centres to the contact [m] */
    bool acts;             /* they reach each other */
} rs_grain_push;
RS_ARRAY_OF(rs_grain_push);

/* A pair whose grains belong to different parts, which threads take. */
typedef struct {
    int32_t first, pair;
} rs_grain_crossing;
RS_ARRAY_OF(rs_grain_crossing);

typedef struct rs_grains {
    /* settings */
    int32_t least_substeps;
    RS_ARRAY(rs_grain_material) materials; /* the first is that of the object */
    RS_ARRAY(rs_grain_law) laws;           /* materials x materials */
    rs_grain_material boundary;            /* of ground plane and container */
    bool has_ground, has_container;
    double ground;      /* height [m] */
    rs_aabb container;
    rs_domain domain;   /* periodic axes */

    /* state, per grain */
    RS_ARRAY(rs_quad) x;     /* position, radius [m] */
    RS_ARRAY(rs_quad) v;     /* velocity, inverse mass [1/kg] */
    RS_ARRAY(rs_quad) w;     /* angular velocity, inverse moment of inertia */
    RS_ARRAY(int32_t) kinds; /* material */

    /* contacts with memory */
    RS_ARRAY(int32_t) first; /* per grain and one more: its pairs */
    RS_ARRAY(int32_t) second; /* per pair: the other grain, whose index is larger */
    RS_ARRAY(uint8_t) image; /* per pair: which image of it, 13 itself */
    RS_ARRAY(rs_grain_bond) bonds; /* per pair */
    RS_ARRAY(rs_grain_touch) touches; /* by grain, then by surface */
    RS_ARRAY(int32_t) origin; /* per grain: its index when the pairs were listed, or -1; empty: its own */
    bool listed; /* the pairs are those of these grains */
    double travel; /* farthest that any grain may have got since the pairs were listed [m] */
    rs_cell_grid grid; /* of the places where the pairs were listed */
    double skin; /* pairs within this distance are listed [m] */
    double overlap; /* largest overlap of the last step [m]: how stiff Hertz' law is */
    double body_rate2; /* stiffness of contacts with a body over its mass in the last step, the largest [1/s^2] */
    rs_grains_stats stats;

    /* scratch */
    RS_ARRAY(rs_quad) x_before;             /* per grain: where it was when the step began */
    RS_ARRAY(rs_quad) force, torque;        /* per grain */
    RS_ARRAY(rs_grain_touch) touches_other; /* second buffer */
    RS_ARRAY(int32_t) second_other;
    RS_ARRAY(uint8_t) image_other;
    RS_ARRAY(rs_grain_bond) bonds_other;
    RS_ARRAY(int32_t) first_other;
    RS_ARRAY(rs_grain_candidate) candidates; /* by grain */
    RS_ARRAY(int32_t) parts; /* first grain of each part, and the end; empty: void */
    RS_ARRAY(rs_grain_crossing) crossings; /* by first grain */
    RS_ARRAY(int32_t) crossing_second; /* per crossing: the other grain */
    RS_ARRAY(int32_t) crossing_of; /* per pair, or RS_NONE */
    RS_ARRAY(int32_t) back; /* per grain and one more where the crossings with it as the second begin, then these */
    RS_ARRAY(rs_grain_push) pushes;           /* per crossing: in this substep */
    RS_ARRAY(uint8_t) tallies;                /* sums of shares of the grains */
    RS_ARRAY(int32_t) cell_shapes, cell_next; /* shapes that touch each cell */
} rs_grains;

rs_grains *rs_grains_new(void);
void rs_grains_free(rs_grains *grains);
rs_grains *rs_grains_clone(const rs_grains *source);

rs_status rs_grain_material_check(const rs_grain_material *material);
/* Whether a sphere of that size and density has a mass and moments that double precision carries. */
rs_status rs_grain_check(int64_t index, double radius, double density);
/* Index of the material in the table; added if it is new. */
rs_status rs_grains_material(rs_grains *grains, const rs_grain_material *material, int32_t *out);
/* Adds checked grains of one material. `velocities` may be NULL. */
rs_status rs_grains_append(rs_grains *grains, int64_t count, const double *positions, const double *radii,
                           const double *velocities, int32_t material);
/* The last grain takes the place of the removed one. */
rs_status rs_grains_erase(rs_grains *grains, int64_t index);
/* Mass and moment follow from radius and density; a fixed grain has none. */
void rs_grains_set_mass(rs_grains *grains, int64_t index, bool fixed);
/* Largest distance across which any material pulls [m]. */
double rs_grains_reach(const rs_grains *grains);

/* Box around all grains, and how fast the fastest of them is. */
rs_aabb rs_grains_bounds(const rs_grains *grains, double *speed);

void rs_grains_rest(rs_grains *grains);
/* They are at rest where the step began. */
void rs_grains_stop(rs_grains *grains);
/* Drops the memory of all contacts. */
void rs_grains_forget(rs_grains *grains);

/* Lists pairs anew when grains moved farther than the skin. */
rs_status rs_grains_list_pairs(rs_grains *grains);
/* Divides the grains into so many parts with about as many pairs each, and lists the pairs that cross; made once. */
rs_status rs_grains_divide(rs_grains *grains, int32_t parts);
/* Lists grains and shapes that may meet in this step. */
rs_status rs_grains_list_candidates(rs_grains *grains, const rs_partners *partners, double reach);

/* A step of the world in parts. How many substeps it takes at least; what they may touch. */
rs_status rs_grains_begin_step(rs_grains *grains, const rs_soft_scene *scene, double *needed);
bool rs_grains_are_too_stiff(const rs_grains *grains, double needed);
rs_status rs_grains_plan(rs_grains *grains, const rs_soft_scene *scene, rs_partners *partners, int32_t substeps_made);
/* A substep: half of the way with the old velocities; forces change them; the other half. `pushed`: something else changed
 * velocities, too; `note`: what bodies rest on them
 * is counted. RS_DIVERGED: the grains were stopped where they were when the step began. */
rs_status rs_grains_begin_substep(rs_grains *grains, const rs_soft_scene *scene, double h);
rs_status rs_grains_push(rs_grains *grains, const rs_soft_scene *scene, rs_partners *partners, double h);
rs_status rs_grains_end_substep(rs_grains *grains, const rs_soft_scene *scene, const rs_partners *partners, double h, bool pushed, bool note);

typedef struct {
    double mass, kinetic, potential, elastic;
    rs_vec3 linear, angular; /* momentum, angular about the origin of the world */
    rs_vec3 centre;          /* of mass */
} rs_soft_sums;
rs_soft_sums rs_grains_sum(const rs_grains *grains, rs_vec3 gravity);

/* grain_forces.c: forces of one substep at the present places: first of pairs, then those of surfaces are added. */
rs_status rs_grain_pair_forces(rs_grains *grains, rs_thread_pool *pool, double h);
rs_status rs_grain_surface_forces(rs_grains *grains, const rs_soft_scene *scene, rs_partners *partners, double h);

/* Threads share the grains, if there are enough. Each takes the same ones most of the time, which its cache holds. */
enum { RS_SHARED_GRAINS = 1024 };
static inline rs_thread_pool *rs_grain_pool(const rs_grains *g, rs_thread_pool *pool) {
    return g->x.count < RS_SHARED_GRAINS ? NULL : pool;
}
static inline int32_t rs_grain_shares(rs_thread_pool *pool) { return pool == NULL ? 1 : rs_pool_threads(pool); }
/* First grain of a share. */
static inline int64_t rs_grain_share(const rs_grains *g, int64_t share, int64_t shares) { return g->x.count * share / shares; }

/* Shift of an image of the domain. */
static inline rs_vec3 rs_image_shift(const rs_domain *domain, uint8_t image) {
    rs_vec3 extent = rs_sub(domain->max, domain->min);
    return rs_v3((image % 3 - 1) * extent.x, (image / 3 % 3 - 1) * extent.y, (image / 9 - 1) * extent.z);
}
enum { RS_OWN_IMAGE = 13 };

#endif
