/* The world: everything a simulation consists of, and who writes it. */
#ifndef RS_WORLD_WORLD_H
#define RS_WORLD_WORLD_H

#include <pthread.h>
#include <stdatomic.h>

#include "../base/limits.h"
#include "../base/thread_pool.h"
#include "../contact/contact_problem.h"
#include "../contact/detection.h"
#include "../contact/island.h"
#include "../contact/position_correction.h"
#include "../contact/rows_tree.h"
#include "../contact/solve_island.h"
#include "../contact/sweep_blocks.h"
#include "../contact/wire.h"
#include "../dynamics/carrier.h"
#include "../dynamics/pose_controller.h"
#include "../model/asset.h"
#include "../sensors/camera.h"
#include "../sensors/picture.h"
#include "../sensors/lidar.h"
#include "../soft/soft_group.h"

/* Where a stable id leads. */
typedef struct {
    uint32_t serial;    /* 0: free */
    int32_t body;       /* index into bodies */
    int32_t list_index; /* place in the object list */
    int32_t object_type;
    int32_t next_free;
} rs_slot;
RS_ARRAY_OF(rs_slot);

typedef struct rs_tree_colliders rs_tree_colliders; /* tree_colliders.h */
RS_ARRAY_OF(rs_tree_colliders);

/* The arrays of rs_world_data: made, copied, restored and freed by this list. */
#define RS_WORLD_ARRAYS(X)                                                                                           \
    /* objects: written by create and remove */                                                                      \
    X(rs_slot, slots)                                                                                                \
    X(int32_t, list)         /* slots in the order that users see */                                                 \
    X(rs_body, bodies)       /* places are reused */                                                                 \
    X(rs_collider, colliders) /* places are reused */                                                                \
    X(rs_asset_entry, assets)                                                                                        \
    X(rs_pose_controller, controllers) /* in each step it moves on */                                                \
    X(rs_wire, wires) /* in the order in which they were made; impulses are written by the solver */                 \
    /* contacts: written by the narrow phase (points) and the solver (impulses) */                                   \
    X(rs_touch, touches)         /* ordered by pair of colliders */                                                  \
    X(rs_touch, resting)         /* likewise: those of bodies that steps do not look at */                           \
    X(rs_pair_hint, pair_hints)  /* likewise: where the narrow phase starts */

/* Scratch of a world, most of it valid within a step: made and freed by this list. */
#define RS_SCRATCH_ARRAYS(X)                                                                                         \
    X(int32_t, awake)                 /* bodies that the next step looks at, in their order */                       \
    X(rs_tree_colliders, trees)       /* of each articulated system with colliders */                                \
    X(rs_cluster, clusters)           /* of each of them: midpoint */                                                \
    X(rs_pair, pairs)                 /* broad phase */                                                              \
    X(rs_touch, touches_other)        /* second buffer of the narrow phase */                                        \
    X(rs_touch, rested)               /* narrow phase: contacts to be set aside */                                   \
    X(rs_pair_hint, pair_hints_other) /* likewise */                                                                 \
    X(rs_solver_body, solver_bodies)  /* per body: forces, then solver */                                            \
    X(rs_push_body, pushes)           /* per body: valid in islands marked as pushed */                              \
    X(rs_solver_body, before)         /* per body: velocities at the beginning of the step */                        \
    X(rs_body_row, body_rows)         /* grouped by island: contact setup */                                         \
    X(rs_island_result, results)      /* per island: solver */                                                       \
    X(int32_t, numbers)               /* per body: its number within an island of single bodies */

/* What came out of the solve of an island. */
typedef struct {
    rs_solve_result solve;
    rs_status status;
} rs_island_result;
RS_ARRAY_OF(rs_island_result);

/* Scratch of a thread that solves islands. */
typedef struct {
    rs_tree_rows tree_rows; /* of one island with articulated systems or wires */
    rs_sweep_blocks blocks; /* of one without */
    rs_newton newton;
} rs_room;

/* What a thread found in its part of the pairs. */
typedef struct {
    RS_ARRAY(rs_touch) touches, rested;
    RS_ARRAY(rs_pair_hint) hints;
    int64_t first_touch, first_rested, first_hint; /* in the lists of all parts */
    rs_status status;
} rs_narrow_part;
RS_ARRAY_OF(rs_narrow_part);

#define RS_ARRAY_FIELD(type, name) RS_ARRAY(type) name;
#define RS_ARRAY_ONE(type, name) +1

/* All that decides the future. A snapshot is a deep copy of this struct. */
typedef struct {
    /* settings: written by setters */
    double dt; /* [s] */
    rs_vec3 gravity;
    rs_fluid fluid;
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
    int32_t soft_count; /* objects made of particles */
    int32_t free_slot, free_body, free_collider; /* heads of the free lists, RS_NONE when empty */
    RS_WORLD_ARRAYS(RS_ARRAY_FIELD)
    bool sweep_backward; /* direction of the next solve */
} rs_world_data;

