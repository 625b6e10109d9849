/* An island of random rows in a layout of its own: contacts, brakes, limits and a pin hold one object several times over. */
#ifndef RAISIM_TEST_ISLAND_FIXTURE_H
#define RAISIM_TEST_ISLAND_FIXTURE_H

#include "../../csrc/base/band.h"
#include "../../csrc/contact/row.h"
#include "check.h"
#include "random.h"

enum { SIZE = 18, MAX_ROWS = 16 };

static const double SOFTNESS = 1e-8;

/* ---- a layout: one object with a diagonal inertia ---- */

typedef struct {
    rs_law law;
    rs_vec3 jacobian[SIZE]; /* velocity of the axes per unit of each velocity */
    rs_sym3 g;
} test_row;

typedef struct {
    rs_rows rows;
    double velocity[SIZE], free_velocity[SIZE], inverse_inertia[SIZE];
    test_row list[MAX_ROWS];
} island;

static inline rs_vec3 velocity_of(const island *at, const test_row *row)
{
    rs_vec3 v = rs_v3_zero();
    for (int k = 0; k < SIZE; k++)
        v = rs_madd(v, at->velocity[k], row->jacobian[k]);
    return v;
}

static inline rs_vec3 error_of(const island *at, const test_row *row)
{
    return rs_madd(rs_sub(velocity_of(at, row), row->law.aim.xyz), row->law.softness, row->law.impulse.xyz);
}

static inline void push(double *velocity, const island *at, const test_row *row, rs_vec3 p)
{
    for (int k = 0; k < SIZE; k++)
        velocity[k] += at->inverse_inertia[k] * rs_dot(p, row->jacobian[k]);
}

static inline void release(rs_rows *rows)
{
    island *at = (island *)rows;
    memcpy(at->velocity, at->free_velocity, sizeof at->velocity);
}

static inline void look(rs_rows *rows)
{
    island *at = (island *)rows;
    for (int64_t k = 0; k < rows->count; k++)
        at->list[k].law.error.xyz = error_of(at, &at->list[k]);
}

static inline void apply(rs_rows *rows, double share)
{
    island *at = (island *)rows;
    for (int64_t k = 0; k < rows->count; k++) {
        rs_vec3 change = rs_scale(share, at->list[k].law.step.xyz);
        at->list[k].law.impulse.xyz = rs_add(at->list[k].law.impulse.xyz, change);
        push(at->velocity, at, &at->list[k], change);
    }
}

/* Projected Gauss-Seidel without momentum: any sweep will do. */
static inline rs_sweep_result sweep(rs_rows *rows, double momentum, bool backward, double quiet)
{
    island *at = (island *)rows;
    (void)momentum, (void)quiet;
    rs_sweep_result result = {0.0, 0.0};
    for (int64_t k = 0; k < rows->count; k++) {
        test_row *row = &at->list[backward ? rows->count - 1 - k : k];
        rs_vec3 wanted = rs_madd(row->law.impulse.xyz, -0.9 / row->law.inverse_mass, error_of(at, row));
        rs_vec3 change = rs_sub(rs_law_allowed(&row->law, wanted), row->law.impulse.xyz);
        row->law.impulse.xyz = rs_add(row->law.impulse.xyz, change);
        push(at->velocity, at, row, change);
        result.largest = rs_max(result.largest, row->law.inverse_mass * rs_norm(change));
    }
    return result;
}

static inline void no_push(rs_rows *rows) { (void)rows; }

static inline int32_t object_size(const rs_rows *rows, int32_t object)
{
    (void)rows, (void)object;
    return SIZE;
}

static inline void inertia(const rs_rows *rows, int32_t object, double *out)
{
    (void)object;
    for (int k = 0; k < SIZE; k++)
        *rs_band_at(out, k, k) = 1.0 / ((const island *)rows)->inverse_inertia[k];
}

static inline void jacobian(const rs_rows *rows, int64_t row, rs_side_jacobian sides[2])
{
    const test_row *from = &((const island *)rows)->list[row];
    sides[0].object = 0;
    sides[0].size = SIZE;
    sides[1].object = -1;
    sides[1].size = 0;
    for (int k = 0; k < SIZE; k++) {
        sides[0].index[k] = k;
        sides[0].columns[k] = (rs_quad){from->jacobian[k], 0.0};
    }
}

