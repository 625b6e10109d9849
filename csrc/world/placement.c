#include "placement.h"

void rs_place_collider(rs_collider *collider, const rs_carrier_motion *by, const rs_world_data *data) {
    collider->pose = collider->local_identity ? by->pose : rs_transform_mul(&by->pose, &collider->local);
    collider->reach = collider->foresight = collider->swing = 0.0;
    collider->swept = false;
    collider->way = (rs_way){0};
    if (collider->active) {
        const rs_contact_settings *settings = &data->contact;
        double speed = rs_norm(by->velocity), turn = rs_norm(by->omega);
        collider->swing = turn > 0.0 ? by->time * turn * collider->radius : 0.0;
        rs_vec3 fall = collider->dynamic ? rs_scale(data->dt, data->gravity) : rs_v3_zero();
        double travel = by->time * (speed + rs_norm(fall)) + collider->swing;
        collider->way = (rs_way){by->centre, rs_scale(by->time, rs_add(by->velocity, fall)), rs_scale(by->time, by->omega)};
        collider->foresight = rs_min(travel, RS_FORESIGHT * collider->size);
        collider->reach = collider->foresight;
        if (settings->swept_ccd_enabled && collider->dynamic && speed >= settings->swept_ccd_min_speed) {
            collider->swept = travel > collider->foresight;
            collider->foresight = rs_max(collider->foresight, collider->swing); /* the sweep does not turn */
            collider->reach = travel + settings->swept_ccd_speculative_margin;
        }
    }
    rs_aabb box = rs_shape_outer_aabb(&collider->shape, &collider->pose);
    collider->box = rs_aabb_grown(&box, collider->reach + (isfinite(collider->touch) ? collider->touch : 0.0));
}
