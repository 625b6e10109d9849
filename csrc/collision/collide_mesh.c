/* Meshes against meshes and heightmaps: the vertices of each against the other, and convex edges against each other.
 *
 * A vertex that has entered the other solid leaves through the nearest face that its own corner may push against: the
 * plainly nearest one would push a box that stands flush on another sideways. */
#include "collide_terrain.h"
#include "surface_contacts.h"

/* Sine of the angle by which a direction may miss what a vertex or edge allows, so that faces that are nearly parallel
 * or perpendicular still meet. */
static const double SLACK = 0.02;
/* A shell has no inside: this part of the other mesh's size may pass through it and is still pushed back. */
static const double SHELL_DEPTH = 0.5;
/* A vertex at this distance to a solid, relative to the smaller mesh's size, is on its surface. */
static const double TOUCHING = 1e-9;
/* How much farther than the nearest face the one may be that a vertex leaves a solid through, relative to the smaller
 * mesh's size. */
static const double WAY_OUT = 0.1;

typedef struct {
    const rs_surface *a, *b;
    rs_transform a_in_b, b_in_a;
    const rs_collide_settings *settings;
    double size;     /* of the smaller mesh [m] */
    bool cut;        /* triangles of the two cross */
    rs_surface_contact spare; /* then: the least that parts two of them along a normal, for want of better */
    rs_surface_contacts contacts; /* frame of B */
} mesh_pair;

/* Box of the triangles of a surface, which for a heightmap is not that of the solid. */
static rs_aabb surface_box(const rs_surface *s) {
    if (s->mesh != NULL) return s->mesh->box;
    rs_vec3 half = rs_v3(0.5 * s->grid->x_size, 0.5 * s->grid->y_size, 0.0);
    return (rs_aabb){rs_v3(-half.x, -half.y, s->grid->min_height), rs_v3(half.x, half.y, s->grid->max_height)};
}

static rs_vec3 box_center(rs_aabb box) { return rs_scale(0.5, rs_add(box.min, box.max)); }

static rs_aabb turned_box(rs_aabb box, const rs_transform *pose) {
    rs_shape shape = {.type = RS_SHAPE_BOX, .half = rs_scale(0.5, rs_sub(box.max, box.min))};
    rs_transform at = {pose->rot, rs_transform_point(pose, box_center(box))};
    return rs_shape_aabb(&shape, &at);
}

/* ---- walks ---- */

static rs_aabb child_box(const rs_bvh_node *node, int c) {
    return (rs_aabb){rs_v3((double)node->lo[0][c], (double)node->lo[1][c], (double)node->lo[2][c]),
                     rs_v3((double)node->hi[0][c], (double)node->hi[1][c], (double)node->hi[2][c])};
}

static bool meets_surface(const rs_surface *s, rs_aabb box) {
    rs_surface_query query;
    uint32_t any;
    rs_surface_query_begin(&query, s, box);
    return rs_surface_query_next(&query, &any);
}

typedef void triangle_visitor(void *context, uint32_t id);

/* Down the tree of a mesh: visits the triangles whose boxes come nearer than `margin` to boxes of triangles of another
 * surface. `pose` is that of the mesh in the frame of the other. */
static void visit_near(const rs_tri_mesh *mesh, const rs_surface *other, const rs_transform *pose, double margin,
                       triangle_visitor *visit, void *context) {
    uint32_t stack[RS_BVH_STACK] = {0};
    for (int top = 1; top > 0;) {
        const rs_bvh_node *node = &mesh->bvh.nodes[stack[--top]];
        for (int c = 0; c < RS_BVH_WIDTH; c++) {
            if (node->lo[0][c] > node->hi[0][c]) continue; /* absent */
            rs_aabb box = turned_box(child_box(node, c), pose);
            if (!meets_surface(other, rs_aabb_grown(&box, margin))) continue;
            if (node->count[c] == 0) stack[top++] = node->child[c];
            for (uint32_t i = 0; i < node->count[c]; i++) visit(context, node->child[c] + i);
        }
    }
}

