/* What cameras take the surfaces for: a colour or an image for each shape of a body, or a colour for each sample of its
 * heightmap. */
#ifndef RS_SENSORS_COLORS_H
#define RS_SENSORS_COLORS_H

#include "ray_scene.h"

typedef struct {
    const rs_color_rows *of_body; /* rows of each body */
    const rs_looks *looks;
} rs_colors;

/* Rows that a heightmap needs when every sample has its colour. */
int64_t rs_heightmap_color_rows(const rs_shape *shape);

/* Colour of a target at a point of its surface, world frame; `feature`: of a mesh, the triangle. */
void rs_color_at(const rs_colors *colors, const rs_ray_target *target, int64_t feature, rs_vec3 point, double rgb[3]);

#endif