struct rs_world {
    rs_world_data data;
    uint32_t next_serial;       /* never goes back, not even by a restored snapshot: ids are not reused */
    uint32_t next_asset;        /* likewise for assets */
    uint64_t number;             /* of its own, also when another world has been where it is */
    _Atomic uint64_t predecessor; /* of a successor: number of the world that keeps ids for it, up to the next field; or 0 */
    uint32_t end_of_ids;
    uint64_t version;           /* counts changes of poses, shapes and filters */
    uint64_t changes;           /* see rs_world_change_count */
    uint64_t geometry_number;   /* see rs_world_geometry_number */
    bool half_way;              /* between integrate1 and integrate2 */
    bool detected;              /* the first half looked for contacts */
    bool changed;               /* since the first half: it must be made again */
    bool colliders_changed;     /* the broad phase must list them again */
    int32_t diverged_slot;      /* first object that diverged in this step, or RS_NONE */
    double refused_substeps;    /* why, if it is grains that asked for too many; or 0 */
    bool disturbed;             /* the first half found something that moves to touch or pull what sleeps */
    bool roused;                /* a body that is not listed woke up or was moved: all must be listed */

    /* scratch, valid within a step */
    rs_broad_phase broad_phase;
    uint64_t detection;     /* counts detections of contacts */
    RS_SCRATCH_ARRAYS(RS_ARRAY_FIELD)
    rs_hidden_search hidden_search;
    rs_islands islands;
    rs_soft_group soft_group;       /* soft objects that step together */
    RS_ARRAY(int32_t) soft_leaders; /* per body: the first of the group that it is in */

    /* threads of a step; what they do does not depend on their number */
    int32_t threads;
    rs_thread_pool *pool;   /* NULL: one thread */
    rs_room *rooms;         /* one for each thread */
    RS_ARRAY(rs_narrow_part) narrow_parts;
    atomic_bool lost;       /* a body is marked as diverged */

    /* what rays see; built when a ray asks and something changed */
    rs_ray_scene ray_scene;
    uint64_t ray_scene_version;

    rs_step_stats stats;
    bool profiling;
    rs_profile profile;
    pthread_mutex_t mutex;       /* recursive */
    atomic_int waiting;          /* threads that wait for it */
    atomic_uintptr_t holder;     /* mark of the thread that has it, or 0 */
    int32_t holds;               /* how often that thread took it */
};

struct rs_snapshot {
    rs_world_data data;
    uint32_t next_serial; /* for a restore into another world: its new ids must not meet these */
    uint32_t next_asset;  /* likewise */
};

/* RS_OK, or what is wrong with a snapshot that was read: whatever a step, a read or a change would rely on. */
rs_status rs_snapshot_check(const rs_snapshot *snapshot);
/* The same for settings. */
rs_status rs_check_fluid(const rs_fluid *fluid);
rs_status rs_check_solver_settings(const rs_solver_settings *settings);
rs_status rs_check_contact_settings(const rs_contact_settings *settings);
rs_status rs_check_sleep_settings(const rs_sleep_settings *settings);
rs_status rs_check_wire_properties(const rs_wire_properties *properties);
/* What contradicts itself in objects, contacts and wires; NULL when nothing does. */
const char *rs_world_data_wrong(const rs_world_data *data);

/* States, commands and time become those of a snapshot of a world with the same objects; parameters and what is static
 * stay. */
rs_status rs_world_reset(rs_world *world, const rs_snapshot *snapshot);

enum { RS_DATA_ARRAY_COUNT = 2 RS_WORLD_ARRAYS(RS_ARRAY_ONE) }; /* those of the materials, and the list */
void rs_world_data_arrays(rs_world_data *data, rs_any_array *out[RS_DATA_ARRAY_COUNT]);
typedef rs_articulation *(*rs_tree_copier)(const rs_articulation *source);
/* What a copied body owns gets copied, too; false without memory: then it owns nothing. */
bool rs_world_copy_owned(rs_body *body, rs_tree_copier copy);
/* Frees all that the data hold. */
void rs_world_data_free(rs_world_data *data);

/* Those who wait for the mutex come before whoever takes it again and again: between two steps others get in. */
void rs_world_make_mutex(rs_world *world);
void rs_world_free_mutex(rs_world *world);

/* Every public function works between entering and leaving. Whoever only reads, or steps, enters to read; all others
 * count as changes. */
void rs_world_enter(rs_world *world);
void rs_world_enter_to_read(rs_world *world);
rs_status rs_world_leave(rs_world *world, rs_status status);

