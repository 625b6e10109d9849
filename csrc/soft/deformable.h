/* Cloth and other deformable objects: particles held together by constraints with compliance (XPBD, small substeps).
 *
 * A substep moves the particles freely, then Gauss and Seidel's way over the constraints; impulses of the substep before
 * are where they start, so that at rest every constraint is stretched as its compliance says, however few iterations there
 * are. Contacts act on velocities, both ways: momentum is kept. */
#ifndef RS_SOFT_DEFORMABLE_H
#define RS_SOFT_DEFORMABLE_H

#include "grains.h"

/* Two particles and their distance at rest. */
typedef struct {
    int32_t a, b;
    double rest, compliance; /* [m], [m/N] */
    double impulse;          /* of the last substep, times its length [N s^2] */
} rs_soft_strut;

/* Two triangles that share an edge: |sum of weight * place| is how much they are bent. */
typedef struct {
    int32_t index[4]; /* the edge, then the two others */
    double weight[4];
    double rest, compliance;
    double impulse;
} rs_soft_hinge;

/* A particle that may touch a shape in this step. */
typedef struct {
    int32_t particle, shape;
} rs_soft_candidate;

typedef struct rs_deformable {
    rs_deformable_settings settings;
    rs_array x;         /* rs_quad: place, collision radius */
    rs_array v;         /* rs_quad: velocity, inverse mass; 0: pinned */
    rs_array masses;    /* double [kg] */
    rs_array struts, hinges;
    rs_array triangles; /* int32_t, three each */
    double substep;     /* length of the last one [s] */
    rs_array x_before, x_start; /* scratch: at the beginning of the step and of the substep */
    rs_array candidates;
} rs_deformable;

rs_deformable *rs_deformable_new(void);
void rs_deformable_drop(rs_deformable *d);
rs_deformable *rs_deformable_clone(const rs_deformable *source);
/* Adds a hinge for two triangles (edge first, then the two others); flat ones without area are left out. */
rs_status rs_deformable_hinge(rs_deformable *d, const int32_t index[4], double compliance);
rs_aabb rs_deformable_bounds(const rs_deformable *d, double *speed);
rs_soft_sums rs_deformable_sum(const rs_deformable *d, rs_vec3 gravity);
/* One step of the world. RS_DIVERGED: it was stopped where it was when the step began. */
rs_status rs_deformable_step(rs_deformable *d, const rs_soft_scene *scene, rs_partners *partners);

#endif
