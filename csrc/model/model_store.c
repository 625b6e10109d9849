#include "model_store.h"

#include <string.h>

/* ---- robots ---- */

#define R(field) RS_FIELD(rs_link, RS_KIND_REAL, field)
#define W(field) RS_FIELD(rs_link, RS_KIND_WHOLE, field)
#define X(field) RS_FIELD(rs_link, RS_KIND_LEFT_OUT, field)
static const rs_field LINK_FIELDS[] = {
    W(type), W(parent), X(q_first), X(numbers), X(has_quaternion), X(u_first), X(u_count), R(joint_pos), R(joint_rot), R(axis), R(mass), R(com), R(inertia),
    R(lifted_mass), R(lifted_com), X(joint_rot_identity), X(turn_fixed), X(turn_cos), X(turn_sin), X(axis_in_parent), X(mass_com),
    X(inertia_origin), X(least_moment), X(depth)};
#undef R
#undef W
#undef X
static const rs_field PIN_FIELDS[] = {RS_FIELD(rs_pin, RS_KIND_WHOLE, link), RS_FIELD(rs_pin, RS_KIND_REAL, point)};
static const rs_field COUPLING_FIELDS[] = {
    RS_FIELD(rs_coupling, RS_KIND_WHOLE, follower), RS_FIELD(rs_coupling, RS_KIND_WHOLE, leader),
    RS_FIELD(rs_coupling, RS_KIND_REAL, multiplier), RS_FIELD(rs_coupling, RS_KIND_REAL, offset)};
#define R(field) RS_FIELD(rs_tendon, RS_KIND_REAL, field)
#define B(field) RS_FIELD(rs_tendon, RS_KIND_BOUND, field)
#define W(field) RS_FIELD(rs_tendon, RS_KIND_WHOLE, field)
#define X(field) RS_FIELD(rs_tendon, RS_KIND_LEFT_OUT, field)
static const rs_field TENDON_FIELDS[] = {
    W(kind), X(term_first), W(term_count), X(route_first), W(route_count), X(dof_first), X(dof_count), X(link_first), X(link_count),
    R(gear), W(flags), W(of), R(reference), R(curve), R(stiffness), R(damping), R(rest_lower), R(rest_upper), R(friction), B(lower),
    B(upper)};
#undef R
#undef B
#undef W
#undef X
static const rs_field TERM_FIELDS[] = {RS_FIELD(rs_tendon_term, RS_KIND_WHOLE, link), RS_FIELD(rs_tendon_term, RS_KIND_REAL, coefficient)};
#define R(field) RS_FIELD(rs_route, RS_KIND_REAL, field)
#define W(field) RS_FIELD(rs_route, RS_KIND_WHOLE, field)
static const rs_field ROUTE_FIELDS[] = {W(kind), W(link), W(side_link), RS_FIELD(rs_route, RS_KIND_FLAG, has_side), R(position), R(side),
                                        R(rotation), R(size)};
#undef R
#undef W
#define R(field) RS_FIELD(rs_drive_def, RS_KIND_REAL, field)
#define B(field) RS_FIELD(rs_drive_def, RS_KIND_BOUND, field)
#define W(field) RS_FIELD(rs_drive_def, RS_KIND_WHOLE, field)
static const rs_field DRIVE_FIELDS[] = {
    W(tendon), W(dynamics), W(gain_law), W(bias_law), W(early), R(gear), R(dynamics_numbers), R(gain), R(bias), B(control_range),
    B(activation_range), B(force_range), R(length_range), R(strength)};
#undef R
#undef B
#undef W
static const rs_record LINK = RS_RECORD(rs_link, LINK_FIELDS), PIN = RS_RECORD(rs_pin, PIN_FIELDS),
                       COUPLING = RS_RECORD(rs_coupling, COUPLING_FIELDS), TENDON = RS_RECORD(rs_tendon, TENDON_FIELDS),
                       TERM = RS_RECORD(rs_tendon_term, TERM_FIELDS), ROUTE = RS_RECORD(rs_route, ROUTE_FIELDS),
                       DRIVE = RS_RECORD(rs_drive_def, DRIVE_FIELDS);

