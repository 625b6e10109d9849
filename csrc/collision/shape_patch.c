/* The outline of a shape's side that faces a plane, found through support points only. */
#include "surface_probe.h"

/* Sides tilted less than this against the plane count as facing it [rad]. */
static const double FLAT_ANGLE = 0.02;
enum { TILTS = RS_PATCH_CORNERS };

/* cos and sin of 0, 45, ... degrees. */
static const double TILT_X[TILTS] = {1.0, 0.7071067811865476, 0.0, -0.7071067811865476,
                                     -1.0, -0.7071067811865476, 0.0, 0.7071067811865476};
static const double TILT_Y[TILTS] = {0.0, 0.7071067811865476, 1.0, 0.7071067811865476,
                                     0.0, -0.7071067811865476, -1.0, -0.7071067811865476};

rs_patch_frame rs_patch_frame_make(rs_vec3 origin, rs_vec3 normal) {
    rs_patch_frame f = {.origin = origin, .normal = normal};
    rs_tangents(normal, &f.x, &f.y);
    return f;
}

/* Every second or eighth direction: a round side faces the plane along one line only, in the plane of its axis. */
static int tilt_step(const rs_core *core, rs_vec3 axis, rs_vec3 normal) {
    bool round = core->kind == RS_CORE_CYLINDER || core->kind == RS_CORE_CONE;
    bool on_cap = fabs(rs_dot(axis, normal)) > cos(FLAT_ANGLE);
    return round && !on_cap ? TILTS / 2 : 1;
}

static void add_corner(rs_shape_patch *patch, rs_vec3 p, double rounding, double same) {
    const rs_patch_frame *f = &patch->frame;
    rs_vec3 d = rs_sub(p, f->origin);
    rs_clip_vertex v = {.x = rs_dot(d, f->x), .y = rs_dot(d, f->y), .z = rs_dot(d, f->normal) - rounding};
    for (int i = 0; i < patch->count; i++)
        if (fabs(patch->corners[i].x - v.x) + fabs(patch->corners[i].y - v.y) <= same) return;
    v.in = (uint8_t)patch->count;
    v.out = (uint8_t)(patch->count + 1);
    patch->corners[patch->count++] = v;
}

void rs_shape_patch_find(const rs_core *core, const rs_transform *pose, rs_patch_frame frame, rs_shape_patch *out) {
    rs_vec3 axis = rs_m3_col(&pose->rot, 2);
    int step = tilt_step(core, axis, frame.normal);
    /* directions around the normal, beginning in the plane of the shape's own axis */
    rs_vec3 u = rs_madd(axis, -rs_dot(axis, frame.normal), frame.normal);
    u = rs_norm2(u) > 1e-12 ? rs_scale(1.0 / rs_norm(u), u) : frame.x;
    rs_vec3 v = rs_cross(frame.normal, u);
    double same = 1e-9 * (core->size + core->rounding);
    out->frame = frame;
    out->count = 0;
    for (int i = 0; i < TILTS; i += step) {
        rs_vec3 tilt = rs_add(rs_scale(FLAT_ANGLE * TILT_X[i], u), rs_scale(FLAT_ANGLE * TILT_Y[i], v));
        rs_vec3 local = rs_m3_tmulv(&pose->rot, rs_sub(tilt, frame.normal));
        add_corner(out, rs_transform_point(pose, rs_core_support(core, local)), core->rounding, same);
    }
}
