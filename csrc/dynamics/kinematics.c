#include "articulated.h"
#include "kinematics_simd4.h"

/* ---- placing ---- */

static void place_base(rs_articulation *a, const double *q) {
    rs_link_motion *m = &a->motion[0];
    m->arm = rs_v3_zero();
    m->pos = a->fixed_base ? a->base_position : rs_v3_load(q);
    m->rot = rs_quat_to_m3(a->fixed_base ? a->base_quaternion : rs_quat_load(q + 3));
}

/* Turns the inertia into world axes, by columns: four multiplications at a time. */
static inline void place_mass(rs_articulation *a, int32_t i) {
    const rs_link *link = &a->links[i];
    const double *r = a->motion[i].rot.m;
    const rs_sym3 *s = &link->inertia_origin;
    rs_vec3 h = link->mass_com;
    rs_lanes x = {r[0], r[3], r[6]}, y = {r[1], r[4], r[7]}, z = {r[2], r[5], r[8]};
    rs_lanes tx = x * s->xx + y * s->xy + z * s->xz, ty = x * s->xy + y * s->yy + z * s->yz,
             tz = x * s->xz + y * s->yz + z * s->zz;
    rs_lanes c0 = tx * r[0] + ty * r[1] + tz * r[2], c1 = tx * r[3] + ty * r[4] + tz * r[5],
             c2 = tx * r[6] + ty * r[7] + tz * r[8];
    rs_lanes moment = x * h.x + y * h.y + z * h.z;
    a->mass[i] = (rs_link_mass){link->mass, rs_v3(moment[0], moment[1], moment[2]),
                                {.xx = c0[0], .yy = c1[1], .zz = c2[2], .xy = c1[0], .xz = c2[0], .yz = c2[1]}};
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

static inline void place_link(rs_articulation *a, int32_t i, const double *q, const double *u, double sine, double cosine) {
    const rs_link *link = &a->links[i];
    rs_link_motion *m = &a->motion[i];
    const rs_link_motion *parent = &a->motion[link->parent];
    rs_joint_place(link, parent, &q[link->q_first], sine, cosine, m);
    m->pos = rs_add(parent->pos, m->arm);
    move_link(link, parent, &u[link->u_first], m);
    place_mass(a, i);
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
    for (int32_t k = at; k < end; k++)
        place_link(a, a->order[k], q, u, sine[k - at], cosine[k - at]);
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
