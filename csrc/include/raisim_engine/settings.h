/* Settings of the solver, of contact detection and of sleeping. See raisim_engine.h. */
#ifndef RAISIM_ENGINE_SETTINGS_H
#define RAISIM_ENGINE_SETTINGS_H

#include "core.h"

/* cdef begin */

typedef struct {
    double erp, erp2;      /* push-out and its damping, no unit */
    int32_t max_iterations;
    double threshold;      /* sweeps end when violations of the contact laws, squared and relative to the approach speed, fall
                              below about this */
    int32_t fixed_order;   /* nonzero: the sweep direction does not flip between steps */
} rs_solver_settings;
void rs_default_solver_settings(rs_solver_settings *settings);
void rs_world_get_solver_settings(rs_world *world, rs_solver_settings *out);
rs_status rs_world_set_solver_settings(rs_world *world, const rs_solver_settings *settings);

typedef enum { RS_BROADPHASE_NONE = 0, RS_BROADPHASE_SAP_3_AXIS, RS_BROADPHASE_MULTI_BOX_PRUNE } rs_broadphase_type;

typedef struct {
    int32_t gjk_max_iterations;
    double gjk_tolerance;
    int32_t epa_max_iterations;
    double epa_tolerance;
    int32_t max_contacts_per_pair;       /* 1..8 */
    int32_t swept_ccd_enabled;
    double swept_ccd_min_speed;          /* [m/s] */
    double swept_ccd_speculative_margin; /* [m] */
    int32_t broadphase;                  /* rs_broadphase_type */
    double mbp_world_min[3], mbp_world_max[3], mbp_cell_size[3]; /* [m] */
    double mbp_padding;                  /* [m] */
    int32_t mbp_max_cells_per_axis, mbp_max_cells_per_object;
    int32_t mbp_use_world_bounds;
} rs_contact_settings;
void rs_default_contact_settings(rs_contact_settings *settings);
void rs_world_get_contact_settings(rs_world *world, rs_contact_settings *out);
rs_status rs_world_set_contact_settings(rs_world *world, const rs_contact_settings *settings);

typedef struct {
    int32_t enabled;
    double linear_threshold;  /* [m/s] */
    double angular_threshold; /* [rad/s] */
    int32_t quiet_steps;
} rs_sleep_settings;
void rs_default_sleep_settings(rs_sleep_settings *settings);
void rs_world_get_sleep_settings(rs_world *world, rs_sleep_settings *out);
rs_status rs_world_set_sleep_settings(rs_world *world, const rs_sleep_settings *settings);
rs_status rs_world_wake_all(rs_world *world);

/* cdef end */

#endif