/* ---- vertices of one against the surface of the other ---- */

/* Vertices inside the other solid whose way out is searched. Of fine meshes there may be thousands, and their ways out
 * are much the same: those with the smallest hash are taken, which are the same ones in the next step. */
enum { MAX_INSIDE = 64 };

typedef struct {
    uint32_t id, hash;
    rs_vec3 position; /* frame of `other` */
    double depth;
} inside_vertex;

typedef struct {
    mesh_pair *pair;
    const rs_surface *own, *other; /* whose vertices, against whose surface */
    rs_transform pose;             /* of `own` in `other` */
    rs_vec3 center;                /* of `own`'s box, frame of `other` */
    bool own_is_a;
    int inside_count, largest; /* largest: the one with the largest hash */
    inside_vertex inside[MAX_INSIDE];
} vertex_side;

/* A vertex on its way: what its corner may push against, in the frame of `other`. */
typedef struct {
    vertex_side *side;
    uint32_t id;
    rs_vec3 position;
} moving_vertex;

static bool corner_allows(const void *context, rs_vec3 normal) {
    const moving_vertex *v = context;
    rs_vec3 back = rs_neg(rs_m3_tmulv(&v->side->pose.rot, normal));
    return rs_surface_vertex_allows(v->side->own, v->id, back, SLACK);
}

static void add_vertex_contact(const moving_vertex *v, rs_vec3 normal, double gap) {
    mesh_pair *p = v->side->pair;
    if (gap >= p->settings->margin) return;
    rs_vec3 middle = rs_madd(v->position, -0.5 * gap, normal);
    rs_surface_contact c = {{middle, normal, gap, v->id * 2 + v->side->own_is_a}, gap, RS_NO_TRIANGLE};
    if (!v->side->own_is_a) { /* from the frame of A, and towards A */
        c.point.position = rs_transform_point(&p->a_in_b, middle);
        c.point.normal = rs_neg(rs_m3_mulv(&p->a_in_b.rot, normal));
    }
    rs_surface_contacts_add(&p->contacts, &c);
}

/* The nearest way out of a heightmap that a corner may take. */
typedef struct {
    rs_vec3 normal;
    double gap;
} grid_exit;

/* Through the side that looks along `normal`, `half` away from the middle, when the vertex's mesh lies beyond it: a mesh
 * that has come from above stays above. */
static void try_side(const moving_vertex *v, const rs_height_grid *grid, rs_vec3 normal, double half, grid_exit *best) {
    double gap = rs_dot(normal, v->position) - half;
    rs_vec3 on_side = rs_madd(v->position, -gap, normal);
    bool meets = rs_dot(normal, v->side->center) > half &&
                 fabs(normal.x != 0.0 ? on_side.y : on_side.x) <= 0.5 * (normal.x != 0.0 ? grid->y_size : grid->x_size) &&
                 on_side.z < rs_height_grid_height(grid, on_side.x, on_side.y);
    if (meets && gap > best->gap && corner_allows(v, normal)) *best = (grid_exit){normal, gap};
}

/* Above, or in, the column of the heightmap that the vertex stands in, or beside its border. */
static void vertex_against_grid(const moving_vertex *v, const rs_height_grid *grid) {
    rs_vec3 p = v->position;
    double half_x = 0.5 * grid->x_size, half_y = 0.5 * grid->y_size;
    grid_exit best = {.gap = -INFINITY};
    if (rs_height_grid_covers(grid, p.x, p.y)) {
        rs_vec3 normal = rs_height_grid_normal(grid, p.x, p.y);
        if (corner_allows(v, normal)) best = (grid_exit){normal, (p.z - rs_height_grid_height(grid, p.x, p.y)) * normal.z};
    }
    if (!rs_height_grid_covers(grid, v->side->center.x, v->side->center.y)) {
        try_side(v, grid, rs_v3(1, 0, 0), half_x, &best);
        try_side(v, grid, rs_v3(-1, 0, 0), half_x, &best);
        try_side(v, grid, rs_v3(0, 1, 0), half_y, &best);
        try_side(v, grid, rs_v3(0, -1, 0), half_y, &best);
    }
    if (best.gap > -INFINITY && best.gap < v->side->pair->settings->margin) add_vertex_contact(v, best.normal, best.gap);
}

