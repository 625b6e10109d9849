/* The world: everything a simulation consists of, and who writes it. */
#ifndef RS_WORLD_WORLD_H
#define RS_WORLD_WORLD_H

#include <pthread.h>

#include "../base/limits.h"
#include "../contact/contact_problem.h"
#include "../contact/detection.h"
#include "../contact/island.h"
#include "../contact/position_correction.h"
#include "../contact/rows_tree.h"
#include "../contact/solve_island.h"
#include "../contact/wire.h"
#include "../dynamics/articulated.h"
#include "../dynamics/pose_controller.h"
#include "../model/asset.h"
#include "../sensors/camera.h"
#include "../sensors/picture.h"
#include "../sensors/lidar.h"

/* Where a stable id leads. */
typedef struct {
    uint32_t serial;    /* 0: free */
    int32_t body;       /* index into bodies */
    int32_t list_index; /* place in the object list */
    int32_t object_type;
    int32_t next_free;
} rs_slot;

/* All that decides the future. A snapshot is a deep copy of this struct: every array is listed in
 * rs_world_data_arrays(). */
typedef struct {
    /* settings: written by setters */
    double dt; /* [s] */
    rs_vec3 gravity;
    rs_solver_settings solver;
    rs_contact_settings contact;
    rs_sleep_settings sleep;
    rs_materials materials;

    /* clocks: written at the end of a step */
    double time;      /* [s] */
    double time_lost; /* by rounding, so far [s] */
    uint64_t step_count;

    /* objects: written by create and remove */
    uint64_t configuration_number;
    int32_t free_slot, free_body, free_collider; /* heads of the free lists, RS_NONE when empty */
    rs_array slots;     /* rs_slot */
    rs_array list;      /* int32_t: slots in the order that users see */
    rs_array bodies;    /* rs_body; places are reused */
    rs_array colliders; /* rs_collider; places are reused */
    rs_array assets;    /* rs_asset_entry */
    rs_array controllers; /* rs_pose_controller; in each step it moves on */
    rs_array wires;     /* rs_wire, in the order in which they were made; impulses are written by the solver */

    /* contacts: written by the narrow phase (points) and the solver (impulses) */
    rs_array touches;    /* rs_touch, ordered by pair of colliders */
    rs_array pair_hints; /* rs_pair_hint, likewise: where the narrow phase starts */
    bool sweep_backward; /* direction of the next solve */
} rs_world_data;

struct rs_world {
    rs_world_data data;
    uint32_t next_serial;       /* never goes back, not even by a restored snapshot: ids are not reused */
    uint32_t next_asset;        /* likewise for assets */
    uint64_t version;           /* counts changes of poses, shapes and filters */
    bool half_way;              /* between integrate1 and integrate2 */
    bool detected;              /* the first half looked for contacts */
    bool changed;               /* since the first half: it must be made again */
    bool colliders_changed;     /* the broad phase must list them again */
    int32_t diverged_slot;      /* first object that diverged in this step, or RS_NONE */

    /* scratch, valid within a step */
    rs_broad_phase broad_phase;
    uint64_t detection;     /* counts detections of contacts */
    rs_array trees;         /* rs_tree_colliders of each articulated system with colliders */
    rs_array clusters;      /* rs_cluster of each of them: midpoint */
    rs_array pairs;         /* rs_pair: broad phase */
    rs_array touches_other; /* rs_touch: second buffer of the narrow phase */
    rs_array pair_hints_other; /* likewise */
    rs_hidden_search hidden_search;
    rs_islands islands;
    rs_array solver_bodies; /* rs_solver_body per body: forces, then solver */
    rs_array pushes;        /* rs_push_body per body: valid in islands marked as pushed */
    rs_array before;        /* rs_solver_body per body: velocities at the beginning of the step */
    rs_array body_rows;     /* rs_body_row, grouped by island: contact setup */
    rs_array busy_rows;     /* int32_t: solver */
    rs_array numbers;       /* int32_t per body: its number within an island of single bodies */
    rs_tree_rows tree_rows; /* of one island with articulated systems or wires */
    rs_newton newton;       /* scratch of its own */

    /* what rays see; built when a ray asks and something changed */
    rs_ray_scene ray_scene;
    uint64_t ray_scene_version;

    rs_step_stats stats;
    bool profiling;
    rs_profile profile;
    pthread_mutex_t mutex; /* recursive */
};

struct rs_snapshot {
    rs_world_data data;
    uint32_t next_serial; /* for a restore into another world: its new ids must not meet these */
};

/* States, commands and time become those of a snapshot of a world with the same objects; parameters and what is static
 * stay. */
