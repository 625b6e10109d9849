#include "mpr.h"

/* The portal: a triangle of support points that the ray from the inner point through the origin passes. */
typedef struct {
    rs_vec3 inner; /* inside A - B */
    rs_vec3 corner[3];
} portal;

static rs_vec3 support(const rs_core_pair *pair, rs_vec3 d) { return rs_pair_support(pair, d).w; }

static rs_vec3 portal_normal(const portal *p) {
    return rs_cross(rs_sub(p->corner[1], p->corner[0]), rs_sub(p->corner[2], p->corner[0]));
}

static void swap_corners(portal *p, int i, int j) {
    rs_vec3 c = p->corner[i];
    p->corner[i] = p->corner[j];
    p->corner[j] = c;
}

/* Moves corners until the ray from the inner point through the origin passes between them. */
static bool find_portal(const rs_core_pair *pair, int max_iterations, portal *p) {
    p->corner[0] = support(pair, rs_neg(p->inner));
    rs_vec3 n = rs_cross(p->inner, p->corner[0]);
    if (rs_norm2(n) == 0.0) { /* the ray runs through the first corner: any direction across will do */
        rs_vec3 t2;
        rs_tangents(rs_normalize_or(p->inner, rs_v3(0, 0, 1)), &n, &t2);
    }
    p->corner[1] = support(pair, n);
    n = rs_cross(rs_sub(p->corner[0], p->inner), rs_sub(p->corner[1], p->inner));
    if (rs_dot(n, p->inner) > 0.0) { /* keep the origin on the positive side */
        swap_corners(p, 0, 1);
        n = rs_neg(n);
    }
    for (int i = 0; i < max_iterations; i++) {
        p->corner[2] = support(pair, n);
        rs_vec3 side = rs_cross(rs_sub(p->corner[0], p->inner), rs_sub(p->corner[2], p->inner));
        if (rs_dot(side, p->inner) < 0.0) { /* the origin lies beyond corners 0 and 2 */
            p->corner[1] = p->corner[2];
        } else {
            side = rs_cross(rs_sub(p->corner[2], p->inner), rs_sub(p->corner[1], p->inner));
            if (rs_dot(side, p->inner) >= 0.0) return true;
            p->corner[0] = p->corner[2];
        }
        n = rs_cross(rs_sub(p->corner[0], p->inner), rs_sub(p->corner[1], p->inner));
    }
    return false;
}

/* Replaces the corner that leaves the ray inside the portal formed with the new point. */
static void step_portal(portal *p, rs_vec3 fresh) {
    rs_vec3 across = rs_cross(fresh, p->inner);
    if (rs_dot(p->corner[0], across) > 0.0) {
        p->corner[rs_dot(p->corner[1], across) > 0.0 ? 0 : 2] = fresh;
    } else {
        p->corner[rs_dot(p->corner[2], across) > 0.0 ? 1 : 0] = fresh;
    }
}

bool rs_mpr(const rs_core_pair *pair, const rs_collide_settings *settings, rs_vec3 *normal) {
    portal p;
    p.inner = rs_sub(pair->a->center, rs_transform_point(&pair->b_in_a, pair->b->center));
    /* concentric: start a little beside the origin, or the ray has no direction */
    if (rs_norm(p.inner) < 1e-6 * pair->size) p.inner = rs_v3(1e-6 * pair->size, 0.0, 0.0);
    if (!find_portal(pair, settings->gjk_max_iterations, &p)) return false;
    rs_vec3 n = portal_normal(&p);
    if (rs_dot(n, rs_sub(p.corner[0], p.inner)) < 0.0) {
        swap_corners(&p, 0, 1);
        n = rs_neg(n);
    }
    double tolerance = settings->epa_tolerance * settings->epa_tolerance * pair->size;
    for (int i = 0; i < settings->epa_max_iterations; i++) {
        double length = rs_norm(n);
        if (length == 0.0) return false;
        n = rs_scale(1.0 / length, n);
        rs_vec3 fresh = support(pair, n);
        if (rs_dot(n, rs_sub(fresh, p.corner[0])) <= tolerance) break;
        step_portal(&p, fresh);
        n = portal_normal(&p);
    }
    *normal = rs_neg(rs_normalize_or(n, rs_v3(0, 0, 1)));
    return true;
}