/* Inside a solid: out through the nearest face the corner may push against, straight up. Beside that face it is the
 * business of edges. */
static void leave_solid(const moving_vertex *v, double depth, const rs_tri_mesh *mesh) {
    rs_mesh_nearest exit;
    double farthest = depth + WAY_OUT * v->side->pair->size;
    if (!rs_tri_mesh_nearest_filtered(mesh, v->position, farthest, corner_allows, v, &exit)) return;
    double height = rs_dot(exit.normal, rs_sub(v->position, exit.point));
    if (fabs(height) >= 0.999 * exit.distance) add_vertex_contact(v, exit.normal, fmin(0.0, height));
}

static uint32_t hash_of(uint32_t id) { return id * 2654435761u; }

/* Where a vertex goes in the list of those inside, or -1 when there are enough. */
static int place_inside(const vertex_side *side, uint32_t id) {
    if (side->inside_count < MAX_INSIDE) return side->inside_count;
    return hash_of(id) < side->inside[side->largest].hash ? side->largest : -1;
}

static void keep_inside_vertex(const moving_vertex *v, double depth) {
    vertex_side *side = v->side;
    int place = place_inside(side, v->id);
    if (place < 0) return;
    side->inside[place] = (inside_vertex){v->id, hash_of(v->id), v->position, depth};
    side->inside_count += place == side->inside_count;
    for (int i = 0; i < side->inside_count; i++)
        if (side->inside[i].hash > side->inside[side->largest].hash) side->largest = i;
}

static void leave_solids(vertex_side *side) {
    for (int i = 0; i < side->inside_count; i++) {
        moving_vertex v = {side, side->inside[i].id, side->inside[i].position};
        leave_solid(&v, side->inside[i].depth, side->other->mesh);
    }
}

/* Behind a shell, seen from the middle of the vertex's own mesh: back to the side it came from. */
static bool vertex_behind_shell(const moving_vertex *v, const rs_mesh_nearest *nearest) {
    rs_vec3 normal = nearest->normal;
    if (rs_dot(normal, rs_sub(v->side->center, nearest->point)) < 0.0) normal = rs_neg(normal);
    double height = rs_dot(normal, rs_sub(v->position, nearest->point));
    if (height > 0.0) return false;
    if (corner_allows(v, normal)) add_vertex_contact(v, normal, height);
    return true;
}

/* Vertices nearer than this to a surface touch it. */
static double touching_distance(const mesh_pair *p) { return fmax(p->settings->margin, TOUCHING * p->size); }

static void vertex_against_mesh(const moving_vertex *v, const rs_tri_mesh *mesh) {
    const mesh_pair *p = v->side->pair;
    /* where nothing is cut, no vertex can be inside; and inside, the surface is at most half the mesh's width away */
    double behind = !p->cut ? 0.0 : !mesh->solid ? SHELL_DEPTH * p->size
                    : place_inside(v->side, v->id) < 0 ? 0.0 : rs_tri_mesh_size(mesh);
    rs_mesh_nearest nearest;
    if (!rs_tri_mesh_nearest(mesh, v->position, fmax(touching_distance(p), behind), &nearest)) return;
    if (mesh->solid ? nearest.inside || nearest.distance <= TOUCHING * p->size : vertex_behind_shell(v, &nearest)) {
        if (mesh->solid) keep_inside_vertex(v, nearest.distance);
        return;
    }
    rs_vec3 direction = rs_scale(1.0 / nearest.distance, rs_sub(v->position, nearest.point));
    if (nearest.distance < p->settings->margin && corner_allows(v, direction))
        add_vertex_contact(v, direction, nearest.distance);
}

