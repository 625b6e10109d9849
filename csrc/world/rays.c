/* Ray queries. */
#include "world.h"

/* More rays in one call are a mistake, not a sensor. */
static const int64_t MAX_RAYS = 100000000;

/* Links stand where they are; half-way through a step, where the step takes its dynamics. */
static void place_articulations(rs_world *world) {
    rs_body *bodies = world->data.bodies.items;
    for (int64_t b = 0; b < world->data.bodies.count; b++)
        if (bodies[b].alive)
            rs_world_place_links(world, &bodies[b]);
}

/* The scene, built anew when something changed since the last ray. */
static rs_status fresh_scene(rs_world *world) {
    if (world->ray_scene_version == world->version)
        return RS_OK;
    place_articulations(world);
    rs_status status = rs_ray_scene_build(&world->ray_scene, world->data.bodies.items, world->data.bodies.count,
                                          world->data.colliders.items, world->data.colliders.count);
    if (status == RS_OK)
        world->ray_scene_version = world->version;
    return status;
}

/* What every query begins with; the world is entered. */
static rs_status begin(rs_world *world, const rs_ray_rule *rule, rs_ray_filter *filter) {
    *filter = (rs_ray_filter){RS_NONE, rule->ignored_local, rule->mask, NULL};
    if (rule->ignored != 0) {
        const rs_slot *slot = rs_world_slot(world, rule->ignored);
        if (slot == NULL)
            return RS_UNKNOWN_OBJECT;
        filter->ignored_body = slot->body;
    }
    return fresh_scene(world);
}

static rs_object_id object_of(const rs_world *world, int32_t body) {
    return body == RS_NONE ? 0 : rs_slot_id(world, RS_ITEM(world->data.bodies, body)->slot);
}

static rs_status make_ray(const double *origin, const double *direction, double length, rs_ray *out) {
    rs_status status = rs_check_finite_pair("start", origin, "direction", direction);
    rs_vec3 d = rs_v3_load(direction);
    double norm = rs_norm(d);
    if (status == RS_OK && norm < 1e-300)
        status = rs_fail(RS_INVALID_VALUE, "direction is zero");
    if (status == RS_OK)
        *out = (rs_ray){rs_v3_load(origin), rs_scale(1.0 / norm, d), length};
    return status;
}

rs_status rs_world_cast_rays(rs_world *world, const rs_rays *rays, const rs_ray_rule *rule, const rs_ray_hits *out) {
    if (rays->count < 0 || rays->count > MAX_RAYS)
        return rs_fail(RS_INVALID_VALUE, "%lld rays asked for; expected 0 to %lld", (long long)rays->count, (long long)MAX_RAYS);
    rs_status status = rs_check_positive("length", rays->length);
    if (status != RS_OK)
        return status;
    rs_world_enter_to_read(world);
    rs_ray_filter filter;
    status = begin(world, rule, &filter);
    for (int64_t i = 0; i < rays->count && status == RS_OK; i++) {
        rs_ray ray;
        status = make_ray(&rays->origins[rays->shared_origin ? 0 : 3 * i], &rays->directions[3 * i], rays->length, &ray);
        if (status != RS_OK)
            break;
        rs_scene_hit hit = rs_ray_scene_cast(&world->ray_scene, &ray, &filter);
        bool found = hit.body != RS_NONE;
        if (out->distances != NULL)
            out->distances[i] = found ? hit.hit.distance : NAN;
        if (out->objects != NULL)
            out->objects[i] = object_of(world, hit.body);
        if (out->locals != NULL)
            out->locals[i] = found ? hit.link : RS_NONE;
        if (out->normals != NULL)
            rs_v3_store(&out->normals[3 * i], found ? hit.hit.normal : rs_v3(NAN, NAN, NAN));
    }
    return rs_world_leave(world, status);
}

static rs_status check_pose(const double *position, const double *quaternion) {
    rs_quat q;
    rs_status status = rs_check_finite("position", position, 3);
    return status == RS_OK ? rs_load_quaternion(quaternion, &q) : status;
}

