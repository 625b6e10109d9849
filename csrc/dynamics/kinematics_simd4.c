#include "kinematics_simd4.h"

#include <stddef.h>

typedef struct {
    rs_lanes x, y, z;
} vec;

static inline vec add(vec a, vec b) { return (vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline vec cross(vec a, vec b) {
    return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline rs_lanes dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
/* m: row-major */
static inline vec mulv(const rs_lanes m[9], const rs_lanes v[3]) {
    return (vec){m[0] * v[0] + m[1] * v[1] + m[2] * v[2], m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
                 m[6] * v[0] + m[7] * v[1] + m[8] * v[2]};
}

/* What the parents hand on. */
typedef struct {
    rs_lanes rot[9];
    vec pos, v, w;
} carriers;

/* The fields of rs_link_motion lie behind one another, so four at a time can be read and written; where fewer are left,
 * a few are moved twice. */
_Static_assert(offsetof(rs_link_motion, pos) == 9 * sizeof(double), "the position follows the rotation");
_Static_assert(offsetof(rs_link_motion, axis) == offsetof(rs_link_motion, arm) + 3 * sizeof(double), "axis after arm");
_Static_assert(offsetof(rs_link_motion, w) == offsetof(rs_link_motion, v) + 3 * sizeof(double), "w after v");
_Static_assert(sizeof(rs_link_mass) == 10 * sizeof(double), "mass, centre and inertia are dense");

static inline rs_lanes all(double s) { return (rs_lanes){s, s, s, s}; }

static inline carriers one_carrier(const rs_link_motion *m) {
    carriers c;
    for (int k = 0; k < 9; k++)
        c.rot[k] = all(m->rot.m[k]);
    c.pos = (vec){all(m->pos.x), all(m->pos.y), all(m->pos.z)};
    c.v = (vec){all(m->v.x), all(m->v.y), all(m->v.z)};
    c.w = (vec){all(m->w.x), all(m->w.y), all(m->w.z)};
    return c;
}

static inline void gather(const rs_link_motion *const m[4], size_t offset, rs_lanes out[4]) {
    const double *from[4];
    for (int k = 0; k < 4; k++)
        from[k] = (const double *)(const void *)((const char *)m[k] + offset);
    rs_v4_gather(from, out);
}

static inline carriers four_carriers(const rs_link_motion *const m[4]) {
    carriers c;
    rs_lanes tail[4], vw[4], rest[4];
    gather(m, 0, &c.rot[0]);
    gather(m, 4 * sizeof(double), &c.rot[4]);
    gather(m, 8 * sizeof(double), tail);
    gather(m, offsetof(rs_link_motion, v), vw);
    gather(m, offsetof(rs_link_motion, v) + 2 * sizeof(double), rest);
    c.rot[8] = tail[0];
    c.pos = (vec){tail[1], tail[2], tail[3]};
    c.v = (vec){vw[0], vw[1], vw[2]};
    c.w = (vec){vw[3], rest[2], rest[3]};
    return c;
}

static inline void scatter(void *const base[4], size_t offset, rs_lanes a, rs_lanes b, rs_lanes c, rs_lanes d) {
    double *to[4];
    for (int k = 0; k < 4; k++)
        to[k] = (double *)(void *)((char *)base[k] + offset);
    rs_v4_scatter(a, b, c, d, to);
}

/* Inertias turned into world axes. */
static inline void place_masses(rs_articulation *a, const rs_four_links *four, const rs_lanes r[9]) {
    const rs_lanes *s = four->inertia_origin;
    vec row[3], turned[3]; /* rows of the rotation, and the inertia times them */
    for (int k = 0; k < 3; k++) {
        row[k] = (vec){r[3 * k], r[3 * k + 1], r[3 * k + 2]};
        turned[k] = (vec){s[0] * row[k].x + s[3] * row[k].y + s[4] * row[k].z,
                          s[3] * row[k].x + s[1] * row[k].y + s[5] * row[k].z,
                          s[4] * row[k].x + s[5] * row[k].y + s[2] * row[k].z};
    }
    vec com = mulv(r, four->mass_com);
    rs_lanes zz = dot(row[2], turned[2]), xy = dot(row[0], turned[1]);
    void *mass[4];
    for (int k = 0; k < 4; k++)
        mass[k] = &a->mass[four->link[k]];
    scatter(mass, 0, four->mass, com.x, com.y, com.z);
    scatter(mass, 4 * sizeof(double), dot(row[0], turned[0]), dot(row[1], turned[1]), zz, xy);
    scatter(mass, 6 * sizeof(double), zz, xy, dot(row[0], turned[2]), dot(row[1], turned[2]));
}

void rs_kinematics_simd4(rs_articulation *a, const rs_four_links *four, const double *q, const double *u) {
    const rs_link_motion *parents[4];
    void *motion[4];
    rs_lanes angle, speed, sine, cosine, turn[9], rot[9];
    for (int k = 0; k < 4; k++) {
        const rs_link *link = &a->links[four->link[k]];
        parents[k] = &a->motion[link->parent];
        motion[k] = &a->motion[four->link[k]];
        angle[k] = q[link->q_first];
        speed[k] = u[link->u_first];
    }
    rs_v4_sincos(angle, &sine, &cosine);
    carriers on = four->one_parent ? one_carrier(parents[0]) : four_carriers(parents);
    for (int k = 0; k < 9; k++)
        turn[k] = four->turn_fixed[k] + cosine * four->turn_cos[k] + sine * four->turn_sin[k];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            rot[3 * r + c] = on.rot[3 * r] * turn[c] + on.rot[3 * r + 1] * turn[3 + c] + on.rot[3 * r + 2] * turn[6 + c];
    vec axis = mulv(on.rot, four->axis_in_parent), arm = mulv(on.rot, four->joint_pos);
    vec pos = add(on.pos, arm), v = add(on.v, cross(on.w, arm));
    vec w = {on.w.x + speed * axis.x, on.w.y + speed * axis.y, on.w.z + speed * axis.z};

    scatter(motion, 0, rot[0], rot[1], rot[2], rot[3]);
    scatter(motion, 4 * sizeof(double), rot[4], rot[5], rot[6], rot[7]);
    scatter(motion, 8 * sizeof(double), rot[8], pos.x, pos.y, pos.z);
    scatter(motion, offsetof(rs_link_motion, arm), arm.x, arm.y, arm.z, axis.x);
    scatter(motion, offsetof(rs_link_motion, arm) + 2 * sizeof(double), arm.z, axis.x, axis.y, axis.z);
    scatter(motion, offsetof(rs_link_motion, v), v.x, v.y, v.z, w.x);
    scatter(motion, offsetof(rs_link_motion, v) + 2 * sizeof(double), v.z, w.x, w.y, w.z);
    place_masses(a, four, rot);
}
