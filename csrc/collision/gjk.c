/* The sub-problem (closest point of a simplex) is solved with signed volumes (Montanari, Petrinic, Barbieri 2017):
 * ratios of determinants of like sign stay accurate where the classical recursion loses its digits. */
#include "gjk.h"

/* Cores closer than this, relative to their size, count as touching: the direction between them is mere rounding. */
static const double TOUCHING = 1e-10;

static bool same_sign(double a, double b) { return (a > 0.0 && b > 0.0) || (a < 0.0 && b < 0.0); }

static rs_vec3 weighted(const rs_simplex *s) {
    rs_vec3 v = rs_v3_zero();
    for (int i = 0; i < s->count; i++) v = rs_madd(v, s->weights[i], s->points[i].w);
    return v;
}

static rs_simplex solve_point(rs_difference_point p) { return (rs_simplex){.count = 1, .points = {p}, .weights = {1.0}}; }

static rs_simplex solve_segment(rs_difference_point p, rs_difference_point q) {
    rs_vec3 edge = rs_sub(q.w, p.w);
    double length2 = rs_norm2(edge), t = -rs_dot(p.w, edge);
    if (t <= 0.0 || length2 == 0.0) return solve_point(p);
    if (t >= length2) return solve_point(q);
    t /= length2;
    return (rs_simplex){.count = 2, .points = {p, q}, .weights = {1.0 - t, t}};
}

static void keep_nearer(rs_simplex *best, double *best2, rs_simplex candidate) {
    double d2 = rs_norm2(weighted(&candidate));
    if (d2 < *best2) {
        *best2 = d2;
        *best = candidate;
    }
}

/* Drops the coordinate along which the triangle looks smallest and compares signed areas in the plane that is left. */
static rs_simplex solve_triangle(rs_difference_point p0, rs_difference_point p1, rs_difference_point p2) {
    const rs_difference_point p[3] = {p0, p1, p2};
    rs_vec3 n = rs_cross(rs_sub(p1.w, p0.w), rs_sub(p2.w, p0.w));
    double n2 = rs_norm2(n);
    rs_simplex best = solve_point(p0);
    double best2 = INFINITY;
    if (n2 > 0.0) {
        rs_vec3 foot = rs_scale(rs_dot(p0.w, n) / n2, n), size = rs_v3_abs(n);
        int drop = size.x > size.y ? (size.x > size.z ? 0 : 2) : (size.y > size.z ? 1 : 2);
        int u = (drop + 1) % 3, v = (drop + 2) % 3;
        double area = rs_v3_get(n, drop), part[3], fu = rs_v3_get(foot, u), fv = rs_v3_get(foot, v);
        for (int i = 0; i < 3; i++) {
            rs_vec3 b = p[(i + 1) % 3].w, c = p[(i + 2) % 3].w;
            part[i] = (rs_v3_get(b, u) - fu) * (rs_v3_get(c, v) - fv) - (rs_v3_get(b, v) - fv) * (rs_v3_get(c, u) - fu);
        }
        if (same_sign(area, part[0]) && same_sign(area, part[1]) && same_sign(area, part[2]))
            return (rs_simplex){.count = 3, .points = {p0, p1, p2},
                                .weights = {part[0] / area, part[1] / area, part[2] / area}};
    }
    for (int i = 0; i < 3; i++) keep_nearer(&best, &best2, solve_segment(p[i], p[(i + 1) % 3]));
    return best;
}

static double volume6(rs_vec3 a, rs_vec3 b, rs_vec3 c) { return rs_dot(a, rs_cross(b, c)); }

static rs_simplex solve_tetrahedron(const rs_difference_point p[4]) {
    double part[4] = {volume6(p[1].w, p[3].w, p[2].w), volume6(p[0].w, p[2].w, p[3].w),
                      volume6(p[0].w, p[3].w, p[1].w), volume6(p[0].w, p[1].w, p[2].w)};
    double whole = part[0] + part[1] + part[2] + part[3];
    rs_simplex best = solve_point(p[3]);
    double best2 = INFINITY;
    bool inside = true;
    for (int i = 0; i < 4; i++) {
        if (same_sign(part[i], whole)) continue;
        inside = false;
        int k[3] = {i == 0 ? 1 : 0, i <= 1 ? 2 : 1, i <= 2 ? 3 : 2};
        keep_nearer(&best, &best2, solve_triangle(p[k[0]], p[k[1]], p[k[2]]));
    }
    if (!inside) return best;
    best.count = 4;
    for (int i = 0; i < 4; i++) {
        best.points[i] = p[i];
        best.weights[i] = part[i] / whole;
    }
    return best;
}

