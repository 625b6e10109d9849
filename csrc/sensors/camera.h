/* Cameras: +x forward, y left, z up; square pixels, rows from the top, columns from the left. */
#ifndef RS_SENSORS_CAMERA_H
#define RS_SENSORS_CAMERA_H

#include "colors.h"
#include "noise.h"
#include "ray_scene.h"

/* Where the pixels go; any pointer may be NULL. */
typedef struct {
    float *depth;    /* along +x [m]; NaN: nothing within near..far */
    int32_t *bodies; /* index of the body; RS_NONE: none */
    int32_t *links;  /* index of the link, 0 for a single body; RS_NONE: none */
    double *points;  /* world frame [m], without noise; NaN */
} rs_depth_image;

/* `pool` (may be NULL) shares the rows of the image. */
void rs_camera_depth(const rs_ray_scene *scene, const rs_depth_camera *camera, const rs_ray_filter *filter,
                     rs_thread_pool *pool, const rs_depth_image *image);

/* Shaded colours, 3 bytes a pixel. */
void rs_camera_color(const rs_ray_scene *scene, const rs_depth_camera *camera, const rs_ray_filter *filter,
                     const rs_light *light, const rs_colors *colors, rs_thread_pool *pool, uint8_t *rgb);

#endif
