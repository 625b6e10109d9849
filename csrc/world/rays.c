/* Ray queries. */
#include "world.h"

/* More rays in one call are a mistake, not a sensor. */
static const int64_t MAX_RAYS = 100000000;

/* The scene, built anew when something changed since the last ray. */
static rs_status fresh_scene(rs_world *world) {
    if (world->ray_scene_version == world->version)
        return RS_OK;
    rs_status status = rs_ray_scene_build(&world->ray_scene, RS_ITEMS(rs_body, world->data.bodies),
                                          RS_ITEMS(rs_collider, world->data.colliders), world->data.colliders.count);
    if (status == RS_OK)
        world->ray_scene_version = world->version;
    return status;
}

/* What every query begins with; the world is entered. */
static rs_status begin(rs_world *world, rs_object_id ignored, uint64_t mask, rs_ray_filter *filter) {
    *filter = (rs_ray_filter){RS_NONE, mask};
    if (ignored != 0) {
        const rs_slot *slot = rs_world_slot(world, ignored);
        if (slot == NULL)
            return RS_UNKNOWN_OBJECT;
        filter->ignored_body = slot->body;
    }
    return fresh_scene(world);
}

static rs_object_id object_of(const rs_world *world, int32_t body) {
    return body == RS_NONE ? 0 : rs_slot_id(world, RS_ITEMS(rs_body, world->data.bodies)[body].slot);
}

static rs_status make_ray(const double *origin, const double *direction, double length, rs_ray *out) {
    rs_status status = rs_check_finite("start", origin, 3);
    if (status == RS_OK)
        status = rs_check_finite("direction", direction, 3);
    rs_vec3 d = rs_v3_load(direction);
    double norm = rs_norm(d);
    if (status == RS_OK && norm < 1e-300)
        status = rs_fail(RS_INVALID_VALUE, "direction is zero");
    if (status == RS_OK)
        *out = (rs_ray){rs_v3_load(origin), rs_scale(1.0 / norm, d), length};
    return status;
}

rs_status rs_world_cast_rays(rs_world *world, int64_t count, const double *origins, int32_t shared_origin,
                             const double *directions, double length, rs_object_id ignored, uint64_t mask,
                             double *distances, rs_object_id *objects, double *normals) {
    if (count < 0 || count > MAX_RAYS)
        return rs_fail(RS_INVALID_VALUE, "%lld rays asked for; expected 0 to %lld", (long long)count, (long long)MAX_RAYS);
    rs_status status = rs_check_positive("length", length);
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    rs_ray_filter filter;
    status = begin(world, ignored, mask, &filter);
    for (int64_t i = 0; i < count && status == RS_OK; i++) {
        rs_ray ray;
        status = make_ray(&origins[shared_origin ? 0 : 3 * i], &directions[3 * i], length, &ray);
        if (status != RS_OK)
            break;
        rs_scene_hit hit = rs_ray_scene_cast(&world->ray_scene, &ray, &filter);
        bool found = hit.body != RS_NONE;
        if (distances != NULL)
            distances[i] = found ? hit.hit.distance : NAN;
        if (objects != NULL)
            objects[i] = object_of(world, hit.body);
        if (normals != NULL)
            rs_v3_store(&normals[3 * i], found ? hit.hit.normal : rs_v3(NAN, NAN, NAN));
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
    const double angles[3] = {lidar->yaw_increment, lidar->pitch_min, lidar->pitch_increment};
    if (status == RS_OK)
        status = rs_check_finite("lidar angles", angles, 3);
    if (status == RS_OK)
        status = rs_check_positive("range max", lidar->range_max);
    if (status == RS_OK && !(lidar->range_min >= 0.0 && lidar->range_min < lidar->range_max))
        status = rs_fail(RS_INVALID_VALUE, "range min is %g, range max %g; expected 0 <= min < max", lidar->range_min,
                         lidar->range_max);
    if (status == RS_OK && lidar->spin_direction != 1 && lidar->spin_direction != -1)
        status = rs_fail(RS_INVALID_VALUE, "spin direction is %d; expected 1 or -1", lidar->spin_direction);
    int64_t yaws = (int64_t)lidar->yaw_last - lidar->yaw_first + 1;
    if (status == RS_OK && (lidar->pitch_samples < 1 || yaws < 0 || yaws * lidar->pitch_samples > MAX_RAYS))
        status = rs_fail(RS_INVALID_VALUE, "%lld x %d rays; expected at least one row and at most %lld rays",
                         (long long)yaws, lidar->pitch_samples, (long long)MAX_RAYS);
    return status;
}

rs_status rs_world_scan_lidar(rs_world *world, const rs_lidar *lidar, rs_object_id ignored, uint64_t mask,
                              double *points, int64_t *count) {
    rs_status status = rs_lidar_valid(lidar);
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    rs_ray_filter filter;
    status = begin(world, ignored, mask, &filter);
    if (status == RS_OK)
        *count = rs_scan_lidar(&world->ray_scene, lidar, &filter, points);
    return rs_world_leave(world, status);
}

rs_status rs_depth_camera_valid(const rs_depth_camera *camera) {
    rs_status status = check_pose(camera->position, camera->quaternion);
    if (status == RS_OK && !(camera->horizontal_fov > 0.0 && camera->horizontal_fov < 3.14159))
        status = rs_fail(RS_INVALID_VALUE, "horizontal fov is %g; expected more than 0 and less than pi",
                         camera->horizontal_fov);
    if (status == RS_OK)
        status = rs_check_positive("far", camera->far);
    if (status == RS_OK && !(camera->near >= 0.0 && camera->near < camera->far))
        status = rs_fail(RS_INVALID_VALUE, "near is %g, far %g; expected 0 <= near < far", camera->near, camera->far);
    if (status == RS_OK && (camera->width < 1 || camera->height < 1 ||
                            (int64_t)camera->width * camera->height > MAX_RAYS))
        status = rs_fail(RS_INVALID_VALUE, "image of %d x %d; expected at least 1 x 1 and at most %lld pixels",
                         camera->width, camera->height, (long long)MAX_RAYS);
    return status;
}

rs_status rs_world_scan_depth(rs_world *world, const rs_depth_camera *camera, rs_object_id ignored, uint64_t mask,
                              float *depth, int32_t *object_index, double *points) {
    rs_status status = rs_depth_camera_valid(camera);
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    rs_ray_filter filter;
    status = begin(world, ignored, mask, &filter);
    if (status == RS_OK) {
        rs_scan_depth(&world->ray_scene, camera, &filter, depth, object_index, points);
        for (int64_t i = 0; i < (int64_t)camera->width * camera->height; i++)
            if (object_index[i] != RS_NONE) {
                int32_t slot = RS_ITEMS(rs_body, world->data.bodies)[object_index[i]].slot;
                object_index[i] = RS_ITEMS(rs_slot, world->data.slots)[slot].list_index;
            }
    }
    return rs_world_leave(world, status);
}
