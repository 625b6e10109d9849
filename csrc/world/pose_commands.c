/* Loads on bodies and links until further notice, and bodies that follow commanded poses. */
#include "world.h"

static rs_pose_controller *controller_of(rs_world *world, const rs_body *body) {
    return body->controller > 0 ? RS_ITEM(world->data.controllers, body->controller - 1) : NULL;
}

static rs_body *body_of(rs_world *world, const rs_pose_controller *controller) {
    return RS_ITEM(world->data.bodies, controller->body);
}

/* ---- commands ---- */

static rs_status check_gain(const char *name, const double values[3]) {
    rs_status status = RS_OK;
    for (int k = 0; k < 3 && status == RS_OK; k++)
        status = rs_check_not_negative(name, values[k]);
    return status;
}

static rs_status check_gains(const rs_pose_gains *gains) {
    rs_status status = check_gain("linear gain", gains->linear);
    RS_THEN(status, check_gain("angular gain", gains->angular));
    RS_THEN(status, rs_check_finite("angular shape", gains->angular_shape, 6));
    RS_THEN(status, rs_check_not_negative("carried mass", gains->carried_mass));
    RS_THEN(status, rs_check_not_negative("force limit", gains->force_limit));
    return status == RS_OK ? rs_check_not_negative("torque limit", gains->torque_limit) : status;
}

static rs_status check_target(const rs_pose_target *target, rs_quat *q) {
    rs_status status = rs_check_finite("linear velocity", target->linear_velocity, 3);
    RS_THEN(status, rs_check_finite("angular velocity", target->angular_velocity, 3));
    if (status != RS_OK || target->velocity_only)
        return status;
    status = rs_check_finite("position", target->position, 3);
    return status == RS_OK ? rs_load_quaternion(target->quaternion, q) : status;
}

static rs_status check_follows(const rs_body *body) {
    if (rs_carrier_is_dynamic(body, 0))
        return RS_OK;
    return rs_fail(RS_WRONG_TYPE, body->articulation != NULL ? "a robot with a fixed base follows no pose"
                                                             : "only dynamic bodies follow a pose; others are set to it");
}

/* The controller of a body, made at its first command. */
static rs_pose_controller *make_controller(rs_world *world, rs_body *body) {
    rs_pose_controller *controller = controller_of(world, body);
    if (controller != NULL)
        return controller;
    controller = rs_array_push(&world->data.controllers);
    if (controller == NULL)
        return NULL;
    body->controller = (int32_t)world->data.controllers.count;
    rs_carrier_command(body, 0, (rs_pair6){rs_v3_zero(), rs_v3_zero()});
    controller->body = (int32_t)(body - world->data.bodies.items);
    rs_pose_controller_anchor(controller, body);
    return controller;
}

static void measure_robot(const rs_world *world, rs_pose_controller *controller, const rs_body *body) {
    rs_articulation *a = body->articulation;
    rs_world_place_links(world, body);
    rs_composites_sum(a);
    rs_composite whole = rs_composite_of(a, 0);
    controller->robot_mass = whole.mass;
    controller->robot_inertia = (whole.inertia.xx + whole.inertia.yy + whole.inertia.zz) / 3.0;
}

rs_status rs_object_set_command_pose(rs_world *world, rs_object_id id, const rs_pose_gains *gains,
                                     const rs_pose_target *target) {
    rs_quat q = rs_quat_identity();
    rs_status status = check_gains(gains);
    RS_THEN(status, check_target(target, &q));
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    rs_body *body = rs_world_body(world, id);
    status = body == NULL ? RS_UNKNOWN_OBJECT : check_follows(body);
    rs_pose_controller *controller = status == RS_OK ? make_controller(world, body) : NULL;
    if (controller == NULL)
        return rs_world_leave(world, status != RS_OK ? status : RS_OUT_OF_MEMORY);
    if (!target->velocity_only) {
        controller->position = rs_v3_load(target->position);
        controller->quaternion = q;
    } else if (!controller->follows_velocity) {
        rs_pose_controller_anchor(controller, body);
    }
    controller->gains = *gains;
    controller->follows_velocity = target->velocity_only != 0;
    controller->velocity = rs_v3_load(target->linear_velocity);
    controller->omega = rs_v3_load(target->angular_velocity);
    if (body->articulation != NULL)
        measure_robot(world, controller, body);
    rs_world_rouse(world, body);
    return rs_world_leave(world, RS_OK);
}

