/* raisim_engine: rigid-body simulation with hard contacts.
 *
 * SI units, z up, world frame unless stated, quaternions w,x,y,z. Every function that can fail returns a status and
 * leaves the world as it was when the status is not RS_OK; rs_error_text() says what was wrong. A world may be used
 * from several threads: each call takes the world's (recursive) mutex.
 *
 * One header for each noun; what lies between their markers is also read by cffi, in this order: plain declarations only,
 * constants are enums. */
#ifndef RAISIM_ENGINE_H
#define RAISIM_ENGINE_H

#include "raisim_engine/core.h"
#include "raisim_engine/world.h"
#include "raisim_engine/settings.h"
#include "raisim_engine/materials.h"
#include "raisim_engine/shapes.h"
#include "raisim_engine/bodies.h"
#include "raisim_engine/articulations.h"
#include "raisim_engine/drives.h"
#include "raisim_engine/wires.h"
#include "raisim_engine/soft.h"
#include "raisim_engine/objects.h"
#include "raisim_engine/sensors.h"
#include "raisim_engine/snapshots.h"
#include "raisim_engine/batches.h"
#include "raisim_engine/tools.h"

#endif