static void try_vertex(vertex_side *side, uint32_t id, rs_vec3 local) {
    moving_vertex v = {side, id, rs_transform_point(&side->pose, local)};
    if (side->other->grid != NULL)
        vertex_against_grid(&v, side->other->grid);
    else
        vertex_against_mesh(&v, side->other->mesh);
}

/* True for one triangle at each vertex (two at a few on the rim of a heightmap): the owner in a mesh; in a heightmap
 * the even triangle of the cell behind the vertex, and at the last column and row what there is. */
static bool stands_for_vertex(const rs_surface *s, const rs_surface_triangle *t, int k) {
    if (s->mesh != NULL) return s->mesh->owner[t->vertex_id[k]] == t->id;
    if (t->id >= rs_height_grid_face_count(s->grid)) return false;
    bool even = t->id % 2 == 0;
    return (even && k == 0) || (t->rim[1] && k == 1) || (!even && t->rim[1] && k == 2);
}

typedef struct {
    vertex_side *side;
    rs_aabb box; /* frame of `own`: vertices outside are left out */
} vertex_visit;

/* The vertices that a triangle of `own` stands for. */
static void visit_vertices(void *context, uint32_t id) {
    const vertex_visit *visit = context;
    const rs_surface *own = visit->side->own;
    rs_surface_triangle t;
    rs_surface_get(own, id, rs_v3_zero(), &t);
    if (own->grid != NULL) rs_surface_find_neighbors(own, &t); /* for its rim */
    for (int k = 0; k < 3; k++)
        if (rs_aabb_contains(&visit->box, t.v[k]) && stands_for_vertex(own, &t, k))
            try_vertex(visit->side, t.vertex_id[k], t.v[k]);
}

/* All vertices of `own` within a box of its own frame that may touch the other: where two meshes do not cut each other,
 * only those near its surface. */
static void try_vertices(vertex_side *side, rs_aabb box) {
    const mesh_pair *p = side->pair;
    vertex_visit visit = {side, box};
    if (!p->cut && side->own->mesh != NULL && side->other->mesh != NULL) {
        visit_near(side->own->mesh, side->other, &side->pose, touching_distance(p), visit_vertices, &visit);
    } else {
        rs_surface_query query;
        rs_surface_query_begin(&query, side->own, box);
        for (uint32_t id; rs_surface_query_next(&query, &id);) visit_vertices(&visit, id);
    }
    leave_solids(side);
}

/* ---- edges against edges ---- */

static bool edge_allows(const rs_surface_triangle *t, int k, rs_vec3 d) {
    rs_surface_edge edge = rs_surface_edge_of(t, k);
    double angle = atan2(rs_dot(d, edge.outward), rs_dot(d, t->normal));
    return angle >= -SLACK && angle <= edge.max_angle + SLACK;
}

