/* How points of links move with the joints: Jacobians, and velocities by them. */
#include "articulated.h"

/* Columns of one joint for a point at `arm` from the joint's link origin. */
static void joint_columns(const rs_articulation *a, int32_t i, rs_vec3 arm, rs_vec3 arm_rate, rs_jacobian_column *out) {
    (void)arm_rate;
    const rs_link *link = &a->links[i];
    for (int32_t k = 0; k < link->u_count; k++) {
        rs_pair6 motion = rs_shift_motion(rs_joint_column(link, &a->motion[i], k), arm);
        out[k] = (rs_jacobian_column){link->u_first + k, motion.lin, motion.ang};
    }
}

/* Derivatives: the directions turn with the parent (a floating base's stand still), the arm changes with the velocity of
 * the point against the link origin. */
static void joint_derivatives(const rs_articulation *a, int32_t i, rs_vec3 arm, rs_vec3 arm_rate,
                              rs_jacobian_column *out) {
    const rs_link *link = &a->links[i];
    rs_vec3 w = link->parent >= 0 ? a->motion[link->parent].w : rs_v3_zero();
    for (int32_t k = 0; k < link->u_count; k++) {
        rs_pair6 s = rs_joint_column(link, &a->motion[i], k), rate = {rs_cross(w, s.lin), rs_cross(w, s.ang)};
        rs_pair6 motion = rs_shift_motion(rate, arm);
        out[k] = (rs_jacobian_column){link->u_first + k, rs_add(motion.lin, rs_cross(s.ang, arm_rate)), motion.ang};
    }
}

typedef void (*column_writer)(const rs_articulation *a, int32_t i, rs_vec3 arm, rs_vec3 arm_rate, rs_jacobian_column *out);

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
    return collect_columns(a, link, point, joint_columns, out);
}

rs_pair6 rs_link_twist(rs_articulation *a, int32_t link, const double *u) {
    rs_pair6 sum = {rs_v3_zero(), rs_v3_zero()};
    int32_t count = rs_jacobian(a, link, a->motion[link].pos, a->columns);
    for (int32_t k = 0; k < count; k++) {
        const rs_jacobian_column *column = &a->columns[k];
        sum.lin = rs_madd(sum.lin, u[column->index], column->linear);
        sum.ang = rs_madd(sum.ang, u[column->index], column->angular);
    }
    return sum;
}

int32_t rs_jacobian_derivative(const rs_articulation *a, int32_t link, rs_vec3 point, rs_jacobian_column *out) {
    return collect_columns(a, link, point, joint_derivatives, out);
}
