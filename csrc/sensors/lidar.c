#include "lidar.h"

#include <string.h>

/* A bundle is a block of neighbours: columns lie closer together than rows. A lidar that moves while it turns has
 * another origin in every column, so that a bundle is a piece of one. */
enum { STILL_PITCHES = 2, MOVING_PITCHES = RS_LANES };

/* Sines and cosines of equally spaced angles. */
static void fill_angles(double first, double increment, int64_t count, double *cosines, double *sines) {
    for (int64_t i = 0; i < count; i++) {
        double angle = first + (double)i * increment;
        cosines[i] = cos(angle);
        sines[i] = sin(angle);
    }
}

typedef struct {
    const rs_ray_scene *scene;
    const rs_lidar *lidar;
    const rs_ray_filter *filter;
    const rs_lidar_scan *scan;
    int64_t block_yaws, block_pitches;
    double reach; /* [m] */
    const rs_noise *noise;
    double *distance, *incidence;
} lidar_job;

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Directions of the block that begins at (yaw, pitch); lanes beyond the border repeat the last ray, unused. */
static void aim(const lidar_job *job, const rs_transform *pose, int64_t yaw, int64_t pitch, rs_packet_rays *rays,
                rs_packet_hits *hits) {
    const rs_lidar_scan *scan = job->scan;
    const double *m = pose->rot.m;
    rays->origin = pose->pos;
    for (int l = 0; l < RS_LANES; l++) {
        int64_t y = yaw + l / job->block_pitches, p = pitch + l % job->block_pitches;
        bool used = y < scan->yaws && p < scan->pitches;
        y = smaller(y, scan->yaws - 1);
        p = smaller(p, scan->pitches - 1);
        double dx = scan->cos_pitch[p] * scan->cos_yaw[y], dy = scan->cos_pitch[p] * scan->sin_yaw[y],
               dz = scan->sin_pitch[p];
        rays->x[l] = m[0] * dx + m[1] * dy + m[2] * dz;
        rays->y[l] = m[3] * dx + m[4] * dy + m[5] * dz;
        rays->z[l] = m[6] * dx + m[7] * dy + m[8] * dz;
        hits->distance[l] = used ? job->reach : -1.0;
        hits->target[l] = RS_NO_TARGET;
    }
}

static void note(const lidar_job *job, int64_t yaw, int64_t pitch, const rs_packet_rays *rays, const rs_packet_hits *hits) {
    for (int l = 0; l < RS_LANES; l++) {
        int64_t y = yaw + l / job->block_pitches, p = pitch + l % job->block_pitches;
        if (y >= job->scan->yaws || p >= job->scan->pitches)
            continue;
        int64_t i = y * job->scan->pitches + p;
        bool hit = hits->target[l] != RS_NO_TARGET;
        double distance = hit ? hits->distance[l] : NAN;
        job->distance[i] = hit && rs_noise_is_on(job->noise) ? rs_noise_apply(job->noise, i, distance) : distance;
        if (job->incidence == NULL)
            continue;
        rs_ray ray = rs_packet_ray(rays, l, job->reach);
        job->incidence[i] =
            hit ? fabs(rs_dot(ray.direction, rs_ray_scene_normal(job->scene, &ray, hits->target[l], hits->feature[l]))) : 0.0;
    }
}

/* Rotation at a share of the way from one to the other, the short way round. */
static rs_quat turned_part(rs_quat from, rs_quat to, double share) {
    rs_quat way = rs_quat_mul(rs_quat_conj(from), to);
    rs_vec3 axis = way.w < 0.0 ? rs_v3(-way.x, -way.y, -way.z) : rs_v3(way.x, way.y, way.z);
    double sine = rs_norm(axis);
    double angle = 2.0 * atan2(sine, fabs(way.w));
    return sine > 0.0 ? rs_quat_mul(from, rs_quat_exp(rs_scale(share * angle / sine, axis))) : from;
}

/* Where the lidar is when it casts a column, counted from the first. */
static rs_transform pose_at(const rs_lidar *lidar, int64_t column) {
    rs_vec3 position = rs_v3_load(lidar->position);
    rs_quat turn = rs_quat_load(lidar->quaternion);
    if (lidar->moves) {
        double share = lidar->first_share + (double)column * lidar->share_increment;
        position = rs_lerp(position, rs_v3_load(lidar->end_position), share);
        turn = turned_part(turn, rs_quat_load(lidar->end_quaternion), share);
    }
    return rs_transform_make(position, turn);
}