/* Triangles that do not cross are apart: of them only gaps above `lowest` count. */
static void collide_edges(mesh_pair *p, const rs_surface_triangle *ta, int i, const rs_surface_triangle *tb, int j,
                          double lowest) {
    rs_vec3 ea = rs_sub(ta->v[rs_next3(i)], ta->v[i]), eb = rs_sub(tb->v[rs_next3(j)], tb->v[j]);
    rs_vec3 r = rs_sub(ta->v[i], tb->v[j]), normal = rs_cross(ea, eb);
    double aa = rs_norm2(ea), bb = rs_norm2(eb), ab = rs_dot(ea, eb), ar = rs_dot(ea, r), br = rs_dot(eb, r);
    double det = rs_norm2(normal);
    if (det < SLACK * SLACK * aa * bb) return; /* parallel: the vertices tell more */
    /* nearest points of the two lines; beyond the ends it is the business of the vertices */
    double s = (ab * br - bb * ar) / det, u = (aa * br - ab * ar) / det;
    if (s < 0.0 || s > 1.0 || u < 0.0 || u > 1.0) return;
    normal = rs_scale(1.0 / sqrt(det), normal);
    if (!edge_allows(tb, j, normal)) normal = rs_neg(normal);
    if (!edge_allows(tb, j, normal) || !edge_allows(ta, i, rs_neg(normal))) return;
    rs_vec3 on_a = rs_madd(ta->v[i], s, ea), on_b = rs_madd(tb->v[j], u, eb);
    double gap = rs_dot(normal, rs_sub(on_a, on_b));
    if (gap >= p->settings->margin || gap < lowest) return;
    uint32_t feature = (ta->id * 3 + (uint32_t)i) * 2654435761u ^ (tb->id * 3 + (uint32_t)j) * 40503u;
    rs_surface_contact c = {{rs_lerp(on_a, on_b, 0.5), normal, gap, feature}, gap, RS_NO_TRIANGLE};
    rs_surface_contacts_add(&p->contacts, &c);
}

/* Heights of a triangle's corners over the plane of another. */
typedef struct {
    double of[3];
} corner_heights;

static corner_heights heights_over(const rs_surface_triangle *plane, const rs_surface_triangle *t) {
    corner_heights h;
    for (int k = 0; k < 3; k++) h.of[k] = rs_dot(plane->normal, rs_sub(t->v[k], plane->v[0]));
    return h;
}

/* All corners on one side of the plane, and not near it. */
static bool beside_plane(const corner_heights *h, double margin) {
    return (h->of[0] > margin && h->of[1] > margin && h->of[2] > margin) ||
           (h->of[0] < -margin && h->of[1] < -margin && h->of[2] < -margin);
}

typedef struct {
    double lo, hi;
} interval;

static interval widened(interval i, double x) { return (interval){rs_min(i.lo, x), rs_max(i.hi, x)}; }

/* The part of a triangle that lies within `margin` of another's plane, seen along the line in which the planes meet;
 * `h` are its heights over the other's plane. */
static interval part_near_plane(rs_vec3 line, const rs_surface_triangle *t, const corner_heights *h, double margin) {
    double at[3] = {rs_dot(line, t->v[0]), rs_dot(line, t->v[1]), rs_dot(line, t->v[2])};
    interval part = {INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        double from = h->of[k], to = h->of[rs_next3(k)], step = at[rs_next3(k)] - at[k];
        if (fabs(from) <= margin) part = widened(part, at[k]);
        if ((from < margin) != (to < margin)) part = widened(part, at[k] + (from - margin) / (from - to) * step);
        if ((from < -margin) != (to < -margin)) part = widened(part, at[k] + (from + margin) / (from - to) * step);
    }
    return part;
}

/* Whether the parts of two triangles that are near the other's plane are near each other too, along the line in which
 * the planes meet. For a margin of 0: whether they cross. */
static bool meet_on_line(const rs_surface_triangle *ta, const corner_heights *a_over_b, const rs_surface_triangle *tb,
                         const corner_heights *b_over_a, double margin) {
    rs_vec3 line = rs_cross(ta->normal, tb->normal);
    interval a = part_near_plane(line, ta, a_over_b, margin), b = part_near_plane(line, tb, b_over_a, margin);
    return rs_max(a.lo, b.lo) - rs_min(a.hi, b.hi) < margin * rs_norm(line);
}