/* Of a clock that never goes back. */
double rs_seconds_now(void);

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
/* A collider, or NULL behind the last one of a body. */
static inline rs_collider *rs_collider_at(const rs_world_data *data, int32_t index) {
    return index != RS_NONE ? RS_ITEM(data->colliders, index) : NULL;
}
#define RS_EACH_COLLIDER(c, data, first) \
    for (rs_collider *c = rs_collider_at(data, first); c != NULL; c = rs_collider_at(data, c->next_in_body))

/* The articulation of an object and the body that stands for it; NULL with the error text set. */
rs_articulation *rs_world_articulation(rs_world *world, rs_object_id id, rs_body **body);
/* Before the forces: what contacts and wires pull at articulated systems, by the last solve. */
void rs_world_find_tension(rs_world *world);
/* After the contact solve: the wrenches in the joints of an articulation, given by its body. */
void rs_world_find_joint_wrenches(rs_world *world, int32_t body_index);
/* Copies the state of the base link to the body that stands for the articulation. */
void rs_world_mirror_base(rs_body *body);
/* solve.c: before the forces, what contacts and wires pulled at articulated systems in the last solve. */
void rs_world_gather_tension(const rs_world *world);
/* Adds what lifts the links, and their commanded wrenches, to their loads. */
void rs_world_load_links(rs_body *body, rs_vec3 gravity);

/* ---- soft_objects.c, soft_step.c: objects made of particles ---- */

rs_soft *rs_world_soft(rs_world *world, rs_object_id id, rs_body **body);
/* How an object made of particles stands in the world. */
typedef struct {
    int32_t object_type, material; /* material: that counts in contacts with bodies */
    uint64_t group, mask;          /* collision filter */
} rs_soft_place;
/* Takes the object over; on failure it is freed. */
rs_status rs_world_insert_soft(rs_world *world, rs_soft *soft, const rs_soft_place *place, rs_object_id *out);
/* Every public function on one deformable object enters the world by one of these, to read or to change it; the caller leaves it. */
const rs_deformable *rs_world_read_deformable(rs_world *world, rs_object_id id, rs_status *status);
rs_deformable *rs_world_enter_deformable(rs_world *world, rs_object_id id, rs_body **body, rs_status *status);
/* Tuples of different vertices, all of which exist; `name` is what they are. */
rs_status rs_soft_check_existing(const char *name, const int32_t *index, int64_t tuples, int size, int64_t count);
rs_status rs_soft_check_indices(const char *name, const int32_t *index, int64_t tuples, int size, int64_t count);
void rs_deformable_untie(rs_deformable *d, int64_t particle);
/* Before a body is removed: what is pinned to it is free. */
void rs_world_drop_ties_of(rs_world *world, int32_t body);
/* Something about the object changed. */
void rs_world_touch_soft(rs_world *world, rs_body *body);
/* Leaves the world; the object has changed unless something was wrong. */
rs_status rs_world_leave_soft(rs_world *world, rs_body *body, rs_status status);
/* Finite numbers; `xyz` may be NULL. */
rs_status rs_check_vectors(const char *name, int64_t count, const double *xyz);
rs_status rs_check_room(int64_t capacity, int64_t count);
/* First half: those that something comes near wake up, and they wake what they are near. */
void rs_world_wake_soft(rs_world *world);
/* Second half, between forces and contacts. RS_DIVERGED only marks the object. */
rs_status rs_world_step_soft(rs_world *world);
/* After the contact solve: what contacts changed, and how soft objects shifted robots. */
void rs_world_note_contacts(rs_world *world);
/* After bodies went to sleep. */
void rs_world_sleep_soft(rs_world *world);

/* ---- pose_commands.c: bodies that follow commanded poses ---- */

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

/* The body moves again, if it slept, and the next step looks at it. */
void rs_world_rouse(rs_world *world, rs_body *body);
/* The body must be placed and looked at again in the next step, or in this one when half of it is made. */
void rs_world_touch_body(rs_world *world, rs_body *body);
/* Places the links, if there are any, where questions are answered: at the present state, or within a step where the step
 * takes its dynamics. */
void rs_world_place_links(const rs_world *world, const rs_body *body);

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
rs_status rs_check_not_negative(const char *name, double value);
/* What is wrong with them, but for the moments of inertia; rs_body_take_properties() checks those, too. */
rs_status rs_check_body_properties(const rs_body_properties *properties);
/* The body with what is right, or as it was; its colliders are left to the caller. */
rs_status rs_body_take_properties(rs_body *body, const rs_body_properties *properties);
rs_status rs_body_take_state(rs_body *body, const rs_body_state *state);
rs_status rs_check_mass(double mass);
rs_status rs_check_inertia(const rs_sym3 *inertia);
/* Normalises, except what is a unit quaternion already. */
rs_status rs_load_quaternion(const double *wxyz, rs_quat *out);

/* Sizes of the collider that follow from its shape, its place and the centre of mass of what carries it: to be called when one
 * of them changed. */
void rs_measure_collider(rs_collider *collider, const rs_body *body);

#endif