/* The body that is alone or stands for a robot; NULL with the status set when there is none with such a link. */
static rs_body *owner_of(rs_world *world, rs_object_id id, int32_t link, rs_status *status) {
    rs_body *body = rs_world_body(world, id);
    if (body != NULL && body->soft != NULL)
        body = rs_world_single_body(world, id); /* says what is wrong */
    *status = body == NULL ? RS_UNKNOWN_OBJECT : RS_OK;
    if (body != NULL && (link < 0 || link >= rs_carrier_count(body)))
        *status = rs_fail(RS_INVALID_VALUE, "link is %d; expected 0 to %d", link, rs_carrier_count(body) - 1);
    return *status == RS_OK ? body : NULL;
}

rs_status rs_object_set_command_wrench(rs_world *world, rs_object_id id, int32_t link, const double force[3],
                                       const double torque[3]) {
    rs_status status = rs_check_finite_pair("force", force, "torque", torque);
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    rs_body *body = owner_of(world, id, link, &status);
    if (body == NULL)
        return rs_world_leave(world, status);
    if (link == 0)
        rs_world_drop_controller(world, body);
    rs_carrier_command(body, link, (rs_pair6){rs_v3_load(force), rs_v3_load(torque)});
    rs_world_rouse(world, body);
    return rs_world_leave(world, RS_OK);
}

rs_status rs_object_clear_loads(rs_world *world, rs_object_id id) {
    rs_status status;
    rs_world_enter(world);
    rs_body *body = owner_of(world, id, 0, &status);
    if (body != NULL)
        rs_carrier_clear_loads(body);
    return rs_world_leave(world, status);
}

void rs_world_drop_controller(rs_world *world, rs_body *body) {
    rs_pose_controller *controller = controller_of(world, body);
    if (controller == NULL)
        return;
    RS_ARRAY(rs_pose_controller) *all = &world->data.controllers;
    const rs_pose_controller *last = RS_ITEM(*all, all->count - 1);
    body_of(world, last)->controller = body->controller;
    *controller = *last;
    all->count--;
    body->controller = 0;
    rs_carrier_command(body, 0, (rs_pair6){rs_v3_zero(), rs_v3_zero()});
}

void rs_world_anchor_controller(rs_world *world, rs_body *body) {
    rs_pose_controller *controller = controller_of(world, body);
    if (controller != NULL && controller->follows_velocity)
        rs_pose_controller_anchor(controller, body);
}

/* ---- stages ---- */

void rs_world_wake_controlled(rs_world *world) {
    for (int64_t k = 0; k < world->data.controllers.count; k++)
        rs_world_rouse(world, body_of(world, RS_ITEM(world->data.controllers, k)));
}

void rs_world_update_controllers(rs_world *world) {
    rs_world_data *data = &world->data;
    for (int64_t k = 0; k < data->controllers.count; k++) {
        rs_pose_controller *controller = RS_ITEM(data->controllers, k);
        rs_body *body = body_of(world, controller);
        rs_pose_controller_update(controller, body, data->gravity, data->dt);
        if (body->articulation != NULL)
            rs_carrier_command(body, 0, rs_pose_controller_base_wrench(controller));
    }
}

void rs_world_drive_controlled(rs_world *world) {
    rs_solver_body *solver = world->solver_bodies.items;
    for (int64_t k = 0; k < world->data.controllers.count; k++) {
        const rs_pose_controller *controller = RS_ITEM(world->data.controllers, k);
        const rs_body *body = body_of(world, controller);
        if (body->articulation == NULL)
            rs_pose_controller_drive(controller, body, world->data.dt, &solver[controller->body]);
    }
}

void rs_world_report_controllers(rs_world *world) {
    for (int64_t k = 0; k < world->data.controllers.count; k++) {
        const rs_pose_controller *controller = RS_ITEM(world->data.controllers, k);
        rs_body *body = body_of(world, controller);
        if (body->articulation == NULL)
            rs_pose_controller_report(controller, body);
    }
}
