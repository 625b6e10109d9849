/* Patterns of rays: spinning lidars and depth cameras. Both look along +x, y is left, z is up. */
#ifndef RS_SENSORS_SCAN_H
#define RS_SENSORS_SCAN_H

#include "ray_scene.h"

/* Points in the sensor frame, misses left out; returns their number. `points` has room for all rays. */
int64_t rs_scan_lidar(const rs_ray_scene *scene, const rs_lidar *lidar, const rs_ray_filter *filter, double *points);

/* Pixels row by row, the first row on top: depth along +x (NaN: nothing within near..far), body index (RS_NONE: none)
 * and world points (NaN). `points` may be NULL. */
void rs_scan_depth(const rs_ray_scene *scene, const rs_depth_camera *camera, const rs_ray_filter *filter, float *depth,
                   int32_t *bodies, double *points);

#endif