/* Counts of the parts, of which the data hold at least so many bytes each. */
static void stream_counts(rs_stream *stream, rs_tree_model *m) {
    int32_t *const counts[] = {&m->link_count, &m->pin_count, &m->coupling_count, &m->tendon_count, &m->term_count,
                               &m->route_count, &m->tendon_dof_count, &m->tendon_link_count, &m->drive_count};
    const rs_record *const parts[] = {&LINK, &PIN, &COUPLING, &TENDON, &TERM, &ROUTE, NULL, NULL, &DRIVE};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        int64_t count = *counts[k];
        rs_stream_count(stream, &count, parts[k] != NULL ? rs_stored_bytes(parts[k]) : sizeof(int32_t));
        *counts[k] = (int32_t)count;
    }
    rs_stream_flag(stream, &m->lifted);
    size_t links = (size_t)m->link_count;
    if (rs_stream_reads(stream) && (links == 0 || links > (stream->size - stream->at) / links)) /* a byte per pair */
        rs_stream_refuse(stream, "a robot has more links than the data hold, or none");
}

void rs_tree_model_stream(rs_stream *stream, rs_tree_model **model) {
    rs_tree_model counts = {.holders = 1};
    bool reads = rs_stream_reads(stream);
    stream_counts(stream, reads ? &counts : *model);
    if (reads) {
        *model = stream->status == RS_OK ? rs_tree_model_alloc(&counts) : NULL;
        if (*model == NULL) {
            stream->status = stream->status == RS_OK ? RS_OUT_OF_MEMORY : stream->status;
            return;
        }
    }
    rs_tree_model *m = *model;
    rs_stream_items(stream, &LINK, m->links, m->link_count);
    rs_stream_items(stream, &PIN, m->pins, m->pin_count);
    rs_stream_items(stream, &COUPLING, m->couplings, m->coupling_count);
    rs_stream_items(stream, &TENDON, m->tendons, m->tendon_count);
    rs_stream_items(stream, &TERM, m->terms, m->term_count);
    rs_stream_items(stream, &ROUTE, m->routes, m->route_count);
    rs_stream_bytes(stream, m->tendon_dofs, sizeof *m->tendon_dofs * (size_t)m->tendon_dof_count); /* found again, but they */
    rs_stream_bytes(stream, m->tendon_links, sizeof *m->tendon_links * (size_t)m->tendon_link_count); /* bound the room */
    rs_stream_items(stream, &DRIVE, m->drives, m->drive_count);
    rs_stream_bytes(stream, m->self_contacts, (size_t)m->link_count * (size_t)m->link_count);
    if (!reads)
        return;
    if (stream->status == RS_OK)
        stream->status = rs_tree_model_complete(m);
    if (stream->status != RS_OK) {
        rs_tree_model_drop(m);
        *model = NULL;
    }
}

/* Options and what a step notes beside the arrays. */
static void stream_options(rs_stream *stream, rs_articulation *a) {
    int32_t modes[2] = {(int32_t)a->scheme, (int32_t)a->control_mode};
    rs_stream_bytes(stream, modes, sizeof modes);
    if (modes[0] < RS_SCHEME_TRAPEZOID || modes[0] > RS_SCHEME_MIDPOINT || modes[1] < RS_CONTROL_FORCE_AND_TORQUE ||
        modes[1] > RS_CONTROL_PD_PLUS_FEEDFORWARD_TORQUE) {
        rs_stream_refuse(stream, "a robot has an unknown scheme or control mode");
        return;
    }
    a->scheme = (rs_integration_scheme)modes[0];
    a->control_mode = (rs_control_mode)modes[1];
    bool *const flags[] = {&a->inverse_dynamics, &a->loaded, &a->commanded, &a->guided, &a->carried.known};
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
        rs_stream_flag(stream, flags[k]);
    rs_stream_reals(stream, &a->base_position.x, 3);
    rs_stream_reals(stream, &a->base_quaternion.w, 4);
    rs_vec3 *const carried[] = {&a->carried.linear, &a->carried.angular, &a->carried.centre};
    for (size_t k = 0; k < sizeof carried / sizeof *carried; k++)
        rs_stream_reals(stream, &carried[k]->x, 3);
}

