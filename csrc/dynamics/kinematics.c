/* Where links are and how they move, from the root outwards, and how coordinates advance. */
#include "articulated.h"
#include "kinematics_simd4.h"

#include <stddef.h>
#include <string.h>

/* ---- placing ---- */

static void place_base(rs_articulation *a, const double *q) {
    rs_link_motion *m = &a->motion[0];
    m->arm = rs_v3_zero();
    m->pos = a->fixed_base ? a->base_position : rs_v3_load(q);
    m->rot = rs_quat_to_m3(a->fixed_base ? a->base_quaternion : rs_quat_load(q + 3));
}

/* Turns the inertia into world axes, by the columns of the rotation: four multiplications at a time. */
static inline void turn_mass(rs_articulation *a, int32_t i, rs_lanes x, rs_lanes y, rs_lanes z) {
    const rs_link *link = &a->links[i];
    const rs_sym3 *s = &link->inertia_origin;
    rs_vec3 h = link->mass_com;
    rs_lanes tx = x * s->xx + y * s->xy + z * s->xz, ty = x * s->xy + y * s->yy + z * s->yz,
             tz = x * s->xz + y * s->yz + z * s->zz;
    rs_lanes c0 = tx * x[0] + ty * y[0] + tz * z[0], c1 = tx * x[1] + ty * y[1] + tz * z[1],
             c2 = tx * x[2] + ty * y[2] + tz * z[2];
    rs_lanes moment = x * h.x + y * h.y + z * h.z;
    a->mass[i] = (rs_link_mass){link->mass, rs_v3(moment[0], moment[1], moment[2]),
                                {.xx = c0[0], .yy = c1[1], .zz = c2[2], .xy = c1[0], .xz = c2[0], .yz = c2[1]}};
}

static inline void place_mass(rs_articulation *a, int32_t i) {
    const double *r = a->motion[i].rot.m;
    turn_mass(a, i, (rs_lanes){r[0], r[3], r[6]}, (rs_lanes){r[1], r[4], r[7]}, (rs_lanes){r[2], r[5], r[8]});
}

static void move_base(rs_articulation *a, const double *u) {
    a->motion[0].v = a->fixed_base ? rs_v3_zero() : rs_v3_load(u);
    a->motion[0].w = a->fixed_base ? rs_v3_zero() : rs_v3_load(u + 3);
}

static inline void move_link(const rs_link *link, const rs_link_motion *parent, const double *u, rs_link_motion *m) {
    rs_pair6 motion = rs_shift_motion((rs_pair6){parent->v, parent->w}, m->arm);
    rs_joint_move(link, m, u, &motion);
    m->v = motion.lin;
    m->w = motion.ang;
}

static inline void place_link(rs_articulation *a, int32_t i, const double *q, const double *u) {
    const rs_link *link = &a->links[i];
    rs_link_motion *m = &a->motion[i];
    const rs_link_motion *parent = &a->motion[link->parent];
    rs_joint_place(link, parent, &q[link->q_first], m);
    m->pos = rs_add(parent->pos, m->arm);
    move_link(link, parent, &u[link->u_first], m);
    place_mass(a, i);
}

/* A link that others hang on: the columns of its rotation, and its motion. */
typedef struct {
    int32_t link;
    rs_lanes x, y, z, pos, v, w;
} carrier;

static inline rs_lanes lanes_of(rs_vec3 v) { return (rs_lanes){v.x, v.y, v.z, 0.0}; }

static inline carrier carrier_of(const rs_articulation *a, int32_t link) {
    const rs_link_motion *m = &a->motion[link];
    const double *r = m->rot.m;
    return (carrier){link, {r[0], r[3], r[6], 0.0}, {r[1], r[4], r[7], 0.0}, {r[2], r[5], r[8], 0.0},
                     lanes_of(m->pos), lanes_of(m->v), lanes_of(m->w)};
}

static inline rs_lanes turned_by(const carrier *on, rs_vec3 v) { return on->x * v.x + on->y * v.y + on->z * v.z; }

/* Four numbers at a time; the fourth belongs to the field behind, which is written next. */
static inline void write_at(rs_link_motion *m, size_t offset, rs_lanes v) {
    memcpy((char *)m + offset, &v, sizeof v);
}

static inline void write_motion(rs_link_motion *m, const carrier *own, rs_lanes arm, rs_lanes axis) {
    rs_lanes row[4] = {own->x, own->y, own->z, own->z};
    rs_v4_transpose(&row[0], &row[1], &row[2], &row[3]);
    for (size_t k = 0; k < 3; k++)
        write_at(m, offsetof(rs_link_motion, rot) + 3 * k * sizeof(double), row[k]);
    write_at(m, offsetof(rs_link_motion, pos), own->pos);
    write_at(m, offsetof(rs_link_motion, arm), arm);
    write_at(m, offsetof(rs_link_motion, axis), axis);
    write_at(m, offsetof(rs_link_motion, v), own->v);
    m->w = rs_v3(own->w[0], own->w[1], own->w[2]);
}

