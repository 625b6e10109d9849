/* Tendons and drives of articulated systems in the world. */
#include "../dynamics/tendons.h"
#include "world.h"

#include <string.h>

static rs_articulation *with_tendon(rs_world *world, rs_object_id id, int32_t tendon, rs_body **body, rs_status *status) {
    rs_articulation *a = rs_world_articulation(world, id, body);
    *status = a == NULL ? RS_UNKNOWN_OBJECT : RS_OK;
    if (a != NULL && (tendon < 0 || tendon >= a->tendon_count))
        *status = rs_fail(RS_INVALID_VALUE, "tendon is %d; expected 0 to %d", tendon, a->tendon_count - 1);
    return *status == RS_OK ? a : NULL;
}

/* The same with the tendons placed where the links are. */
static rs_articulation *with_placed_tendon(rs_world *world, rs_object_id id, int32_t tendon, rs_status *status) {
    rs_body *body;
    rs_articulation *a = with_tendon(world, id, tendon, &body, status);
    if (a != NULL) {
        rs_world_place_links(world, body);
        rs_tendons_place(a, a->placed_at);
    }
    return a;
}

rs_status rs_articulation_get_tendon(rs_world *world, rs_object_id id, int32_t tendon, double out[6]) {
    rs_status status;
    rs_world_enter_to_read(world);
    const rs_articulation *a = with_placed_tendon(world, id, tendon, &status);
    if (a != NULL) {
        const rs_tendon_impulses *impulses = &a->tendon_impulses[tendon];
        double forces[4] = {0.0, impulses->passive, impulses->friction, impulses->limit};
        for (int32_t k = 0; k < a->drive_count; k++)
            forces[0] += a->drives[k].tendon == tendon ? a->drive_impulse[k] : 0.0;
        out[0] = a->tendon_places[tendon].length;
        out[1] = rs_tendon_speed(a, &a->tendons[tendon], a->u);
        for (int k = 0; k < 4; k++)
            out[2 + k] = forces[k] / world->data.dt;
    }
    return rs_world_leave(world, status);
}

rs_status rs_articulation_tendon_arms(rs_world *world, rs_object_id id, int32_t tendon, double *out) {
    rs_status status;
    rs_world_enter_to_read(world);
    const rs_articulation *a = with_placed_tendon(world, id, tendon, &status);
    if (a != NULL) {
        memset(out, 0, sizeof *out * (size_t)a->u_count);
        rs_tendon_pull(a, &a->tendons[tendon], 1.0, out);
    }
    return rs_world_leave(world, status);
}

static rs_articulation *with_drives(rs_world *world, rs_object_id id, int32_t count, rs_body **body, rs_status *status) {
    rs_articulation *a = rs_world_articulation(world, id, body);
    *status = a == NULL ? RS_UNKNOWN_OBJECT : RS_OK;
    if (a != NULL && count != a->drive_count)
        *status = rs_fail(RS_INVALID_VALUE, "%d numbers for drives; expected %d", count, a->drive_count);
    return *status == RS_OK ? a : NULL;
}

rs_status rs_articulation_get_drives(rs_world *world, rs_object_id id, int32_t count, double *controls, double *activations) {
    rs_body *body;
    rs_status status;
    rs_world_enter_to_read(world);
    const rs_articulation *a = with_drives(world, id, count, &body, &status);
    if (a != NULL) {
        memcpy(controls, a->drive_control, sizeof *controls * (size_t)count);
        memcpy(activations, a->activation, sizeof *activations * (size_t)count);
    }
    return rs_world_leave(world, status);
}

rs_status rs_articulation_activate(rs_world *world, rs_object_id id, int32_t count, const double *activations) {
    rs_body *body;
    rs_status status = rs_check_finite("activation", activations, count);
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    rs_articulation *a = with_drives(world, id, count, &body, &status);
    if (a != NULL) {
        for (int32_t k = 0; k < count; k++)
            a->activation[k] = a->drives[k].dynamics == RS_DYNAMICS_NONE ? 0.0 : activations[k];
        rs_world_rouse(world, body);
    }
    return rs_world_leave(world, status);
}
