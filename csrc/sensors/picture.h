/* Pictures for people: soft shadows, light of the sky, smooth edges. */
#ifndef RS_SENSORS_PICTURE_H
#define RS_SENSORS_PICTURE_H

#include "colors.h"
#include "ray_scene.h"

/* Colours (sRGB), 3 bytes a pixel. `colors` are shares of light, not sRGB. `marks` is scratch, two numbers a pixel. */
void rs_camera_picture(const rs_ray_scene *scene, const rs_depth_camera *camera, const rs_ray_filter *filter,
                       const rs_picture *style, const rs_colors *colors, uint32_t *marks, uint8_t *rgb);

#endif