/* What it takes to move `other`, at these heights, before the face; `sign` is +1 when the face belongs to B. */
static void keep_spare(mesh_pair *p, const rs_surface_triangle *face, const rs_surface_triangle *other,
                       const corner_heights *h, double sign) {
    int lowest = 0;
    for (int k = 1; k < 3; k++)
        if (h->of[k] < h->of[lowest]) lowest = k;
    double gap = h->of[lowest];
    if (gap <= p->spare.separation) return;
    rs_vec3 middle = rs_madd(other->v[lowest], -0.5 * gap, face->normal);
    p->spare = (rs_surface_contact){{middle, rs_scale(sign, face->normal), gap, 0}, gap, RS_NO_TRIANGLE};
}

/* A triangle of A in the frame of B, and which of its edges may push. */
typedef struct {
    rs_surface_triangle t;
    bool active[3];
} moved_triangle;

static void collide_triangles(mesh_pair *p, const moved_triangle *a, rs_surface_triangle *tb) {
    const rs_surface_triangle *ta = &a->t;
    double margin = fmax(p->settings->margin, 0.0);
    corner_heights a_over_b = heights_over(tb, ta);
    if (beside_plane(&a_over_b, margin)) return;
    corner_heights b_over_a = heights_over(ta, tb);
    if (beside_plane(&b_over_a, margin)) return;
    if (!meet_on_line(ta, &a_over_b, tb, &b_over_a, margin)) return;
    bool cross = meet_on_line(ta, &a_over_b, tb, &b_over_a, 0.0);
    if (cross) {
        p->cut = true;
        keep_spare(p, tb, ta, &a_over_b, 1.0);
        keep_spare(p, ta, tb, &b_over_a, -1.0);
    }
    rs_surface_find_neighbors(p->b, tb);
    double lowest = cross ? -INFINITY : -margin;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3 && rs_surface_edge_is_active(tb, j); i++)
            if (a->active[i]) collide_edges(p, ta, i, tb, j, lowest);
}

/* Box of a triangle of A, and the triangle itself, moved to the frame of B. */
static rs_aabb move_triangle(rs_surface_triangle *t, const rs_transform *pose) {
    for (int k = 0; k < 3; k++) {
        t->v[k] = rs_transform_point(pose, t->v[k]);
        if (!t->rim[k]) t->apex[k] = rs_transform_point(pose, t->apex[k]);
    }
    t->normal = rs_m3_mulv(&pose->rot, t->normal);
    return rs_aabb_of_triangle(t->v[0], t->v[1], t->v[2]);
}

typedef struct {
    mesh_pair *pair;
    double margin;
    rs_vec3 viewer_of_a, center_a; /* B's centre in A's frame, and A's in B's */
} triangle_visit;

/* A triangle of A against those of B near it. */
static void visit_triangle_of_a(void *context, uint32_t id_a) {
    const triangle_visit *visit = context;
    mesh_pair *p = visit->pair;
    double margin = visit->margin;
    moved_triangle a;
    rs_surface_get(p->a, id_a, visit->viewer_of_a, &a.t);
    rs_surface_find_neighbors(p->a, &a.t);
    rs_aabb box = move_triangle(&a.t, &p->a_in_b);
    for (int k = 0; k < 3; k++) a.active[k] = rs_surface_edge_is_active(&a.t, k);
    rs_surface_query of_b;
    rs_surface_query_begin(&of_b, p->b, rs_aabb_grown(&box, margin));
    rs_surface_query_near_plane(&of_b, a.t.normal, a.t.v[0], margin);
    for (uint32_t id_b; rs_surface_query_next(&of_b, &id_b);) {
        rs_surface_triangle tb;
        rs_surface_get(p->b, id_b, visit->center_a, &tb);
        collide_triangles(p, &a, &tb);
    }
}

static void collide_all_triangles(mesh_pair *p, double margin, rs_vec3 center_a, rs_vec3 center_b) {
    triangle_visit visit = {p, margin, rs_transform_point(&p->b_in_a, center_b), center_a};
    visit_near(p->a->mesh, p->b, &p->a_in_b, margin, visit_triangle_of_a, &visit);
}

