/* What the files of the interior-point method share. newton_interior.c goes from step to step; newton_cones.c knows contacts, and
 * newton_bounds.c all other rows. In `impulse` of a row of Newton's method they leave what its impulse would change by if no
 * velocity changed, and in `turn` they find what its velocity changes by. */
#ifndef RS_CONTACT_NEWTON_INTERIOR_H
#define RS_CONTACT_NEWTON_INTERIOR_H

#include "coulomb4.h"
#include "newton_matrix.h"

/* Four contacts. Where there are fewer, the first stands in the other places, too. */
struct rs_cones {
    int64_t rows[4];
    int32_t count;
    rs_v4 root_mass;         /* root of the inverse mass */
    rs_v4 softness;
    rs_lanes3 yields;        /* z per x in a direction: softness and compliance */
    rs_lanes3 error;         /* velocity without the lift, with the softness */
    rs_lanes3 x, z;          /* impulse and velocity with its lift, in units of the root of an energy */
    rs_lanes3 dx, dz;        /* direction */
    rs_lanes3 scale;         /* impulse per x, z per velocity */
    rs_lanes3 rest;          /* what z misses of the present velocities */
    rs_lanes3 goal;          /* change of x where z keeps still */
    rs_lanes3 w;             /* x and z are images of one vector by this and its mirror image; determinant one */
    rs_lanes3 middle;        /* that vector */
    rs_v4 stretch;           /* likewise: their sizes */
    rs_v4 margin_x, gap;     /* between their friction or slip and the cone */
    rs_v4 gap_change;        /* along the direction */
    rs_lanes3 kept;          /* x where the least violation was left */
    rs_v4 lift_x, lift_y;    /* change of the lift with the slip */
    rs_v4 stiffness[3][3];   /* x per z, negative */
    rs_index4 counts;        /* have a part in the matrix */
    rs_v4 yielding[3][3];    /* what is left of a goal */
};

/* A row between bounds, or beyond one. */
struct rs_bound {
    int64_t row;
    double inverse_mass, softness;
    double ends[2];          /* lower and upper, maybe infinite */
    double impulse, error, kept;
    double room[2], push[2]; /* to each bound; the velocity that the bound stands for, with which the row is solved */
    double change, push_change[2];
    bool counts;             /* has a part in the matrix */
    double stiffness, wanted; /* the error that leads to the aim where the impulse keeps still */
};

/* A row without bounds. */
struct rs_tie {
    int64_t row;
    double inverse_mass, softness, stiffness;
    rs_vec3 impulse, error, change, kept;
};

/* Take over the rows. `largest` grows to the largest violation, squared and in the unit of an energy: shares[0] times that of the
 * present impulses, shares[1] times that of none. False when memory is short. */
bool rs_cones_take_rows(rs_newton *newton, const rs_rows *rows, const double shares[2], double *largest);
bool rs_bounds_take_rows(rs_newton *newton, const rs_rows *rows, const double shares[2], double *largest);
/* The start: every product is `product`. */
void rs_cones_start(rs_newton *newton, double product);
void rs_bounds_start(rs_newton *newton, double product);
/* The errors of the rows are those of the last look. */
void rs_cones_look(rs_newton *newton, const rs_rows *rows);
void rs_bounds_look(rs_newton *newton, const rs_rows *rows);
/* Weights of the rows in the matrix. */
void rs_cones_prepare(rs_newton *newton);
void rs_bounds_prepare(rs_newton *newton);
/* Goals that lead to products of `aim`, with the correction for what the present direction leaves of second order, or not. */
void rs_cones_set_goals(rs_newton *newton, double aim, bool corrected);
void rs_bounds_set_goals(rs_newton *newton, double aim, bool corrected);
/* The direction that goes with the changes of velocity. */
void rs_cones_take_direction(rs_newton *newton);
void rs_bounds_take_direction(rs_newton *newton);
/* How far it leads until the first leaves its cone or meets its bound; infinite where that is farther than steps go. */
double rs_cones_way(const rs_newton *newton);
double rs_bounds_way(const rs_newton *newton);
/* The sum of the products after a share of the direction, and whether none is less than `least` there. */
double rs_cones_product(const rs_newton *newton, double share);
double rs_bounds_product(const rs_newton *newton, double share);
bool rs_cones_hold_together(const rs_newton *newton, double share, double least);
bool rs_bounds_hold_together(const rs_newton *newton, double share, double least);
/* Goes so far. Returns the largest violation that is left, about as a look would find it [m/s]. */
double rs_cones_go(rs_newton *newton, double share);
double rs_bounds_go(rs_newton *newton, double share);
/* The present impulses are the best so far. */
void rs_cones_keep(rs_newton *newton);
void rs_bounds_keep(rs_newton *newton);
/* Steps of the rows: to the best impulses. */
void rs_cones_put(const rs_newton *newton, const rs_rows *rows);
void rs_bounds_put(const rs_newton *newton, const rs_rows *rows);

/* Steps never go farther than this share of the direction. */
#define RS_INTERIOR_FARTHEST 1.1
/* What rows yield to the change of their impulse, relative to their inverse mass: otherwise rounding of velocities becomes impulses
 * where redundant rows are nearly solved. Nothing is left of it where impulses change no more. */
#define RS_INTERIOR_COMPLIANCE 1e-8
/* Rows whose stiffness is less than this share of their mass have no part in the matrix, nor do their impulses follow the change of
 * velocities: those that are about to come apart. */
#define RS_INTERIOR_NEGLIGIBLE 1e-3

#endif
