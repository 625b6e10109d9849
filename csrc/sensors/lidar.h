/* Spinning lidars: rows of pitch angles, columns of yaw angles; +x forward, y left, z up. */
#ifndef RS_SENSORS_LIDAR_H
#define RS_SENSORS_LIDAR_H

#include "noise.h"
#include "ray_scene.h"

/* What a scan found, ray by ray, yaw outer, pitch inner. */
typedef struct {
    int64_t yaws, pitches;
    const double *cos_yaw, *sin_yaw, *cos_pitch, *sin_pitch;
    const double *distance;  /* [m] as measured; NaN: no return */
    const double *incidence; /* cosine of the angle between ray and surface normal, 0..1; NULL unless asked for */
} rs_lidar_scan;

/* Casts all rays; `pool` (may be NULL) shares them. The result lies in the scene's scratch memory, until the next scan. */
rs_status rs_lidar_cast(rs_ray_scene *scene, const rs_lidar *lidar, const rs_ray_filter *filter, bool with_incidence,
                        rs_thread_pool *pool, rs_lidar_scan *out);

/* Points in the sensor frame, misses and those nearer than range_min left out; returns their number. */
int64_t rs_lidar_points(const rs_lidar *lidar, const rs_lidar_scan *scan, double *points);

/* Single-precision numbers at the places that the layout gives; returns the number of valid returns. */
int64_t rs_lidar_write(const rs_lidar *lidar, const rs_lidar_scan *scan, const rs_cloud_layout *layout, char *out);

#endif