void rs_articulation_stream(rs_stream *stream, rs_tree_model *model, rs_articulation **articulation) {
    if (rs_stream_reads(stream)) {
        *articulation = stream->status == RS_OK ? rs_articulation_of(model) : NULL;
        if (*articulation == NULL) {
            stream->status = stream->status == RS_OK ? RS_OUT_OF_MEMORY : stream->status;
            return;
        }
    }
    rs_articulation *a = *articulation;
    stream_options(stream, a);
    size_t first = sizeof *a; /* all kept arrays consist of doubles; the gaps between them are zero */
    double *arrays = rs_take((char *)a, &first, 0);
    int64_t expected = (int64_t)((a->kept_bytes - first) / sizeof(double)), count = expected;
    rs_stream_count(stream, &count, sizeof(double));
    if (count != expected)
        rs_stream_refuse(stream, "a robot has other numbers than its model");
    else
        rs_stream_bounds(stream, arrays, (size_t)count);
    if (rs_stream_reads(stream) && stream->status != RS_OK) {
        rs_articulation_free(a);
        *articulation = NULL;
    }
}

/* ---- geometry ---- */

typedef int32_t triple[3];
RS_ARRAY_OF(triple);
RS_ARRAY_OF(rs_vec3);

static void stream_convex(rs_stream *stream, rs_convex **convex) {
    const rs_convex *c = rs_stream_reads(stream) ? NULL : *convex;
    RS_ARRAY(rs_vec3) vertices = {0};
    RS_ARRAY(int32_t) counts = {0}, loops = {0};
    if (c != NULL) {
        int64_t total = 0;
        stream->status = rs_array_resize(&counts, c->face_count);
        for (int32_t f = 0; f < c->face_count && stream->status == RS_OK; total += c->faces[f].count, f++)
            counts.items[f] = c->faces[f].count;
        vertices = (RS_ARRAY(rs_vec3)){.any = {(void *)c->vertices, c->vertex_count, c->vertex_count, sizeof(rs_vec3)}};
        loops = (RS_ARRAY(int32_t)){.any = {(void *)c->face_vertices, total, total, sizeof(int32_t)}};
    }
    rs_stream_real_array(stream, &vertices);
    rs_stream_whole_array(stream, &counts);
    rs_stream_whole_array(stream, &loops);
    if (c == NULL) {
        int64_t total = 0;
        for (int64_t f = 0; f < counts.count; f++)
            total += counts.items[f] >= 0 ? counts.items[f] : INT32_MAX;
        if (total != loops.count)
            rs_stream_refuse(stream, "the faces of a hull have other corners than they count");
        if (stream->status == RS_OK)
            stream->status = rs_convex_from_faces((int32_t)vertices.count, vertices.items, (int32_t)counts.count, counts.items,
                                                  loops.items, convex);
        rs_array_free(&vertices);
        rs_array_free(&loops);
    }
    rs_array_free(&counts);
}

/* Vertices and triangles as they were given. */
static void stream_mesh(rs_stream *stream, rs_tri_mesh **mesh) {
    const rs_tri_mesh *m = rs_stream_reads(stream) ? NULL : *mesh;
    RS_ARRAY(rs_vec3) vertices = {0};
    RS_ARRAY(triple) triangles = {0};
    if (m != NULL) {
        vertices = (RS_ARRAY(rs_vec3)){.any = {m->vertices, m->vertex_count, m->vertex_count, sizeof(rs_vec3)}};
        stream->status = rs_array_resize(&triangles, m->triangle_count);
        for (uint32_t t = 0; t < m->triangle_count && stream->status == RS_OK; t++)
            memcpy(triangles.items[m->given[t]], m->triangles[t], sizeof(triple));
    }
    rs_stream_real_array(stream, &vertices);
    rs_stream_whole_array(stream, &triangles);
    if (m == NULL) {
        if (stream->status == RS_OK)
            stream->status = rs_tri_mesh_new(vertices.count, vertices.any.data, triangles.count, triangles.any.data, mesh);
        rs_array_free(&vertices);
    }
    rs_array_free(&triangles);
}

