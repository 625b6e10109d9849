/* Nearest point of a triangle and of a mesh, with the side of the surface. */
#include "tri_mesh.h"

/* Voronoi regions of the triangle, vertices first, then edges (Ericson, Real-Time Collision Detection, 5.1.5). */
rs_vec3 rs_triangle_nearest(const rs_vec3 v[3], rs_vec3 p, rs_triangle_part *part, int *index) {
    rs_vec3 ab = rs_sub(v[1], v[0]), ac = rs_sub(v[2], v[0]);
    rs_vec3 ap = rs_sub(p, v[0]), bp = rs_sub(p, v[1]), cp = rs_sub(p, v[2]);
    double d1 = rs_dot(ab, ap), d2 = rs_dot(ac, ap);
    double d3 = rs_dot(ab, bp), d4 = rs_dot(ac, bp);
    double d5 = rs_dot(ab, cp), d6 = rs_dot(ac, cp);
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    *part = RS_ON_VERTEX;
    *index = 0;
    if (d1 <= 0.0 && d2 <= 0.0) return v[0];
    *index = 1;
    if (d3 >= 0.0 && d4 <= d3) return v[1];
    *index = 2;
    if (d6 >= 0.0 && d5 <= d6) return v[2];
    *part = RS_ON_EDGE;
    *index = 0;
    if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) return rs_madd(v[0], d1 / (d1 - d3), ab);
    *index = 2;
    if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) return rs_madd(v[0], d2 / (d2 - d6), ac);
    *index = 1;
    if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0)
        return rs_madd(v[1], (d4 - d3) / ((d4 - d3) + (d5 - d6)), rs_sub(v[2], v[1]));
    *part = RS_ON_FACE;
    *index = 0;
    double scale = 1.0 / (va + vb + vc);
    return rs_madd(rs_madd(v[0], vb * scale, ab), vc * scale, ac);
}

typedef struct {
    rs_triangle_part part;
    int index;
    double distance2;
} candidate;

static void try_triangle(const rs_tri_mesh *mesh, uint32_t t, rs_vec3 p, candidate *best, rs_mesh_nearest *out) {
    rs_vec3 v[3];
    for (int k = 0; k < 3; k++) v[k] = mesh->vertices[mesh->triangles[t][k]];
    candidate c;
    rs_vec3 q = rs_triangle_nearest(v, p, &c.part, &c.index);
    c.distance2 = rs_norm2(rs_sub(p, q));
    if (c.distance2 < best->distance2) {
        *best = c;
        out->point = q;
        out->triangle = t;
    }
}

/* How far x lies outside [lo, hi]. */
static double outside(double x, double lo, double hi) { return x < lo ? lo - x : x > hi ? x - hi : 0.0; }

/* Squared distance of p to a child's box; infinite when there is no child. */
static double box_distance2(const rs_bvh_node *node, int i, rs_vec3 p) {
    double dx = outside(p.x, (double)node->lo[0][i], (double)node->hi[0][i]);
    double dy = outside(p.y, (double)node->lo[1][i], (double)node->hi[1][i]);
    double dz = outside(p.z, (double)node->lo[2][i], (double)node->hi[2][i]);
    return dx * dx + dy * dy + dz * dz;
}

typedef struct {
    double distance2;
    uint32_t child, count;
} visit;

/* Pushes the children that may hold something nearer, farthest first, so that the nearest is looked at next. */
static int push_children(const rs_bvh_node *node, rs_vec3 p, double limit2, visit *stack, int top) {
    int begin = top;
    for (int i = 0; i < RS_BVH_WIDTH; i++) {
        visit entry = {box_distance2(node, i, p), node->child[i], node->count[i]};
        if (!(entry.distance2 < limit2)) continue;
        int slot = top++;
        for (; slot > begin && stack[slot - 1].distance2 < entry.distance2; slot--) stack[slot] = stack[slot - 1];
        stack[slot] = entry;
    }
    return top;
}

/* Outward direction at the nearest feature: only this sum of normals gives the right side on edges and vertices
 * (Baerentzen and Aanaes, "Signed distance computation using the angle weighted pseudonormal", 2005). */
static rs_vec3 pseudo_normal(const rs_tri_mesh *mesh, uint32_t t, const candidate *c) {
    if (c->part == RS_ON_VERTEX) return mesh->vertex_normals[mesh->triangles[t][c->index]];
    int32_t neighbor = mesh->neighbors[t][c->index];
    if (c->part == RS_ON_EDGE && neighbor >= 0) return rs_add(mesh->normals[t], mesh->normals[neighbor]);
    return mesh->normals[t];
}

static bool accept_all(const void *context, rs_vec3 normal) {
    (void)context;
    (void)normal;
    return true;
}

bool rs_tri_mesh_nearest(const rs_tri_mesh *mesh, rs_vec3 point, double max_distance, rs_mesh_nearest *out) {
    return rs_tri_mesh_nearest_filtered(mesh, point, max_distance, accept_all, NULL, out);
}

bool rs_tri_mesh_nearest_filtered(const rs_tri_mesh *mesh, rs_vec3 point, double max_distance, rs_normal_filter *accept,
                                  const void *context, rs_mesh_nearest *out) {
    candidate best = {RS_ON_FACE, 0, max_distance * max_distance};
    visit stack[RS_BVH_STACK];
    stack[0] = (visit){0.0, 0, 0};
    bool found = false;
    for (int top = 1; top > 0;) {
        visit at = stack[--top];
        if (!(at.distance2 < best.distance2)) continue;
        if (at.count == 0) {
            top = push_children(&mesh->bvh.nodes[at.child], point, best.distance2, stack, top);
            continue;
        }
        double before = best.distance2;
        for (uint32_t t = at.child; t < at.child + at.count; t++)
            if (accept(context, mesh->normals[t])) try_triangle(mesh, t, point, &best, out);
        found = found || best.distance2 < before;
    }
    if (!found) return false;
    out->distance = sqrt(best.distance2);
    out->normal = mesh->normals[out->triangle];
    out->inside = rs_dot(rs_sub(point, out->point), pseudo_normal(mesh, out->triangle, &best)) < 0.0;
    return true;
}