/* place_link() of a joint that turns about an axis; the link becomes the carrier of the next. */
static inline void place_hinge(rs_articulation *a, int32_t i, double speed, double sine, double cosine, carrier *on) {
    const rs_link *link = &a->links[i];
    double turn[9];
    for (int k = 0; k < 9; k++)
        turn[k] = link->turn_fixed.m[k] + cosine * link->turn_cos.m[k] + sine * link->turn_sin.m[k];
    rs_lanes axis = turned_by(on, link->axis_in_parent), arm = turned_by(on, link->joint_pos);
    carrier own = {i, turned_by(on, rs_v3(turn[0], turn[3], turn[6])), turned_by(on, rs_v3(turn[1], turn[4], turn[7])),
                   turned_by(on, rs_v3(turn[2], turn[5], turn[8])), on->pos + arm, on->v + rs_v4_cross(on->w, arm),
                   on->w + speed * axis};
    write_motion(&a->motion[i], &own, arm, axis);
    turn_mass(a, i, own.x, own.y, own.z);
    *on = own;
}

/* Places the links from `at` in the order one after the other, up to four of them, of whose angles the sines are found
 * together. Returns where the next ones begin. */
static int32_t place_a_few(rs_articulation *a, int32_t at, const double *q, const double *u) {
    int32_t end = at + 1;
    while (end < at + 4 && end < a->link_count - 1 && a->four_at[end] < 0)
        end++;
    rs_v4 angle = rs_v4_all(0.0), sine = angle, cosine = angle;
    bool turn = false;
    for (int32_t k = at; k < end; k++) {
        const rs_link *link = &a->links[a->order[k]];
        turn |= rs_joint_turns(link);
        angle[k - at] = rs_joint_turns(link) ? q[link->q_first] : 0.0;
    }
    if (turn)
        rs_v4_sincos(angle, &sine, &cosine);
    carrier on = {.link = -1};
    for (int32_t k = at; k < end; k++) {
        const rs_link *link = &a->links[a->order[k]];
        if (!rs_joint_turns(link)) {
            place_link(a, a->order[k], q, u);
            continue;
        }
        if (link->parent != on.link)
            on = carrier_of(a, link->parent);
        place_hinge(a, a->order[k], u[link->u_first], sine[k - at], cosine[k - at], &on);
    }
    return end;
}

void rs_kinematics_place(rs_articulation *a, const double *q, const double *u) {
    place_base(a, q);
    place_mass(a, 0);
    move_base(a, u);
    for (int32_t k = 0; k < a->link_count - 1;) {
        if (a->four_at[k] >= 0) {
            rs_kinematics_simd4(a, &a->fours[a->four_at[k]], q, u);
            k += 4;
        } else {
            k = place_a_few(a, k, q, u);
        }
    }
    a->placed_at = q;
}

void rs_kinematics_move(rs_articulation *a, const double *u) {
    move_base(a, u);
    for (int32_t k = 0; k < a->link_count - 1; k++) {
        int32_t i = a->order[k];
        const rs_link *link = &a->links[i];
        move_link(link, &a->motion[link->parent], &u[link->u_first], &a->motion[i]);
    }
}

void rs_kinematics_refresh(rs_articulation *a) {
    if (a->placed_at != a->q)
        rs_kinematics_place(a, a->q, a->u);
}

/* ---- coordinates ---- */

/* rs_joint_advance() of four balls in a row; false when one of them turns too far for the series of a step. */
static inline bool turn_four(const double *q, const double *u, double dt, double *out) {
    rs_v4 x = dt * (rs_v4){u[0], u[3], u[6], u[9]}, y = dt * (rs_v4){u[1], u[4], u[7], u[10]},
          z = dt * (rs_v4){u[2], u[5], u[8], u[11]}, h = 0.25 * (x * x + y * y + z * z), p[4];
    if (!(h[0] < RS_SMALL_TURN && h[1] < RS_SMALL_TURN && h[2] < RS_SMALL_TURN && h[3] < RS_SMALL_TURN))
        return false;
    const double *from[4] = {q, q + 4, q + 8, q + 12};
    double *to[4] = {out, out + 4, out + 8, out + 12};
    rs_v4 s = RS_HALF_SINC_SERIES(h), ew = RS_COS_HALF_SERIES(h), ex = s * x, ey = s * y, ez = s * z;
    rs_v4_gather(from, p);
    rs_v4 w = ew * p[0] - ex * p[1] - ey * p[2] - ez * p[3], i = ew * p[1] + ex * p[0] + ey * p[3] - ez * p[2],
          j = ew * p[2] - ex * p[3] + ey * p[0] + ez * p[1], k = ew * p[3] + ex * p[2] - ey * p[1] + ez * p[0];
    rs_v4 length = 1.5 - 0.5 * (w * w + i * i + j * j + k * k);
    rs_v4_scatter(length * w, length * i, length * j, length * k, to);
    return true;
}

void rs_kinematics_advance(const rs_articulation *a, const double *q, const double *u, double dt, double *out) {
    for (int32_t i = 0; i < a->link_count; i++) {
        const rs_link *link = &a->links[i];
        const double *qi = &q[link->q_first], *ui = &u[link->u_first];
        double *to = &out[link->q_first];
        if (link->has_quaternion && rs_are_four_spherical(a, i) && turn_four(qi, ui, dt, to))
            i += 3;
        else
            rs_joint_advance(link, qi, ui, dt, to);
    }
}
