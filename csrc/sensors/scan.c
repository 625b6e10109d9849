#include "scan.h"

int64_t rs_scan_lidar(const rs_ray_scene *scene, const rs_lidar *lidar, const rs_ray_filter *filter, double *points) {
    rs_transform pose = rs_transform_make(rs_v3_load(lidar->position), rs_quat_load(lidar->quaternion));
    int64_t found = 0;
    for (int32_t yaw = lidar->yaw_first; yaw <= lidar->yaw_last; yaw++) {
        double yaw_angle = yaw * lidar->yaw_increment * lidar->spin_direction;
        double cos_yaw = cos(yaw_angle), sin_yaw = sin(yaw_angle);
        for (int32_t pitch = 0; pitch < lidar->pitch_samples; pitch++) {
            double pitch_angle = lidar->pitch_min + pitch * lidar->pitch_increment;
            double cos_pitch = cos(pitch_angle);
            rs_vec3 local = {cos_pitch * cos_yaw, cos_pitch * sin_yaw, sin(pitch_angle)};
            rs_ray ray = {pose.pos, rs_m3_mulv(&pose.rot, local), lidar->range_max};
            rs_scene_hit hit = rs_ray_scene_cast(scene, &ray, filter);
            if (hit.body != RS_NONE && hit.hit.distance >= lidar->range_min)
                rs_v3_store(&points[3 * found++], rs_scale(hit.hit.distance, local));
        }
    }
    return found;
}

void rs_scan_depth(const rs_ray_scene *scene, const rs_depth_camera *camera, const rs_ray_filter *filter, float *depth,
                   int32_t *bodies, double *points) {
    rs_transform pose = rs_transform_make(rs_v3_load(camera->position), rs_quat_load(camera->quaternion));
    double pixel = 2.0 * tan(0.5 * camera->horizontal_fov) / camera->width; /* at distance 1 */
    for (int32_t row = 0; row < camera->height; row++)
        for (int32_t column = 0; column < camera->width; column++) {
            int64_t i = (int64_t)row * camera->width + column;
            rs_vec3 local = {1.0, pixel * (0.5 * camera->width - column - 0.5), pixel * (0.5 * camera->height - row - 0.5)};
            double stretch = rs_norm(local); /* distance along the ray for depth 1 */
            rs_ray ray = {pose.pos, rs_m3_mulv(&pose.rot, rs_scale(1.0 / stretch, local)), stretch * camera->far};
            rs_scene_hit hit = rs_ray_scene_cast(scene, &ray, filter);
            double z = hit.hit.distance / stretch;
            bool seen = hit.body != RS_NONE && z >= camera->near;
            depth[i] = seen ? (float)z : NAN;
            bodies[i] = seen ? hit.body : RS_NONE;
            if (points != NULL)
                rs_v3_store(&points[3 * i], seen ? rs_madd(ray.origin, hit.hit.distance, ray.direction)
                                                 : rs_v3(NAN, NAN, NAN));
        }
}