rs_status rs_world_reset(rs_world *world, const rs_snapshot *snapshot);

enum { RS_DATA_ARRAY_COUNT = 11 };
void rs_world_data_arrays(rs_world_data *data, rs_array *out[RS_DATA_ARRAY_COUNT]);
/* Frees all that the data hold. */
void rs_world_data_drop(rs_world_data *data);

/* Every public function works between these two. */
void rs_world_enter(rs_world *world);
rs_status rs_world_leave(rs_world *world, rs_status status);

/* The slot of a living object, or NULL with the error text set. */
rs_slot *rs_world_slot(rs_world *world, rs_object_id id);
rs_body *rs_world_body(rs_world *world, rs_object_id id);
/* The same for objects that are one rigid body. */
rs_body *rs_world_single_body(rs_world *world, rs_object_id id);
rs_status rs_world_check_not_half_way(const rs_world *world);
/* Puts a checked body with its colliders into the world. */
rs_status rs_world_insert_body(rs_world *world, int32_t object_type, const rs_body *draft, int32_t shape_count,
                               const rs_collider *colliders, rs_object_id *out);
/* Shape, placement and material of a collider: checks the definition. */
rs_status rs_world_make_collider(rs_world *world, const rs_shape_def *shape, bool dynamic, rs_collider *out);
rs_object_id rs_slot_id(const rs_world *world, int32_t slot);

/* The articulation of an object and the body that stands for it; NULL with the error text set. */
rs_articulation *rs_world_articulation(rs_world *world, rs_object_id id, rs_body **body);
/* After the contact solve: the wrenches in the joints of an articulation, given by its body. */
void rs_world_find_joint_wrenches(rs_world *world, int32_t body_index);
/* Copies the state of the base link to the body that stands for the articulation. */
void rs_world_mirror_base(rs_body *body);
/* Adds what lifts the links, and their commanded wrenches, to their loads. */
void rs_world_load_links(rs_body *body, rs_vec3 gravity);

/* ---- pose_control.c: bodies that follow commanded poses ---- */

/* The body follows no pose any more. */
void rs_world_drop_controller(rs_world *world, rs_body *body);
/* The body was moved from outside: what follows a velocity goes on from there. */
void rs_world_anchor_controller(rs_world *world, rs_body *body);
/* Before the step: controlled bodies do not sleep. */
void rs_world_wake_controlled(rs_world *world);
/* Before the forces: all controllers look at their bodies, those of robots set the wrench on the base link. */
void rs_world_update_controllers(rs_world *world);
/* After the forces: controllers of single bodies change the free velocities. */
void rs_world_drive_controlled(rs_world *world);
/* After the step: the loads that are reported contain what controllers did. */
void rs_world_report_controllers(rs_world *world);

/* Removes the wires of a body and wakes what they held. */
void rs_world_drop_wires_of(rs_world *world, int32_t body);
/* Drops the contacts of a body and wakes what touched it. */
void rs_world_forget_touches(rs_world *world, int32_t body);

/* The body must be placed and looked at again in the next step, or in this one when half of it is made. */
void rs_world_touch_body(rs_world *world, rs_body *body);
/* The body moves again, if it slept. */
void rs_wake_body(rs_body *body);
/* Places the links of an articulated system where questions are answered: at the present state, or within a step where
 * the step takes its dynamics. */
void rs_world_place_links(const rs_world *world, rs_articulation *a);

/* World-frame shape of a definition: checks numbers and asset. */
rs_status rs_world_make_shape(rs_world *world, const rs_shape_def *def, rs_shape *out);
rs_asset_entry *rs_world_asset(rs_world *world, rs_asset_id id);
/* Lists an asset, which is then the world's, also on failure; who lists it is its first user. */
rs_status rs_world_list_asset(rs_world *world, rs_asset *asset, rs_asset_id *out);
/* One user less; the last one frees the asset. */
void rs_world_asset_release(rs_world *world, rs_asset_id id);

rs_status rs_check_finite(const char *name, const double *values, int count);
/* Two 3-vectors, such as a force and the point that it acts on. */
rs_status rs_check_finite_pair(const char *name_a, const double a[3], const char *name_b, const double b[3]);
rs_status rs_check_positive(const char *name, double value);
rs_status rs_check_body_type(int32_t type);
rs_status rs_check_mass(double mass);
rs_status rs_check_inertia(const rs_sym3 *inertia);
/* Normalises, except what is a unit quaternion already. */
rs_status rs_load_quaternion(const double *wxyz, rs_quat *out);

/* Sizes of the collider that follow from its shape and from the body's centre of mass. */
void rs_measure_collider(rs_collider *collider, rs_vec3 com);

#endif