static const rs_row_layout LAYOUT = {release,     look,    apply,    sweep, no_push, no_push,
                                     object_size, inertia, jacobian, 128, false};

static inline test_row *add_row(island *at, rs_row_kind kind, double mu, double softness, uint64_t *random)
{
    test_row *row = &at->list[at->rows.count++];
    *row = (test_row){.law = {.kind = kind, .mu = mu, .softness = softness, .upper = INFINITY}};
    for (int k = 0; k < SIZE; k++) {
        rs_vec3 axes = random_vector(random, 1.0);
        if (kind == RS_ROW_AXIS)
            axes.x = axes.y = 0.0;
        row->jacobian[k] = axes;
        row->g.xx += at->inverse_inertia[k] * axes.x * axes.x;
        row->g.yy += at->inverse_inertia[k] * axes.y * axes.y;
        row->g.zz += at->inverse_inertia[k] * axes.z * axes.z;
    }
    row->law.inverse_mass = rs_max(rs_max(row->g.xx, row->g.yy), row->g.zz);
    row->law.normal_inverse_mass = kind == RS_ROW_POINT ? row->law.inverse_mass : row->g.zz;
    if (kind == RS_ROW_POINT)
        row->law.lower = -INFINITY;
    return row;
}

/* Seven contacts hold 18 velocities with 21 impulses; `bounce`: restitution. */
static inline void make_island(island *at, double bounce, uint64_t *random)
{
    at->rows = (rs_rows){&LAYOUT, (char *)at->list, sizeof at->list[0], 0, 1};
    for (int k = 0; k < SIZE; k++) {
        at->inverse_inertia[k] = random_between(random, 0.2, 2.0);
        at->velocity[k] = at->free_velocity[k] = random_between(random, -1.0, 1.0);
    }
    for (int k = 0; k < 7; k++) {
        test_row *row = add_row(at, RS_ROW_CONTACT, random_between(random, 0.0, 1.0), SOFTNESS, random);
        row->law.aim.xyz.z = bounce * rs_max(0.0, -velocity_of(at, row).z);
    }
    for (int k = 0; k < 3; k++) {
        rs_law *brake = &add_row(at, RS_ROW_AXIS, 0.0, 0.0, random)->law;
        brake->upper = random_between(random, 0.0, 0.2);
        brake->lower = -brake->upper;
    }
    for (int k = 0; k < 2; k++)
        add_row(at, RS_ROW_AXIS, 0.0, 0.0, random);
    add_row(at, RS_ROW_POINT, 0.0, SOFTNESS, random);
}

/* Largest miss of a row's law [m/s], written down case by case. */
static inline double miss_of(const island *at, const test_row *row)
{
    rs_vec3 p = row->law.impulse.xyz, v = error_of(at, row);
    double friction = sqrt(p.x * p.x + p.y * p.y), slip = sqrt(v.x * v.x + v.y * v.y), mu = row->law.mu;
    if (row->law.kind == RS_ROW_POINT)
        return rs_norm(v);
    if (row->law.kind == RS_ROW_AXIS) {
        CHECK(p.z >= row->law.lower && p.z <= row->law.upper);
        bool low = p.z <= row->law.lower, high = p.z >= row->law.upper;
        return low ? rs_max(0.0, -v.z) : high ? rs_max(0.0, v.z) : fabs(v.z);
    }
    CHECK(p.z >= 0.0 && friction <= mu * p.z * (1.0 + 1e-8) + 1e-15);
    if (p.z == 0.0)
        return rs_max(0.0, -v.z);
    if (friction < mu * p.z * (1.0 - 1e-6))
        return rs_norm(v);
    return rs_max(fabs(v.z), friction > 0.0 ? (slip * friction + p.x * v.x + p.y * v.y) / friction : 0.0);
}

static inline double largest_miss(const island *at)
{
    double worst = 0.0;
    for (int64_t k = 0; k < at->rows.count; k++)
        worst = rs_max(worst, miss_of(at, &at->list[k]));
    return worst;
}

#endif