rs_status rs_lidar_valid(const rs_lidar *lidar) {
    rs_status status = check_pose(lidar->position, lidar->quaternion);
    if (status == RS_OK && lidar->moves)
        status = check_pose(lidar->end_position, lidar->end_quaternion);
    const double shares[2] = {lidar->first_share, lidar->share_increment};
    if (status == RS_OK && lidar->moves)
        status = rs_check_finite("shares", shares, 2);
    const double angles[3] = {lidar->yaw_increment, lidar->pitch_min, lidar->pitch_increment};
    RS_THEN(status, rs_check_finite("lidar angles", angles, 3));
    RS_THEN(status, rs_check_positive("range max", lidar->range_max));
    if (status == RS_OK && !(lidar->range_min >= 0.0 && lidar->range_min < lidar->range_max))
        status = rs_fail(RS_INVALID_VALUE, "range min is %g, range max %g; expected 0 <= min < max", lidar->range_min,
                         lidar->range_max);
    if (status == RS_OK && lidar->spin_direction != 1 && lidar->spin_direction != -1)
        status = rs_fail(RS_INVALID_VALUE, "spin direction is %d; expected 1 or -1", lidar->spin_direction);
    int64_t yaws = (int64_t)lidar->yaw_last - lidar->yaw_first + 1;
    if (status == RS_OK && (lidar->pitch_samples < 1 || yaws < 0 || yaws * lidar->pitch_samples > MAX_RAYS))
        status = rs_fail(RS_INVALID_VALUE, "%lld x %d rays; expected at least one row and at most %lld rays",
                         (long long)yaws, lidar->pitch_samples, (long long)MAX_RAYS);
    return status == RS_OK ? rs_noise_valid(&lidar->noise) : status;
}

/* Casts a valid lidar; the scan stays in the world's scratch memory, so whoever calls has entered the world. */
static rs_status cast_lidar(rs_world *world, const rs_lidar *lidar, const rs_ray_rule *rule, bool with_incidence,
                            rs_lidar_scan *scan) {
    rs_ray_filter filter;
    rs_status status = begin(world, rule, &filter);
    return status == RS_OK ? rs_lidar_cast(&world->ray_scene, lidar, &filter, with_incidence, world->pool, scan)
                           : status;
}

rs_status rs_world_scan_lidar(rs_world *world, const rs_lidar *lidar, const rs_ray_rule *rule, double *points,
                              int64_t *count) {
    rs_status status = rs_lidar_valid(lidar);
    if (status != RS_OK)
        return status;
    rs_world_enter_to_read(world);
    rs_lidar_scan scan;
    status = cast_lidar(world, lidar, rule, false, &scan);
    if (status == RS_OK)
        *count = rs_lidar_points(lidar, &scan, points);
    return rs_world_leave(world, status);
}

rs_status rs_world_scan_cloud(rs_world *world, const rs_lidar *lidar, const rs_ray_rule *rule,
                              const rs_cloud_layout *layout, void *out, int64_t *returns) {
    rs_status status = rs_lidar_valid(lidar);
    if (status != RS_OK)
        return status;
    rs_world_enter_to_read(world);
    rs_lidar_scan scan;
    status = cast_lidar(world, lidar, rule, layout->intensity >= 0, &scan);
    if (status == RS_OK)
        *returns = rs_lidar_write(lidar, &scan, layout, out);
    return rs_world_leave(world, status);
}

rs_status rs_depth_camera_valid(const rs_depth_camera *camera) {
    rs_status status = check_pose(camera->position, camera->quaternion);
    if (status == RS_OK && !(camera->horizontal_fov > 0.0 && camera->horizontal_fov < 3.14159))
        status = rs_fail(RS_INVALID_VALUE, "horizontal fov is %g; expected more than 0 and less than pi",
                         camera->horizontal_fov);
    RS_THEN(status, rs_check_positive("far", camera->far));
    if (status == RS_OK && !(camera->near >= 0.0 && camera->near < camera->far))
        status = rs_fail(RS_INVALID_VALUE, "near is %g, far %g; expected 0 <= near < far", camera->near, camera->far);
    if (status == RS_OK && (camera->width < 1 || camera->height < 1 ||
                            (int64_t)camera->width * camera->height > MAX_RAYS))
        status = rs_fail(RS_INVALID_VALUE, "image of %d x %d; expected at least 1 x 1 and at most %lld pixels",
                         camera->width, camera->height, (long long)MAX_RAYS);
    return status == RS_OK ? rs_noise_valid(&camera->noise) : status;
}

/* From indices of bodies to places of their objects in the list. */
static void bodies_to_list(const rs_world *world, int32_t *index, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (index[i] != RS_NONE) {
            int32_t slot = RS_ITEM(world->data.bodies, index[i])->slot;
            index[i] = RS_ITEM(world->data.slots, slot)->list_index;
        }
}

rs_status rs_world_scan_depth(rs_world *world, const rs_depth_camera *camera, const rs_ray_rule *rule, float *depth,
                              int32_t *object_index, int32_t *local_index, double *points) {
    rs_status status = rs_depth_camera_valid(camera);
    if (status != RS_OK)
        return status;
    rs_world_enter_to_read(world);
    rs_ray_filter filter;
    status = begin(world, rule, &filter);
    if (status == RS_OK) {
        rs_depth_image image = {depth, object_index, local_index, points};
        rs_camera_depth(&world->ray_scene, camera, &filter, world->pool, &image);
        if (object_index != NULL)
            bodies_to_list(world, object_index, (int64_t)camera->width * camera->height);
    }
    return rs_world_leave(world, status);
}

