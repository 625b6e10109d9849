#include "articulated.h"

/* Columns of one joint for a point at `arm` from the joint's link origin. */
static int32_t joint_columns(const rs_articulation *a, int32_t i, rs_vec3 arm, rs_jacobian_column *out) {
    const rs_link *link = &a->links[i];
    const rs_link_motion *m = &a->motion[i];
    static const rs_vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int32_t k = 0; k < link->u_count; k++) {
        bool slides = link->type == RS_JOINT_PRISMATIC || (link->type == RS_JOINT_FLOATING && k < 3);
        rs_vec3 axis = link->u_count == 1                  ? m->axis
                       : link->type == RS_JOINT_SPHERICAL ? rs_m3_col(&m->joint_frame, k)
                                                          : unit[k % 3];
        out[k] = slides ? (rs_jacobian_column){link->u_first + k, axis, rs_v3_zero()}
                        : (rs_jacobian_column){link->u_first + k, rs_cross(axis, arm), axis};
    }
    return link->u_count;
}

/* Derivatives: the axis turns with the parent (a floating base's axes stand still), the arm changes with the
 * velocity of the point against the link origin. */
static int32_t joint_derivatives(const rs_articulation *a, int32_t i, rs_vec3 arm, rs_vec3 arm_rate,
                                 rs_jacobian_column *out) {
    const rs_link *link = &a->links[i];
    int32_t count = joint_columns(a, i, arm, out);
    rs_vec3 w = link->parent >= 0 ? a->motion[link->parent].w : rs_v3_zero();
    for (int32_t k = 0; k < count; k++) {
        rs_vec3 axis = out[k].angular, axis_rate = rs_cross(w, axis);
        bool slides = link->type == RS_JOINT_PRISMATIC;
        out[k].linear = slides ? rs_cross(w, out[k].linear)
                               : rs_add(rs_cross(axis_rate, arm), rs_cross(axis, arm_rate));
        out[k].angular = axis_rate;
    }
    return count;
}

typedef int32_t (*column_writer)(const rs_articulation *a, int32_t i, rs_vec3 arm, rs_vec3 arm_rate,
                                 rs_jacobian_column *out);

static int32_t plain_columns(const rs_articulation *a, int32_t i, rs_vec3 arm, rs_vec3 arm_rate, rs_jacobian_column *out) {
    (void)arm_rate;
    return joint_columns(a, i, arm, out);
}

/* Joints on the way from the link to the root, written from the back so that the indices ascend. */
static int32_t collect_columns(const rs_articulation *a, int32_t link, rs_vec3 point, column_writer write,
                               rs_jacobian_column *out) {
    rs_vec3 v = rs_link_point_velocity(a, link, rs_sub(point, a->motion[link].pos));
    int32_t total = 0;
    for (int32_t i = link; i >= 0; i = a->links[i].parent)
        total += a->links[i].u_count;
    int32_t end = total;
    for (int32_t i = link; i >= 0; i = a->links[i].parent) {
        end -= a->links[i].u_count;
        write(a, i, rs_sub(point, a->motion[i].pos), rs_sub(v, a->motion[i].v), &out[end]);
    }
    return total;
}

int32_t rs_jacobian(const rs_articulation *a, int32_t link, rs_vec3 point, rs_jacobian_column *out) {
    return collect_columns(a, link, point, plain_columns, out);
}

int32_t rs_jacobian_derivative(const rs_articulation *a, int32_t link, rs_vec3 point, rs_jacobian_column *out) {
    return collect_columns(a, link, point, joint_derivatives, out);
}