/* Some neighbouring columns. */
static void cast_columns(void *context, int32_t worker, int64_t item) {
    const lidar_job *job = context;
    int64_t yaw = item * job->block_yaws;
    rs_transform pose = pose_at(job->lidar, yaw);
    rs_packet_rays rays;
    rs_packet_hits hits = {{0}, {0}, {0}};
    (void)worker;
    for (int64_t pitch = 0; pitch < job->scan->pitches; pitch += job->block_pitches) {
        aim(job, &pose, yaw, pitch, &rays, &hits);
        rs_ray_scene_cast_packet(job->scene, &rays, job->filter, &hits);
        note(job, yaw, pitch, &rays, &hits);
    }
}

rs_status rs_lidar_cast(rs_ray_scene *scene, const rs_lidar *lidar, const rs_ray_filter *filter, bool with_incidence,
                        rs_thread_pool *pool, rs_lidar_scan *out) {
    int64_t yaws = (int64_t)lidar->yaw_last - lidar->yaw_first + 1, pitches = lidar->pitch_samples;
    int64_t rays_count = yaws * pitches;
    if (rs_array_resize(&scene->scratch, 2 * (yaws + pitches) + (with_incidence ? 2 : 1) * rays_count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    double *memory = scene->scratch.items;
    double *cos_yaw = memory, *sin_yaw = cos_yaw + yaws, *cos_pitch = sin_yaw + yaws, *sin_pitch = cos_pitch + pitches;
    double *distance = sin_pitch + pitches, *incidence = with_incidence ? distance + rays_count : NULL;
    double step = lidar->yaw_increment * lidar->spin_direction;
    fill_angles(lidar->yaw_first * step, step, yaws, cos_yaw, sin_yaw);
    fill_angles(lidar->pitch_min, lidar->pitch_increment, pitches, cos_pitch, sin_pitch);
    *out = (rs_lidar_scan){yaws, pitches, cos_yaw, sin_yaw, cos_pitch, sin_pitch, distance, incidence};

    int64_t block_pitches = lidar->moves ? MOVING_PITCHES : STILL_PITCHES;
    lidar_job job = {scene, lidar, filter, out, RS_LANES / block_pitches, block_pitches, lidar->range_max, &lidar->noise, distance,
                     incidence};
    rs_pool_share(rays_count < RS_FEW_RAYS ? NULL : pool, (yaws + job.block_yaws - 1) / job.block_yaws, cast_columns, &job);
    return RS_OK;
}

/* In the sensor frame. */
static rs_vec3 direction(const rs_lidar_scan *scan, int64_t yaw, int64_t pitch) {
    double horizontal = scan->cos_pitch[pitch];
    return rs_v3(horizontal * scan->cos_yaw[yaw], horizontal * scan->sin_yaw[yaw], scan->sin_pitch[pitch]);
}

int64_t rs_lidar_points(const rs_lidar *lidar, const rs_lidar_scan *scan, double *points) {
    int64_t found = 0;
    for (int64_t yaw = 0; yaw < scan->yaws; yaw++)
        for (int64_t pitch = 0; pitch < scan->pitches; pitch++) {
            double distance = scan->distance[yaw * scan->pitches + pitch];
            if (distance >= lidar->range_min)
                rs_v3_store(&points[3 * found++], rs_scale(distance, direction(scan, yaw, pitch)));
        }
    return found;
}

static void put(char *at, int64_t offset, double value) {
    if (offset < 0)
        return;
    float single = (float)value;
    memcpy(at + offset, &single, sizeof single);
}

int64_t rs_lidar_write(const rs_lidar *lidar, const rs_lidar_scan *scan, const rs_cloud_layout *layout, char *out) {
    int64_t found = 0;
    for (int64_t yaw = 0; yaw < scan->yaws; yaw++)
        for (int64_t pitch = 0; pitch < scan->pitches; pitch++) {
            int64_t i = yaw * scan->pitches + pitch;
            char *at = out + yaw * layout->yaw_stride + pitch * layout->pitch_stride;
            double distance = scan->distance[i];
            bool valid = distance >= lidar->range_min;
            found += valid;
            rs_vec3 point = rs_scale(valid ? distance : NAN, direction(scan, yaw, pitch));
            put(at, layout->x, point.x);
            put(at, layout->y, point.y);
            put(at, layout->z, point.z);
            /* REP 117: too near is -inf, no return +inf */
            put(at, layout->range, valid ? distance : distance < lidar->range_min ? -INFINITY : INFINITY);
            put(at, layout->intensity, valid && scan->incidence != NULL ? scan->incidence[i] : 0.0);
        }
    return found;
}
