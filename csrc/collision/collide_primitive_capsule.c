/* Capsules against other shapes: distances of segments. */
#include "collide_convex.h"
#include "collide_primitive.h"

void rs_collide_capsule_half_space(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                                   const rs_collide_settings *settings, rs_manifold *out) {
    (void)b;
    rs_vec3 normal = rs_m3_col(&tb->rot, 2), axis = rs_m3_col(&ta->rot, 2);
    double height = rs_dot(normal, rs_sub(ta->pos, tb->pos)) - a->radius, slope = rs_dot(normal, axis);
    for (uint32_t i = 0; i < 2; i++) {
        double along = i == 0 ? -a->half_height : a->half_height, gap = height + along * slope;
        if (gap >= settings->margin) continue;
        rs_vec3 end = rs_madd(ta->pos, along, axis);
        rs_manifold_add(out, rs_madd(end, -(a->radius + 0.5 * gap), normal), normal, gap, i);
    }
}

void rs_collide_sphere_capsule(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                               const rs_collide_settings *settings, rs_manifold *out) {
    rs_vec3 axis = rs_m3_col(&tb->rot, 2), d = rs_sub(ta->pos, tb->pos);
    double t = rs_clamp(rs_dot(axis, d), -b->half_height, b->half_height);
    rs_vec3 core = rs_madd(tb->pos, t, axis), between = rs_sub(ta->pos, core);
    double distance2 = rs_norm2(between), touch = a->radius + b->radius, limit = touch + settings->margin;
    if (distance2 >= limit * limit) return;
    double distance = sqrt(distance2), gap = distance - touch;
    /* on the axis (to rounding) every way across it is as short as any other */
    bool beside = distance > 1e-12 * (touch + b->half_height);
    rs_vec3 normal = beside ? rs_scale(1.0 / distance, between) : rs_m3_col(&tb->rot, 0);
    rs_manifold_add(out, rs_madd(core, b->radius + 0.5 * gap, normal), normal, gap, 0);
}

/* ---- capsule and capsule ---- */

/* Two segments in the world frame: a + s * u with |s| <= ha, b + t * v with |t| <= hb. */
typedef struct {
    rs_vec3 a, u, b, v, d; /* d = a - b */
    double ha, hb;
    double c, du, dv;      /* u . v, d . u, d . v */
} segment_pair;

/* Parameter on B closest to the point s of A. */
static double nearest_on_b(const segment_pair *q, double s) { return rs_clamp(q->dv + s * q->c, -q->hb, q->hb); }

static rs_vec3 between(const segment_pair *q, double s, double t) {
    return rs_sub(rs_madd(q->d, s, q->u), rs_scale(t, q->v));
}

/* The part of A that lies beside B. */
static void overlap_on_a(const segment_pair *q, double *low, double *high) {
    double s1 = -q->hb * q->c - q->du, s2 = q->hb * q->c - q->du;
    *low = rs_clamp(fmin(s1, s2), -q->ha, q->ha);
    *high = rs_clamp(fmax(s1, s2), -q->ha, q->ha);
}

static void closest(const segment_pair *q, double *s, double *t) {
    double sine2 = 1.0 - q->c * q->c;
    if (sine2 > 1e-12) {
        *s = rs_clamp((q->c * q->dv - q->du) / sine2, -q->ha, q->ha);
    } else {
        double low, high;
        overlap_on_a(q, &low, &high);
        *s = 0.5 * (low + high);
    }
    *t = nearest_on_b(q, *s);
    *s = rs_clamp(*t * q->c - q->du, -q->ha, q->ha);
}

/* The axes meet: the way out is across both of them. */
static rs_vec3 normal_across(const segment_pair *q) {
    rs_vec3 t1, t2;
    rs_tangents(q->u, &t1, &t2);
    rs_vec3 cross = rs_cross(q->u, q->v);
    rs_vec3 n = rs_norm2(cross) > 1e-12 ? rs_normalize_or(cross, t1) : t1;
    return rs_dot(n, q->d) < 0.0 ? rs_neg(n) : n;
}

typedef struct {
    rs_vec3 normal;
    double ra, rb, margin;
} capsule_contact;

/* Adds the contact between point s of A and the nearest of B, on the common normal; returns the gap. */
static double add_point(const segment_pair *q, const capsule_contact *c, double s, uint32_t feature, rs_manifold *out) {
    double t = nearest_on_b(q, s);
    rs_vec3 w = between(q, s, t);
    double along = rs_dot(w, c->normal);
    double gap = (along > 0.0 ? rs_norm(w) : along) - c->ra - c->rb;
    if (gap >= c->margin) return gap;
    rs_vec3 on_b = rs_madd(rs_madd(q->b, t, q->v), c->rb + 0.5 * gap, c->normal);
    rs_manifold_add(out, on_b, c->normal, gap, feature);
    return gap;
}