static rs_status check_light(const rs_light *light) {
    rs_status status = rs_check_finite("light direction", light->direction, 3);
    if (status == RS_OK && fabs(rs_norm(rs_v3_load(light->direction)) - 1.0) > 1e-6)
        status = rs_fail(RS_INVALID_VALUE, "the light's direction is not a unit vector");
    if (status == RS_OK && !(light->ambient >= 0.0 && light->ambient <= 1.0))
        status = rs_fail(RS_INVALID_VALUE, "ambient light is %g; expected 0 to 1", light->ambient);
    RS_THEN(status, rs_check_finite("light position", light->position, 3));
    RS_THEN(status, rs_check_finite("light color", light->color, 3));
    return status;
}

/* Rows of each body in the table of colours, in the scene's scratch memory. */
static rs_status rows_by_body(rs_world *world, const rs_looks *looks, const rs_color_rows **out) {
    if (looks->object_count != world->data.list.count)
        return rs_fail(RS_INVALID_VALUE, "looks of %lld objects; expected those of the %lld in the world",
                       (long long)looks->object_count, (long long)world->data.list.count);
    RS_ARRAY(double) *scratch = &world->ray_scene.scratch;
    int64_t bodies = world->data.bodies.count;
    if (rs_array_resize(scratch, 2 * bodies) != RS_OK) /* two numbers of the size of a double */
        return RS_OUT_OF_MEMORY;
    rs_color_rows *rows = (rs_color_rows *)scratch->items;
    for (int64_t b = 0; b < bodies; b++) {
        const rs_body *body = RS_ITEM(world->data.bodies, b);
        if (!body->alive)
            continue;
        int32_t place = RS_ITEM(world->data.slots, body->slot)->list_index;
        rows[b] = (rs_color_rows){looks->first[place], looks->first[place + 1] - looks->first[place]};
        const rs_shape *shape = body->first_collider == RS_NONE
                                    ? NULL
                                    : &RS_ITEM(world->data.colliders, body->first_collider)->shape;
        bool by_sample = shape != NULL && shape->type == RS_SHAPE_HEIGHTMAP &&
                         rows[b].count == rs_heightmap_color_rows(shape);
        int32_t shapes = body->soft != NULL ? 1 : body->collider_count;
        if (rows[b].count != 0 && rows[b].count != shapes && !by_sample)
            return rs_fail(RS_INVALID_VALUE, "object %d has %lld colours; expected one for each of its %d shapes", place,
                           (long long)rows[b].count, shapes);
    }
    *out = rows;
    return RS_OK;
}

/* Enters the world for a picture in colours; `status` says whether its own numbers were right. */
static rs_status enter_colored(rs_world *world, rs_status status, const rs_depth_camera *camera, const rs_ray_rule *rule,
                               const rs_looks *looks, rs_ray_filter *filter, rs_colors *colors) {
    rs_world_enter_to_read(world);
    RS_THEN(status, rs_depth_camera_valid(camera));
    RS_THEN(status, begin(world, rule, filter));
    RS_THEN(status, rows_by_body(world, looks, &filter->looks));
    if (status == RS_OK)
        *colors = (rs_colors){filter->looks, looks};
    return status;
}

rs_status rs_world_scan_color(rs_world *world, const rs_depth_camera *camera, const rs_ray_rule *rule,
                              const rs_light *light, const rs_looks *looks, uint8_t *rgb) {
    rs_ray_filter filter;
    rs_colors colors;
    rs_status status = enter_colored(world, check_light(light), camera, rule, looks, &filter, &colors);
    if (status == RS_OK)
        rs_camera_color(&world->ray_scene, camera, &filter, light, &colors, world->pool, rgb);
    return rs_world_leave(world, status);
}

static rs_status check_picture(const rs_picture *style) {
    rs_status status = rs_check_finite("sun", style->sun, 3);
    RS_THEN(status, rs_check_positive("fade", style->fade));
    if (status == RS_OK && (style->samples < 1 || style->samples > 4096))
        status = rs_fail(RS_INVALID_VALUE, "%d samples a pixel; expected 1 to 4096", style->samples);
    return status;
}

rs_status rs_world_paint(rs_world *world, const rs_depth_camera *camera, const rs_ray_rule *rule,
                         const rs_picture *style, const rs_looks *looks, uint32_t *scratch, uint8_t *rgb) {
    rs_ray_filter filter;
    rs_colors colors;
    rs_status status = enter_colored(world, check_picture(style), camera, rule, looks, &filter, &colors);
    if (status == RS_OK)
        rs_camera_picture(&world->ray_scene, camera, &filter, style, &colors, scratch, rgb);
    return rs_world_leave(world, status);
}
