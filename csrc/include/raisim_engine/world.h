/* Worlds: life, steps, time, what a step did. See raisim_engine.h. */
#ifndef RAISIM_ENGINE_WORLD_H
#define RAISIM_ENGINE_WORLD_H

#include "core.h"

/* cdef begin */

rs_status rs_world_create(rs_world **out);
void rs_world_destroy(rs_world *world);
/* A copy that goes on to the same bits, with the same ids; meshes are shared. */
rs_status rs_world_clone(rs_world *source, rs_world **out);
/* An empty world to be filled beside `world`, which will not give the ids of its first `count` objects and wires. */
rs_status rs_world_create_successor(rs_world *world, uint32_t count, rs_world **out);
/* The world takes what its successor holds, at once, and the successor what the world held. */
rs_status rs_world_succeed(rs_world *world, rs_world *successor);

rs_status rs_world_lock(rs_world *world);
rs_status rs_world_unlock(rs_world *world);

/* RS_OK, or RS_WRONG_STATE with what is broken inside the world: lists, states, contacts. For tests; it takes time. */
rs_status rs_world_validate(rs_world *world);

/* Advances n steps. On RS_DIVERGED the step that failed is complete: the object named in the text is stopped. */
rs_status rs_world_step(rs_world *world, int64_t n);
/* The same, but ends after the step in which `seconds` of wall time have passed; `*done` is the number of steps made. */
rs_status rs_world_step_within(rs_world *world, int64_t n, double seconds, int64_t *done);
/* First half: midpoint poses, contact detection, contact registration. */
rs_status rs_world_integrate1(rs_world *world);
/* First half without contact detection: no contacts in this step. */
rs_status rs_world_integrate_no_contact_detection(rs_world *world);
/* Second half: forces, contact solve, integration; time advances. What was placed, changed or woken since the first half
 * is kept: the first half is then made again. */
rs_status rs_world_integrate2(rs_world *world);

rs_status rs_world_set_time_step(rs_world *world, double dt);
double rs_world_time_step(rs_world *world);
rs_status rs_world_set_gravity(rs_world *world, const double gravity[3]);
void rs_world_get_gravity(rs_world *world, double out[3]);
/* A fluid everywhere, which slows down bodies and links; none at first. */
typedef struct {
    double density;   /* [kg/m^3] */
    double viscosity; /* [Pa s] */
    double wind[3];   /* its velocity, world frame [m/s] */
} rs_fluid;
rs_status rs_world_set_fluid(rs_world *world, const rs_fluid *fluid);
void rs_world_get_fluid(rs_world *world, rs_fluid *out);
rs_status rs_world_set_time(rs_world *world, double time);
double rs_world_time(rs_world *world);
uint64_t rs_world_step_count(rs_world *world);
/* Threads that share the work of a step, 1 at first, 1 to 256. Results do not depend on their number. Clones
 * and members of batches have one. */
rs_status rs_world_set_threads(rs_world *world, int32_t threads);
int32_t rs_world_threads(rs_world *world);

/* Counts every add and remove. */
uint64_t rs_world_configuration_number(rs_world *world);

/* Counts the calls that may have changed the world otherwise than by rs_world_step and rs_world_step_within: between two
 * moments with the same number, the same steps from the first lead to the same bits of the second. */
uint64_t rs_world_change_count(rs_world *world);
/* Changes whenever meshes, hulls or heightmaps may have come. */
uint64_t rs_world_geometry_number(rs_world *world);
/* Counts a change of what belongs to the world but not to the engine. */
rs_status rs_world_touch(rs_world *world);

/* FNV-1a over the dynamic state: equal hashes mean equal bits. */
uint64_t rs_world_state_hash(rs_world *world);

/* Wall time spent in the stages of a step, summed since profiling was turned on [s]. */
typedef struct {
    double midpoint, broad_phase, narrow_phase, islands, forces, soft, contact_setup, solve, integrate;
    int64_t steps;
} rs_profile;
/* Off at first: reading the clock costs as much as stepping a small robot. Turning it on clears the sums. */
rs_status rs_world_set_profiling(rs_world *world, int32_t enabled);
void rs_world_get_profile(rs_world *world, rs_profile *out);

/* What the last step did. */
typedef struct {
    int64_t broad_phase_pairs; /* pairs of colliders handed to the narrow phase */
    int64_t contacts;
    int64_t islands;
    int64_t solver_iterations; /* the most that any island needed */
    double solver_error;       /* the largest violation of the contact laws left in any island [m/s] */
    double solver_relative_error; /* the same relative to the island's violation without impulses */
    double contact_work;       /* energy that contacts, limits, pins and stiff wires gave: not positive but for rounding [J] */
    int64_t restrained_islands; /* islands whose bounces or impulses had to be reduced to give no energy */
    int64_t awake_bodies;
} rs_step_stats;
void rs_world_get_step_stats(rs_world *world, rs_step_stats *out);

/* cdef end */

#endif