static void stream_grid(rs_stream *stream, rs_height_grid **grid) {
    rs_height_grid *g = rs_stream_reads(stream) ? NULL : *grid;
    int32_t samples[2] = {0};
    double sizes[2] = {0};
    RS_ARRAY(double) heights = {0};
    if (g != NULL) {
        int64_t count = (int64_t)g->x_samples * g->y_samples;
        heights = (RS_ARRAY(double)){.any = {g->heights, count, count, sizeof(double)}};
        samples[0] = g->x_samples, samples[1] = g->y_samples;
        sizes[0] = g->x_size, sizes[1] = g->y_size;
    }
    rs_stream_bytes(stream, samples, sizeof samples);
    rs_stream_reals(stream, sizes, 2);
    rs_stream_real_array(stream, &heights);
    if (g != NULL)
        return;
    if (samples[0] < 0 || samples[1] < 0 || (int64_t)samples[0] * samples[1] != heights.count)
        rs_stream_refuse(stream, "a heightmap has another number of samples than it counts");
    if (stream->status == RS_OK)
        stream->status = rs_height_grid_new(samples[0], samples[1], sizes[0], sizes[1], heights.items, grid);
    rs_array_free(&heights);
}

void rs_asset_stream(rs_stream *stream, rs_asset **asset) {
    bool reads = rs_stream_reads(stream);
    rs_asset read = {0}, *a = reads ? &read : *asset;
    int32_t type = (int32_t)a->type;
    rs_stream_bytes(stream, &type, sizeof type);
    if (type == RS_SHAPE_CONVEX)
        stream_convex(stream, &a->convex);
    else if (type == RS_SHAPE_MESH)
        stream_mesh(stream, &a->mesh);
    else if (type == RS_SHAPE_HEIGHTMAP)
        stream_grid(stream, &a->grid);
    else
        rs_stream_refuse(stream, "geometry is of an unknown type");
    if (!reads)
        return;
    *asset = stream->status == RS_OK ? rs_asset_new((rs_shape_type)type, read.convex, read.mesh, read.grid) : NULL;
    if (stream->status == RS_OK && *asset == NULL)
        stream->status = RS_OUT_OF_MEMORY;
}

uint64_t rs_asset_hash(const rs_asset *asset) {
    uint64_t hash = rs_hash_bytes(RS_HASH_BEGIN, &asset->type, sizeof asset->type);
    if (asset->convex != NULL) {
        const rs_convex *c = asset->convex;
        hash = rs_hash_bytes(hash, c->vertices, (size_t)c->vertex_count * sizeof *c->vertices);
        return rs_hash_bytes(hash, c->face_vertices, (size_t)c->neighbor_first[c->vertex_count] * sizeof *c->face_vertices);
    }
    if (asset->mesh != NULL) {
        const rs_tri_mesh *m = asset->mesh;
        hash = rs_hash_bytes(hash, m->vertices, m->vertex_count * sizeof *m->vertices);
        return rs_hash_bytes(hash, m->triangles, m->triangle_count * sizeof *m->triangles);
    }
    const rs_height_grid *g = asset->grid;
    const double sizes[4] = {g->x_samples, g->y_samples, g->x_size, g->y_size};
    hash = rs_hash_bytes(hash, sizes, sizeof sizes);
    return rs_hash_bytes(hash, g->heights, (size_t)g->x_samples * (size_t)g->y_samples * sizeof *g->heights);
}

uint64_t rs_model_format(uint64_t hash) {
    const rs_record *const all[] = {&LINK, &PIN, &COUPLING, &TENDON, &TERM, &ROUTE, &DRIVE};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        hash = rs_hash_record(hash, all[k]);
    return hash;
}