static rs_simplex solve(const rs_simplex *s) {
    switch (s->count) {
    case 1: return solve_point(s->points[0]);
    case 2: return solve_segment(s->points[0], s->points[1]);
    case 3: return solve_triangle(s->points[0], s->points[1], s->points[2]);
    default: return solve_tetrahedron(s->points);
    }
}

void rs_simplex_witness(const rs_simplex *simplex, rs_vec3 *on_a, rs_vec3 *on_b) {
    rs_vec3 a = rs_v3_zero(), w = rs_v3_zero();
    for (int i = 0; i < simplex->count; i++) {
        a = rs_madd(a, simplex->weights[i], simplex->points[i].on_a);
        w = rs_madd(w, simplex->weights[i], simplex->points[i].w);
    }
    *on_a = a;
    *on_b = rs_sub(a, w);
}

static bool is_corner(const rs_simplex *s, rs_vec3 w) {
    for (int i = 0; i < s->count; i++)
        if (s->points[i].w.x == w.x && s->points[i].w.y == w.y && s->points[i].w.z == w.z) return true;
    return false;
}

static void remember(const rs_core_pair *pair, rs_vec3 normal) {
    if (pair->hint == NULL) return;
    pair->hint->known = true;
    pair->hint->normal = normal;
}

rs_gjk_outcome rs_gjk(const rs_core_pair *pair, double limit, const rs_collide_settings *settings, rs_gjk_result *out) {
    rs_simplex *s = &out->simplex;
    bool known = pair->hint != NULL && pair->hint->known;
    rs_vec3 start = known ? pair->hint->normal
                          : rs_sub(pair->a->center, rs_transform_point(&pair->b_in_a, pair->b->center));
    *s = solve_point(rs_pair_support(pair, rs_neg(start)));
    rs_vec3 v = s->points[0].w;
    if (known && limit >= 0.0 && rs_dot(start, v) >= limit) return RS_GJK_FAR; /* still apart along the same direction */
    double touching = TOUCHING * pair->size, v2 = rs_norm2(v);
    /* v . w / |v| never exceeds the distance: the best such bound is the answer, exact for the direction it came from */
    for (int i = 0; i < settings->gjk_max_iterations && v2 > touching * touching; i++) {
        rs_difference_point p = rs_pair_support(pair, rs_neg(v));
        double vw = rs_dot(v, p.w), slack = v2 - vw;
        if (vw > 0.0 && vw * vw >= limit * limit * v2 && limit >= 0.0) {
            remember(pair, rs_scale(1.0 / sqrt(v2), v));
            return RS_GJK_FAR;
        }
        if (slack <= settings->gjk_tolerance * settings->gjk_tolerance * v2 || is_corner(s, p.w)) break;
        rs_simplex grown = *s;
        grown.points[grown.count++] = p;
        grown = solve(&grown);
        rs_vec3 next = weighted(&grown);
        double next2 = rs_norm2(next);
        if (grown.count < 4 && next2 >= v2) break; /* rounding: no progress any more */
        *s = grown;
        if (grown.count == 4) return RS_GJK_OVERLAP;
        v = next;
        v2 = next2;
    }
    if (v2 <= touching * touching) return RS_GJK_OVERLAP;
    out->normal = rs_scale(1.0 / sqrt(v2), v);
    out->distance = rs_pair_separation(pair, out->normal);
    rs_simplex_witness(s, &out->on_a, &out->on_b);
    remember(pair, out->normal);
    if (out->distance >= limit && limit >= 0.0) return RS_GJK_FAR;
    return out->distance > touching ? RS_GJK_APART : RS_GJK_OVERLAP;
}
