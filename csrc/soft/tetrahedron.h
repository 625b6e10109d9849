/* Tetrahedra that resist shear and change of volume: stable neo-Hookean solids as two constraints with compliance
 * (Macklin, Müller 2021, "A constraint-based formulation of stable neo-Hookean materials").
 *
 * With F the deformation gradient, J = det F and V the volume at rest, the energy is
 *   V * (volume / 2 * (J - 1 - shear / volume)^2 + shear / 2 * |F|^2),
 * which for small strains is Hooke's law with the shear modulus `shear` and Lame's first parameter volume - shear. */
#ifndef RS_SOFT_TETRAHEDRON_H
#define RS_SOFT_TETRAHEDRON_H

#include <stdint.h>

#include "../base/simd4.h"

typedef struct {
    int32_t index[4];
    rs_mat3 inverse_rest;   /* rows b: F = sum of (x_k - x_0) b_k^T [1/m] */
    double size;            /* volume at rest [m^3] */
    double volume, shear;   /* stiffness [N/m^2]; a shear of 0 leaves the volume alone */
    double impulse[2];      /* of this substep, times its length: of J, of |F| */
} rs_soft_tetrahedron;
RS_ARRAY_OF(rs_soft_tetrahedron);

/* False when it has no volume. Its corners are put in the order in which it is positive. */
bool rs_tetrahedron_make(rs_soft_tetrahedron *out, const rs_quad *x, const int32_t index[4], double volume, double shear);
/* Begins a substep with what the springs do at its start; those too stiff for its length begin from nothing. `share`:
 * of the compliance, relative to the masses, that counts as too stiff. `v[].rest`: inverse masses. */
void rs_tetrahedron_begin(rs_soft_tetrahedron *t, const rs_quad *start, rs_quad *x, const rs_quad *v, double h2, double share);
/* One of Gauss and Seidel's turns, both constraints together. */
void rs_tetrahedron_solve(rs_soft_tetrahedron *t, rs_quad *x, const rs_quad *v, double h2);
/* The columns of F. */
void rs_tetrahedron_columns(const rs_soft_tetrahedron *t, const rs_quad *x, rs_vec3 f[3]);
/* Zero at rest [J]. */
double rs_tetrahedron_energy(const rs_soft_tetrahedron *t, const rs_quad *x);
/* Adds the stiffness that each corner feels, the others held [N/m]. */
void rs_tetrahedron_add_stiffness(const rs_soft_tetrahedron *t, double *sums);

#endif
