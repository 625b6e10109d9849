#include "channel.h"

#include <string.h>

/* ---- reading ---- */

static void store_pose(double *out, rs_vec3 position, rs_quat q) {
    rs_v3_store(out, position);
    rs_quat_store(out + 3, q);
}

/* Placement and motion of the body or link that `link` names. */
typedef struct {
    rs_transform pose;
    rs_quat quaternion;
    rs_vec3 v, w; /* of the origin */
} link_state;

static link_state state_of(const rs_body *body, int32_t link) {
    const rs_articulation *a = body->articulation;
    if (a == NULL) {
        rs_transform pose = rs_transform_make(body->position, body->quaternion);
        rs_vec3 arm = rs_m3_mulv(&pose.rot, body->com);
        return (link_state){pose, body->quaternion, rs_sub(body->velocity, rs_cross(body->omega, arm)), body->omega};
    }
    const rs_link_motion *m = &a->motion[link];
    return (link_state){{m->rot, m->pos}, rs_m3_to_quat(&m->rot), m->v, m->w};
}

static void read_link_poses(const rs_channel *c, const rs_body *body, double *out) {
    for (int32_t k = 0; k < c->def.link_count; k++) {
        link_state s = state_of(body, c->def.links[k]);
        store_pose(&out[7 * k], s.pose.pos, s.quaternion);
    }
}

static void read_link_twists(const rs_channel *c, const rs_body *body, double *out) {
    for (int32_t k = 0; k < c->def.link_count; k++) {
        link_state s = state_of(body, c->def.links[k]);
        rs_v3_store(&out[6 * k], s.v);
        rs_v3_store(&out[6 * k + 3], s.w);
    }
}

static void add_link_forces(const rs_channel *c, const rs_world *world, const rs_body *body, const RS_ARRAY(rs_touch) *touches,
                            double *out) {
    const rs_collider *colliders = world->data.colliders.items;
    const int32_t index = (int32_t)(body - world->data.bodies.items);
    for (int64_t t = 0; t < touches->count; t++) {
        const rs_touch *touch = &touches->items[t];
        if (touch->body_a != index && touch->body_b != index)
            continue;
        rs_vec3 push = rs_scale(touch->impulse.x, touch->t1);
        push = rs_madd(rs_madd(push, touch->impulse.y, touch->t2), touch->impulse.z, touch->n);
        push = rs_scale(1.0 / world->data.dt, push);
        for (int32_t k = 0; k < c->def.link_count; k++) {
            rs_vec3 sum = rs_v3_load(&out[3 * k]);
            if (touch->body_a == index && colliders[touch->collider_a].link == c->def.links[k])
                sum = rs_add(sum, push);
            if (touch->body_b == index && colliders[touch->collider_b].link == c->def.links[k])
                sum = rs_sub(sum, push);
            rs_v3_store(&out[3 * k], sum);
        }
    }
}

static void read_link_forces(const rs_channel *c, const rs_world *world, const rs_body *body, double *out) {
    memset(out, 0, c->row_bytes);
    add_link_forces(c, world, body, &world->data.touches, out);
    add_link_forces(c, world, body, &world->data.resting, out);
}

static void read_wrenches(const rs_channel *c, const rs_body *body, double *out) {
    for (int32_t k = 0; k < c->def.link_count; k++) {
        const rs_articulation *a = body->articulation;
        rs_v3_store(&out[6 * k], a != NULL ? a->command[c->def.links[k]].lin : body->command_force);
        rs_v3_store(&out[6 * k + 3], a != NULL ? a->command[c->def.links[k]].ang : body->command_torque);
    }
}

static void read_masses(const rs_channel *c, const rs_body *body, double *out) {
    for (int32_t k = 0; k < c->def.link_count; k++) {
        const int32_t link = c->def.links[k];
        const rs_sym3 i = rs_carrier_inertia(body, link);
        const double inertia[6] = {i.xx, i.yy, i.zz, i.xy, i.xz, i.yz};
        if (c->def.kind == RS_CHANNEL_MASS)
            out[k] = rs_carrier_mass(body, link);
        else if (c->def.kind == RS_CHANNEL_COM)
            rs_v3_store(&out[3 * k], rs_carrier_com(body, link));
        else
            memcpy(&out[6 * k], inertia, sizeof inertia);
    }
}