/* ---- the pair ---- */

/* Pushes one out of the other when a given point of it lies inside. */
static bool push_out(const rs_shape *a, const rs_transform *ta, rs_vec3 point_of_a, const rs_shape *b,
                     const rs_transform *tb, rs_vec3 point_of_b, const mesh_pair *p, rs_manifold *out) {
    if (rs_collide_when_inside(a, ta, rs_transform_point(&p->a_in_b, point_of_a), p->b, tb, p->settings, out))
        return true;
    if (!rs_collide_when_inside(b, tb, rs_transform_point(&p->b_in_a, point_of_b), p->a, ta, p->settings, out))
        return false;
    for (int i = 0; i < out->count; i++) out->points[i].normal = rs_neg(out->points[i].normal);
    return true;
}

static rs_vec3 any_vertex(const rs_surface *s) {
    return s->mesh != NULL ? s->mesh->vertices[s->mesh->triangles[0][0]] : rs_height_grid_vertex(s->grid, 0, 0);
}

/* The part of a surface, in its own frame, whose vertices may meet the other: they may be deep in a heightmap, and have
 * passed through a shell. */
static rs_aabb meeting_box(const mesh_pair *p, const rs_surface *other, const rs_transform *other_in_own) {
    rs_aabb box = surface_box(other);
    double margin = fmax(p->settings->margin, 0.0);
    if (other->grid != NULL) box.min.z -= other->grid->x_size + other->grid->y_size;
    if (!rs_surface_is_solid(other)) margin = fmax(margin, SHELL_DEPTH * p->size);
    box = turned_box(box, other_in_own);
    return rs_aabb_grown(&box, margin);
}

void rs_collide_mesh_surface(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                             const rs_collide_settings *settings, rs_manifold *out) {
    rs_surface surface_a = rs_surface_of(a), surface_b = rs_surface_of(b);
    double margin = fmax(settings->margin, 0.0);
    mesh_pair p;
    p.a = &surface_a;
    p.b = &surface_b;
    p.a_in_b = rs_transform_relative(tb, ta);
    p.b_in_a = rs_transform_relative(ta, tb);
    p.settings = settings;
    p.size = rs_tri_mesh_size(a->mesh);
    if (b->type == RS_SHAPE_MESH) p.size = fmin(p.size, rs_tri_mesh_size(b->mesh));
    p.cut = false;
    p.spare.separation = -INFINITY;
    rs_surface_contacts_make(&p.contacts, p.size);
    rs_vec3 center_a = rs_transform_point(&p.a_in_b, box_center(a->mesh->box)), center_b = box_center(surface_box(p.b));
    collide_all_triangles(&p, margin, center_a, center_b);
    /* without a cut, one may still lie wholly inside the other: any vertex tells */
    if (!p.cut && push_out(a, ta, any_vertex(p.a), b, tb, any_vertex(p.b), &p, out)) return;
    vertex_side of_a = {.pair = &p, .own = p.a, .other = p.b, .pose = p.a_in_b, .center = center_a, .own_is_a = true};
    vertex_side of_b = {.pair = &p, .own = p.b, .other = p.a, .pose = p.b_in_a,
                        .center = rs_transform_point(&p.b_in_a, center_b)};
    try_vertices(&of_a, meeting_box(&p, p.b, &p.b_in_a));
    try_vertices(&of_b, meeting_box(&p, p.a, &p.a_in_b));
    rs_surface_contacts_drop_explained(&p.contacts, p.b);
    if (p.cut && !rs_surface_contacts_overlap(&p.contacts)) { /* so deep that no feature has a way out of its own */
        if (push_out(a, ta, box_center(a->mesh->box), b, tb, center_b, &p, out)) return;
        rs_surface_contacts_add(&p.contacts, &p.spare);
    }
    rs_surface_contacts_finish(&p.contacts, tb, settings->max_points, out);
}
