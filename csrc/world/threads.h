/* Threads that share the work of a step. */
#ifndef RS_WORLD_THREADS_H
#define RS_WORLD_THREADS_H

#include "world.h"

/* Ends the threads and frees their scratch. */
void rs_world_drop_threads(rs_world *world);

/* What is done to each of the bodies that a step looks at, and to nothing else. */
typedef void (*rs_body_work)(rs_world *world, int32_t body);
void rs_world_for_listed(rs_world *world, rs_body_work work);

/* The narrow phase: fills the world's touches, `rested` and pair hints. */
rs_status rs_world_find_touches(rs_world *world, const rs_detection_scene *scene);

/* solve.c: contact rows of single bodies, then all islands. */
rs_status rs_world_make_rows(rs_world *world);
rs_status rs_world_solve(rs_world *world);

#endif