/* Acceleration of a point of a body or link in the last step, world frame. */
static rs_vec3 acceleration_of(rs_body *body, int32_t link, rs_vec3 point) {
    rs_articulation *a = body->articulation;
    rs_vec3 sum = rs_v3_zero();
    if (a != NULL) {
        int32_t count = rs_jacobian(a, link, point, a->columns);
        for (int32_t k = 0; k < count; k++)
            sum = rs_madd(sum, a->acceleration[a->columns[k].index], a->columns[k].linear);
        count = rs_jacobian_derivative(a, link, point, a->columns);
        for (int32_t k = 0; k < count; k++)
            sum = rs_madd(sum, a->u[a->columns[k].index], a->columns[k].linear);
        return sum;
    }
    if (body->asleep || body->type == RS_BODY_STATIC)
        return sum;
    rs_vec3 arm = rs_sub(point, rs_rigid_body_com_position(body));
    sum = rs_add(body->acceleration, rs_cross(body->angular_acceleration, arm));
    return rs_add(sum, rs_cross(body->omega, rs_cross(body->omega, arm)));
}

static void read_imu(const rs_channel *c, const rs_world *world, rs_body *body, double *out) {
    link_state s = state_of(body, c->def.mount_link);
    rs_transform frame = rs_transform_mul(&s.pose, &c->mount);
    rs_vec3 force = rs_sub(acceleration_of(body, c->def.mount_link, frame.pos), world->data.gravity);
    rs_v3_store(out, rs_m3_tmulv(&frame.rot, force));
    rs_v3_store(out + 3, rs_m3_tmulv(&frame.rot, s.w));
}

/* Turned about the vertical only, as the x axis of the frame heads. */
static rs_mat3 heading_of(const rs_mat3 *rot) {
    double x = rot->m[0], y = rot->m[3], norm = sqrt(x * x + y * y);
    double cosine = norm > 0.0 ? x / norm : 1.0, sine = norm > 0.0 ? y / norm : 0.0;
    return (rs_mat3){{cosine, -sine, 0, sine, cosine, 0, 0, 0, 1}};
}

static rs_ray_rule rule_of(const rs_channel *c) {
    return (rs_ray_rule){c->def.see_carrier ? 0 : c->def.object, -1, UINT64_MAX};
}