void rs_collide_capsule_capsule(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                                const rs_collide_settings *settings, rs_manifold *out) {
    segment_pair q = {.a = ta->pos, .u = rs_m3_col(&ta->rot, 2), .b = tb->pos, .v = rs_m3_col(&tb->rot, 2),
                      .d = rs_sub(ta->pos, tb->pos), .ha = a->half_height, .hb = b->half_height};
    q.c = rs_dot(q.u, q.v);
    q.du = rs_dot(q.d, q.u);
    q.dv = rs_dot(q.d, q.v);
    double s, t, size = q.ha + q.hb + a->radius + b->radius;
    closest(&q, &s, &t);
    rs_vec3 w = between(&q, s, t);
    double distance = rs_norm(w), gap = distance - a->radius - b->radius;
    if (gap >= settings->margin) return;
    capsule_contact c = {.ra = a->radius, .rb = b->radius, .margin = settings->margin};
    c.normal = distance > 1e-10 * size ? rs_scale(1.0 / distance, w) : normal_across(&q);
    /* side by side: a line of contact, of which the ends are enough when the axes are parallel to rounding */
    double low, high, least = INFINITY;
    overlap_on_a(&q, &low, &high);
    if (1.0 - q.c * q.c < 0.01 && high - low > 1e-3 * size) {
        least = fmin(add_point(&q, &c, low, 1, out), add_point(&q, &c, high, 2, out));
    }
    if (least > gap + 1e-9 * size) add_point(&q, &c, s, 0, out);
}

/* ---- box and capsule ---- */

/* How far p lies beyond the box, per axis. */
static rs_vec3 excess(rs_vec3 p, rs_vec3 h) {
    return rs_v3(p.x - rs_clamp(p.x, -h.x, h.x), p.y - rs_clamp(p.y, -h.y, h.y), p.z - rs_clamp(p.z, -h.z, h.z));
}

/* Half the slope of the squared distance to the box along the line c + t d: it never falls with t. */
static double slope(rs_vec3 c, rs_vec3 d, rs_vec3 h, double t) { return rs_dot(d, excess(rs_madd(c, t, d), h)); }

/* Parameter of the point of the segment closest to the box. The slope is linear between the planes of the box, so
 * the zero is found exactly between the two crossings that enclose it. */
static double closest_to_box(rs_vec3 c, rs_vec3 d, rs_vec3 h, double half_length) {
    double low = -half_length, high = half_length;
    double at_low = slope(c, d, h, low), at_high = slope(c, d, h, high);
    if (at_low >= 0.0) return low;
    if (at_high <= 0.0) return high;
    for (int axis = 0; axis < 3; axis++) {
        double di = rs_v3_get(d, axis);
        if (di == 0.0) continue;
        for (int side = -1; side <= 1; side += 2) {
            double t = (side * rs_v3_get(h, axis) - rs_v3_get(c, axis)) / di;
            if (!(t > low && t < high)) continue;
            double at = slope(c, d, h, t);
            if (at < 0.0) low = t, at_low = at;
            else high = t, at_high = at;
        }
    }
    return low + (high - low) * (at_low / (at_low - at_high));
}

void rs_collide_box_capsule(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                            const rs_collide_settings *settings, rs_manifold *out) {
    rs_core box = rs_core_of_shape(a), segment = rs_core_of_shape(b);
    rs_core_pair pair = rs_core_pair_make(&box, ta, &segment, tb);
    rs_vec3 center = pair.b_in_a.pos, axis = rs_m3_col(&pair.b_in_a.rot, 2);
    double t = closest_to_box(center, axis, a->half, b->half_height);
    rs_vec3 on_segment = rs_madd(center, t, axis), away = excess(on_segment, a->half);
    double distance = rs_norm(away);
    if (distance >= b->radius + settings->margin) return;
    rs_convex_contact contact;
    if (distance > 1e-9 * pair.size) {
        contact.normal = rs_scale(-1.0 / distance, away);
        contact.gap = distance - b->radius;
        contact.on_a = rs_sub(on_segment, away);
        contact.on_b = rs_madd(on_segment, b->radius, contact.normal);
    } else if (!rs_convex_query(&pair, settings, &contact)) { /* the axis itself cuts the box */
        return;
    }
    rs_add_feature_contacts(&pair, &contact, ta, settings, out);
}
