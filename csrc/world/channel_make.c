/* Making channels: what a definition may ask for. */
#include "channel.h"

#include <string.h>

void rs_default_channel_def(rs_channel_def *def) { *def = (rs_channel_def){.mount_quaternion = {1, 0, 0, 0}}; }

static rs_status check_link(const rs_body *body, int32_t link) {
    int32_t count = rs_carrier_count(body);
    return link >= 0 && link < count ? RS_OK : rs_fail(RS_INVALID_VALUE, "link is %d; expected 0 to %d", link, count - 1);
}

static rs_status check_rays(const rs_channel_def *def) {
    if (def->ray_count < 1)
        return rs_fail(RS_INVALID_VALUE, "%d rays; expected at least 1", def->ray_count);
    for (int32_t k = 0; k < 3 * def->ray_count; k += 3) {
        rs_status status = rs_check_finite_pair("ray origin", &def->ray_origins[k], "ray direction", &def->ray_directions[k]);
        if (status != RS_OK)
            return status;
        if (!(fabs(rs_norm(rs_v3_load(&def->ray_directions[k])) - 1.0) <= 1e-6))
            return rs_fail(RS_INVALID_VALUE, "direction of ray %d is not a unit vector", k / 3);
    }
    rs_status status = rs_check_finite("ray offset", &def->ray_offset, 1);
    return status == RS_OK ? rs_check_positive("ray length", def->ray_length) : status;
}

static rs_status check_mount(const rs_channel_def *def, const rs_body *body, rs_transform *mount) {
    rs_quat q;
    rs_status status = check_link(body, def->mount_link);
    RS_THEN(status, rs_check_finite("mount position", def->mount_position, 3));
    RS_THEN(status, rs_load_quaternion(def->mount_quaternion, &q));
    if (status == RS_OK)
        *mount = rs_transform_make(rs_v3_load(def->mount_position), q);
    if (status == RS_OK && def->kind == RS_CHANNEL_RAYS)
        status = check_rays(def);
    if (status == RS_OK && def->kind == RS_CHANNEL_DEPTH) {
        rs_depth_camera camera = def->camera;
        memcpy(camera.position, def->mount_position, sizeof camera.position);
        memcpy(camera.quaternion, def->mount_quaternion, sizeof camera.quaternion);
        status = rs_depth_camera_valid(&camera);
    }
    return status;
}

/* Width of a field, 0 when it is unknown. */
static int32_t field_width(const rs_articulation *a, int32_t field) {
    bool like_q = field == RS_FIELD_COORDINATE || field == RS_FIELD_P_TARGET || field == RS_FIELD_SPRING_MOUNT;
    return field < 0 || field >= RS_FIELD_COUNT ? 0 : like_q ? a->q_count : a->u_count;
}

static bool field_is_written(int32_t field) {
    return field != RS_FIELD_ACCELERATION && field != RS_FIELD_APPLIED_FORCE && field != RS_FIELD_LIMIT_IMPULSE;
}

/* Width and direction of what a channel holds. */
static rs_status measure(const rs_channel_def *def, const rs_body *body, rs_channel *out) {
    const rs_articulation *a = body != NULL ? body->articulation : NULL;
    const int64_t links = def->link_count;
    out->writable = true;
    switch (def->kind) {
    case RS_CHANNEL_FIELD:
        out->width = a != NULL ? field_width(a, def->field) : 0;
        out->writable = field_is_written(def->field);
        return out->width > 0 ? RS_OK : rs_fail(RS_INVALID_VALUE, "field %d; expected one of an articulated system",
                                                def->field);
    case RS_CHANNEL_POSE: out->width = 7, out->writable = a == NULL || a->fixed_base; return RS_OK;
    case RS_CHANNEL_TWIST: out->width = 6, out->writable = a == NULL; return RS_OK;
    case RS_CHANNEL_LINK_POSE: out->width = 7 * links, out->writable = false; return RS_OK;
    case RS_CHANNEL_LINK_TWIST: out->width = 6 * links, out->writable = false; return RS_OK;
    case RS_CHANNEL_LINK_FORCE: out->width = 3 * links, out->writable = false; return RS_OK;
    case RS_CHANNEL_LINK_WRENCH: out->width = 6 * links; return RS_OK;
    case RS_CHANNEL_MASS: out->width = links; return RS_OK;
    case RS_CHANNEL_COM: out->width = 3 * links; return RS_OK;
    case RS_CHANNEL_INERTIA: out->width = 6 * links; return RS_OK;
    case RS_CHANNEL_MATERIAL: out->width = (int64_t)(sizeof(rs_material_pair) / sizeof(double)); return RS_OK;
    case RS_CHANNEL_GRAVITY: out->width = 3; return RS_OK;
    case RS_CHANNEL_TIME: out->width = 1, out->writable = false; return RS_OK;
    case RS_CHANNEL_IMU: out->width = 6, out->writable = false; return RS_OK;
    case RS_CHANNEL_RAYS: out->width = def->ray_count, out->writable = false; return RS_OK;
    case RS_CHANNEL_DEPTH:
        out->width = (int64_t)def->camera.width * def->camera.height, out->writable = false;
        return RS_OK;
    case RS_CHANNEL_CONTROL:
        out->width = def->actuator_count;
        return a != NULL && def->actuator_count > 0 ? RS_OK : rs_fail(RS_INVALID_VALUE, "the object has no actuators");
    default: return rs_fail(RS_INVALID_VALUE, "channel kind %d is unknown", def->kind);
    }
}