static rs_status read_rays(const rs_channel *c, rs_world *world, const rs_body *body, RS_ARRAY(double) *scratch,
                           double *out) {
    const int64_t count = c->def.ray_count;
    if (rs_array_resize(scratch, 6 * count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    double *origins = scratch->items, *directions = origins + 3 * count;
    rs_transform frame = state_of(body, c->def.mount_link).pose;
    if (c->def.ray_level)
        frame.rot = heading_of(&frame.rot);
    frame = rs_transform_mul(&frame, &c->mount);
    for (int64_t k = 0; k < count; k++) {
        rs_v3_store(&origins[3 * k], rs_transform_point(&frame, rs_v3_load(&c->def.ray_origins[3 * k])));
        rs_v3_store(&directions[3 * k], rs_m3_mulv(&frame.rot, rs_v3_load(&c->def.ray_directions[3 * k])));
    }
    rs_ray_rule rule = rule_of(c);
    rs_rays rays = {.count = count, .origins = origins, .directions = directions, .length = c->def.ray_length};
    rs_status status = rs_world_cast_rays(world, &rays, &rule, &(rs_ray_hits){.distances = out});
    for (int64_t k = 0; k < count; k++)
        out[k] = (isnan(out[k]) ? c->def.ray_length : out[k]) - c->def.ray_offset;
    return status;
}

static rs_status read_depth(const rs_channel *c, rs_world *world, const rs_body *body, int64_t member, float *out) {
    link_state s = state_of(body, c->def.mount_link);
    rs_transform frame = rs_transform_mul(&s.pose, &c->mount);
    rs_depth_camera camera = c->def.camera;
    rs_v3_store(camera.position, frame.pos);
    rs_quat_store(camera.quaternion, rs_m3_to_quat(&frame.rot));
    camera.noise.seed += (uint64_t)member;
    camera.noise.frame = world->data.step_count;
    rs_ray_rule rule = rule_of(c);
    return rs_world_scan_depth(world, &camera, &rule, out, NULL, NULL, NULL);
}

static bool wants_links(int32_t kind) {
    return kind == RS_CHANNEL_LINK_POSE || kind == RS_CHANNEL_LINK_TWIST || kind == RS_CHANNEL_IMU ||
           kind == RS_CHANNEL_RAYS || kind == RS_CHANNEL_DEPTH;
}

static void read_material(const rs_channel *c, const rs_world *world, double *out) {
    memcpy(out, rs_materials_find(&world->data.materials, c->def.material_a, c->def.material_b), c->row_bytes);
}

static rs_status read_row(const rs_channel *c, rs_world *world, int64_t member, RS_ARRAY(double) *scratch, void *row) {
    double *out = row;
    rs_body *body = c->def.object != 0 ? rs_world_body(world, c->def.object) : NULL;
    if (c->def.object != 0 && body == NULL)
        return RS_UNKNOWN_OBJECT;
    if (body != NULL && wants_links(c->def.kind))
        rs_world_place_links(world, body);
    switch (c->def.kind) {
    case RS_CHANNEL_FIELD: return rs_articulation_read(world, c->def.object, c->def.field, out, (int32_t)c->width);
    case RS_CHANNEL_POSE: store_pose(out, body->position, body->quaternion); return RS_OK;
    case RS_CHANNEL_TWIST:
        rs_v3_store(out, body->velocity);
        rs_v3_store(out + 3, body->omega);
        return RS_OK;
    case RS_CHANNEL_LINK_POSE: read_link_poses(c, body, out); return RS_OK;
    case RS_CHANNEL_LINK_TWIST: read_link_twists(c, body, out); return RS_OK;
    case RS_CHANNEL_LINK_FORCE: read_link_forces(c, world, body, out); return RS_OK;
    case RS_CHANNEL_LINK_WRENCH: read_wrenches(c, body, out); return RS_OK;
    case RS_CHANNEL_MATERIAL: read_material(c, world, out); return RS_OK;
    case RS_CHANNEL_GRAVITY: rs_v3_store(out, world->data.gravity); return RS_OK;
    case RS_CHANNEL_TIME: *out = world->data.time; return RS_OK;
    case RS_CHANNEL_IMU: read_imu(c, world, body, out); return RS_OK;
    case RS_CHANNEL_RAYS: return read_rays(c, world, body, scratch, out);
    case RS_CHANNEL_DEPTH: return read_depth(c, world, body, member, row);
    default: read_masses(c, body, out); return RS_OK;
    }
}

rs_status rs_channel_read(const rs_channel *c, rs_world *world, int64_t member, RS_ARRAY(double) *scratch) {
    char *row = c->rows + (size_t)member * c->row_bytes;
    if (c->def.kind == RS_CHANNEL_CONTROL)
        return RS_OK;
    rs_status status = read_row(c, world, member, scratch, row);
    if (status == RS_OK && c->known != NULL)
        memcpy(c->known + (size_t)member * c->row_bytes, row, c->row_bytes);
    return status;
}

static bool is_parameter(const rs_channel *c) {
    switch (c->def.kind) {
    case RS_CHANNEL_MASS:
    case RS_CHANNEL_COM:
    case RS_CHANNEL_INERTIA:
    case RS_CHANNEL_MATERIAL:
    case RS_CHANNEL_GRAVITY: return true;
    default: return false;
    }
}

bool rs_channel_goes_back(const rs_channel *c, rs_world *world) {
    const rs_body *body;
    switch (c->def.kind) {
    case RS_CHANNEL_FIELD:
        return c->def.field == RS_FIELD_COORDINATE || c->def.field == RS_FIELD_VELOCITY ||
               c->def.field == RS_FIELD_FEED_FORWARD || c->def.field == RS_FIELD_P_TARGET ||
               c->def.field == RS_FIELD_D_TARGET;
    case RS_CHANNEL_POSE: /* what is static stays where it was put, and so does the fixed base of a robot */
    case RS_CHANNEL_TWIST:
        body = rs_world_body(world, c->def.object);
        return body != NULL && body->articulation == NULL && body->type != RS_BODY_STATIC;
    case RS_CHANNEL_LINK_WRENCH:
    case RS_CHANNEL_CONTROL: return true;
    default: return false;
    }
}

void rs_channel_forget(const rs_channel *c, int64_t member) {
    if (c->def.kind == RS_CHANNEL_CONTROL) /* no number is equal to this one */
        memset(c->known + (size_t)member * c->row_bytes, 0xff, c->row_bytes);
}

rs_status rs_channel_reset(const rs_channel *c, rs_world *world, int64_t member, RS_ARRAY(double) *ray_room) {
    if (is_parameter(c))
        return RS_OK;
    if (c->def.kind == RS_CHANNEL_CONTROL)
        memset(c->rows + (size_t)member * c->row_bytes, 0, c->row_bytes);
    rs_channel_forget(c, member);
    return rs_channel_read(c, world, member, ray_room);
}

/* ---- writing ---- */

/* Gains turn PD control on. */
static rs_status write_field(const rs_channel *c, rs_world *world, rs_body *body, const double *row) {
    rs_status status = rs_articulation_write(world, c->def.object, c->def.field, row, (int32_t)c->width);
    if (status == RS_OK && (c->def.field == RS_FIELD_P_GAIN || c->def.field == RS_FIELD_D_GAIN))
        body->articulation->control_mode = RS_CONTROL_PD_PLUS_FEEDFORWARD_TORQUE;
    return status;
}

static rs_status write_pose(const rs_channel *c, rs_world *world, const rs_body *body, const double *row) {
    if (body->articulation != NULL) {
        rs_articulation_options options;
        rs_articulation_get_options(world, c->def.object, &options);
        memcpy(options.base_position, row, sizeof options.base_position);
        memcpy(options.base_quaternion, row + 3, sizeof options.base_quaternion);
        return rs_articulation_set_options(world, c->def.object, &options);
    }
    rs_body_state state;
    rs_body_get_state(world, c->def.object, &state);
    memcpy(state.position, row, sizeof state.position);
    memcpy(state.quaternion, row + 3, sizeof state.quaternion);
    return rs_body_set_state(world, c->def.object, &state);
}

static rs_status write_twist(const rs_channel *c, rs_world *world, const double *row) {
    rs_body_state state;
    rs_body_get_state(world, c->def.object, &state);
    memcpy(state.linear_velocity, row, sizeof state.linear_velocity);
    memcpy(state.angular_velocity, row + 3, sizeof state.angular_velocity);
    return rs_body_set_state(world, c->def.object, &state);
}

static rs_status write_wrenches(const rs_channel *c, rs_world *world, const double *row) {
    rs_status status = RS_OK;
    for (int32_t k = 0; k < c->def.link_count && status == RS_OK; k++)
        status = rs_object_set_command_wrench(world, c->def.object, c->def.links[k], &row[6 * k], &row[6 * k + 3]);
    return status;
}

/* The numbers of a mass that one channel holds; the others stay. */
static void put_mass(int32_t kind, const double *row, int32_t k, double *mass, double *com, double *inertia) {
    if (kind == RS_CHANNEL_MASS)
        *mass = row[k];
    else if (kind == RS_CHANNEL_COM)
        memcpy(com, &row[3 * k], 3 * sizeof *com);
    else
        memcpy(inertia, &row[6 * k], 6 * sizeof *inertia);
}

static rs_status write_masses(const rs_channel *c, rs_world *world, rs_body *body, const double *row,
                              RS_ARRAY(rs_link_def) *scratch) {
    rs_articulation *a = body->articulation;
    if (a == NULL) {
        rs_body_properties p;
        rs_body_get_properties(world, c->def.object, &p);
        put_mass(c->def.kind, row, 0, &p.mass, p.com, p.inertia);
        return rs_body_set_properties(world, c->def.object, &p);
    }
    const int32_t count = c->def.link_count;
    rs_tree_model *model = NULL;
    for (int32_t k = 0; k < count; k++) { /* links of a thousand members do not lie in the cache */
        const rs_link *link = &a->links[c->def.links[k]];
        __builtin_prefetch(&link->mass, 1);
        __builtin_prefetch(&link->inertia.yz, 1);
        __builtin_prefetch(&link->mass_com, 1);
        __builtin_prefetch(&link->inertia_origin.yz, 1);
    }
    rs_status status = rs_array_resize(scratch, count);
    rs_link_def *defs = scratch->items;
    for (int32_t k = 0; k < count && status == RS_OK; k++) { /* all are checked before the first one changes */
        const rs_link *link = &a->links[c->def.links[k]];
        const rs_sym3 *i = &link->inertia;
        defs[k] = (rs_link_def){.mass = link->mass, .inertia = {i->xx, i->yy, i->zz, i->xy, i->xz, i->yz}};
        rs_v3_store(defs[k].com, link->com);
        put_mass(c->def.kind, row, k, &defs[k].mass, defs[k].com, defs[k].inertia);
        status = rs_tree_model_check_mass(c->def.links[k], &defs[k]);
    }
    if (status == RS_OK) {
        model = rs_articulation_own_model(a);
        status = model != NULL ? RS_OK : RS_OUT_OF_MEMORY;
    }
    if (status == RS_OK) {
        rs_tree_model_set_masses(model, count, c->def.links, defs);
        a->carried.known = false;
        a->placed_at = NULL;
        rs_world_touch_body(world, body);
    }
    return status;
}

static rs_status write_material(const rs_channel *c, rs_world *world, const double *row) {
    rs_material_pair pair;
    memcpy(&pair, row, sizeof pair);
    return rs_material_set_pair(world, c->def.material_a, c->def.material_b, &pair);
}

static rs_status write_row(const rs_channel *c, rs_world *world, const double *row, RS_ARRAY(rs_link_def) *scratch) {
    rs_body *body = c->def.object != 0 ? rs_world_body(world, c->def.object) : NULL;
    if (c->def.object != 0 && body == NULL)
        return RS_UNKNOWN_OBJECT;
    switch (c->def.kind) {
    case RS_CHANNEL_FIELD: return write_field(c, world, body, row);
    case RS_CHANNEL_POSE: return write_pose(c, world, body, row);
    case RS_CHANNEL_TWIST: return write_twist(c, world, row);
    case RS_CHANNEL_LINK_WRENCH: return write_wrenches(c, world, row);
    case RS_CHANNEL_MATERIAL: return write_material(c, world, row);
    case RS_CHANNEL_GRAVITY: return rs_world_set_gravity(world, row);
    case RS_CHANNEL_CONTROL:
        return rs_articulation_actuate(world, c->def.object, c->def.actuator_count, c->def.actuators, row);
    default: return write_masses(c, world, body, row, scratch);
    }
}

bool rs_channel_is_written(const rs_channel *c, int64_t member) {
    size_t at = (size_t)member * c->row_bytes;
    return c->known != NULL && memcmp(c->rows + at, c->known + at, c->row_bytes) != 0;
}

rs_status rs_channel_write(const rs_channel *c, rs_world *world, int64_t member, RS_ARRAY(rs_link_def) *link_room) {
    size_t at = (size_t)member * c->row_bytes;
    if (!rs_channel_is_written(c, member))
        return RS_OK;
    rs_status status = write_row(c, world, (const double *)(const void *)(c->rows + at), link_room);
    if (status == RS_OK)
        memcpy(c->known + at, c->rows + at, c->row_bytes);
    return status;
}