static bool wants_object(int32_t kind) {
    return kind != RS_CHANNEL_MATERIAL && kind != RS_CHANNEL_GRAVITY && kind != RS_CHANNEL_TIME;
}

static bool lists_links(int32_t kind) { return kind >= RS_CHANNEL_LINK_POSE && kind <= RS_CHANNEL_INERTIA; }

static rs_status check_def(const rs_channel_def *def, rs_world *world, const rs_body *body, rs_channel *out) {
    rs_status status = RS_OK;
    if (lists_links(def->kind) && def->link_count < 1)
        status = rs_fail(RS_INVALID_VALUE, "%d links; expected at least 1", def->link_count);
    for (int32_t k = 0; lists_links(def->kind) && k < def->link_count && status == RS_OK; k++)
        status = check_link(body, def->links[k]);
    if (status == RS_OK && def->kind >= RS_CHANNEL_IMU && def->kind <= RS_CHANNEL_DEPTH)
        status = check_mount(def, body, &out->mount);
    rs_material_pair pair;
    if (status == RS_OK && def->kind == RS_CHANNEL_MATERIAL)
        status = rs_material_get_pair(world, def->material_a, def->material_b, &pair);
    return status == RS_OK ? measure(def, body, out) : status;
}

static void *copy_of(const void *source, size_t bytes) {
    void *copy = rs_alloc(bytes);
    if (copy != NULL && bytes > 0 && source != NULL)
        memcpy(copy, source, bytes);
    return copy;
}

rs_status rs_channel_make(const rs_channel_def *def, rs_world *world, int64_t count, rs_channel *out) {
    *out = (rs_channel){.def = *def};
    if (!wants_object(def->kind))
        out->def.object = 0;
    const rs_body *body = wants_object(def->kind) ? rs_world_body(world, def->object) : NULL;
    if (wants_object(def->kind) && body == NULL)
        return RS_UNKNOWN_OBJECT;
    rs_status status = check_def(def, world, body, out);
    if (status != RS_OK)
        return status;
    size_t number = def->kind == RS_CHANNEL_DEPTH ? sizeof(float) : sizeof(double);
    size_t rays = def->kind == RS_CHANNEL_RAYS ? (size_t)def->ray_count * 3 * sizeof(double) : 0;
    out->row_bytes = (size_t)out->width * number;
    out->def.links = copy_of(def->links, lists_links(def->kind) ? (size_t)def->link_count * sizeof(int32_t) : 0);
    size_t actuators = def->kind == RS_CHANNEL_CONTROL ? (size_t)def->actuator_count * sizeof *def->actuators : 0;
    out->def.actuators = copy_of(def->actuators, actuators);
    out->def.ray_origins = copy_of(def->ray_origins, rays);
    out->def.ray_directions = copy_of(def->ray_directions, rays);
    out->rows = rs_alloc((size_t)count * out->row_bytes);
    out->known = out->writable ? rs_alloc((size_t)count * out->row_bytes) : NULL;
    if (out->def.links == NULL || out->def.actuators == NULL || out->def.ray_origins == NULL ||
        out->def.ray_directions == NULL || out->rows == NULL || (out->writable && out->known == NULL)) {
        rs_channel_free(out);
        return RS_OUT_OF_MEMORY;
    }
    for (int64_t k = 0; k < count; k++)
        rs_channel_forget(out, k);
    return RS_OK;
}

void rs_channel_free(rs_channel *channel) {
    rs_free((void *)(uintptr_t)channel->def.links);
    rs_free((void *)(uintptr_t)channel->def.actuators);
    rs_free((void *)(uintptr_t)channel->def.ray_origins);
    rs_free((void *)(uintptr_t)channel->def.ray_directions);
    rs_free(channel->rows);
    rs_free(channel->known);
}
