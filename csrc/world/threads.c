/* Threads that share the work of a step. Each works on bodies, pairs or islands of its own, and what they found is put together in
 * a fixed order: bits do not depend on the number of threads. */
#include "threads.h"

#include <string.h>

enum { MAX_THREADS = 256 };

/* ---- life ---- */

static void free_rooms(rs_room *rooms, int32_t count) {
    for (int32_t k = 0; k < count && rooms != NULL; k++) {
        rs_newton_free(&rooms[k].newton);
        rs_sweep_blocks_free(&rooms[k].blocks);
        rs_tree_rows_free(&rooms[k].tree_rows);
    }
    rs_free(rooms);
}

void rs_world_drop_threads(rs_world *world) {
    rs_pool_free(world->pool);
    free_rooms(world->rooms, world->threads);
    for (int64_t k = 0; k < world->narrow_parts.count; k++) {
        rs_narrow_part *part = RS_ITEM(world->narrow_parts, k);
        rs_array_free(&part->touches);
        rs_array_free(&part->rested);
        rs_array_free(&part->hints);
    }
    world->narrow_parts.count = 0;
    world->pool = NULL;
    world->rooms = NULL;
    world->threads = 0;
}

/* Parts of the narrow phase: several for each thread, since pairs differ in cost. */
enum { PARTS_PER_THREAD = 4, LEAST_PAIRS = 8 };

static rs_status make_parts(rs_world *world, int32_t threads) {
    RS_ARRAY(rs_narrow_part) *parts = &world->narrow_parts;
    if (rs_array_resize(parts, threads > 1 ? PARTS_PER_THREAD * threads : 0) != RS_OK)
        return RS_OUT_OF_MEMORY;
    for (int64_t k = 0; k < parts->count; k++)
        *RS_ITEM(*parts, k) = (rs_narrow_part){0};
    return RS_OK;
}

rs_status rs_world_set_threads(rs_world *world, int32_t threads) {
    if (threads < 1 || threads > MAX_THREADS)
        return rs_fail(RS_INVALID_VALUE, "threads is %d; expected 1 to %d", threads, MAX_THREADS);
    rs_world_enter_to_read(world);
    if (threads == world->threads)
        return rs_world_leave(world, RS_OK);
    rs_thread_pool *pool = NULL;
    rs_room *rooms = rs_alloc(sizeof *rooms * (size_t)threads);
    rs_status status = rooms == NULL ? RS_OUT_OF_MEMORY : RS_OK;
    if (status == RS_OK && threads > 1)
        status = rs_pool_new(threads, &pool);
    if (status != RS_OK) {
        rs_free(rooms);
        return rs_world_leave(world, status);
    }
    rs_world_drop_threads(world);
    world->pool = pool;
    world->rooms = rooms;
    world->threads = threads;
    return rs_world_leave(world, make_parts(world, threads));
}

/* ---- bodies ---- */

typedef struct {
    rs_world *world;
    rs_body_work work;
    int64_t grain; /* bodies in an item */
} body_job;

static void work_on_bodies(void *context, int32_t worker, int64_t item) {
    const body_job *job = context;
    const RS_ARRAY(int32_t) *awake = &job->world->awake;
    int64_t end = (item + 1) * job->grain < awake->count ? (item + 1) * job->grain : awake->count;
    (void)worker;
    for (int64_t k = item * job->grain; k < end; k++)
        job->work(job->world, awake->items[k]);
}

/* Robots take longer than a thread takes to wake up, single bodies do not: few of them are not shared. */
enum { MOST_BODIES = 32, FEW_BODIES = 64 };

static int64_t grain_for(const rs_world *world) {
    int64_t count = world->awake.count, even = count / (8 * world->threads) + 1;
    if (world->pool == NULL || (count < FEW_BODIES && world->trees.count < 4))
        return count;
    return even < MOST_BODIES ? even : MOST_BODIES;
}

void rs_world_for_listed(rs_world *world, rs_body_work work) {
    int64_t count = world->awake.count;
    if (count == 0)
        return;
    body_job job = {world, work, grain_for(world)};
    rs_pool_share(world->pool, (count + job.grain - 1) / job.grain, work_on_bodies, &job);
}

/* ---- narrow phase ---- */

typedef struct {
    rs_world *world;
    const rs_detection_scene *scene;
    int64_t parts;
} narrow_job;

/* First of the ordered touches that do not come before the pair. */
static int64_t first_touch_from(const RS_ARRAY(rs_touch) *touches, const rs_pair *pair) {
    const rs_touch *touch = touches->items;
    int64_t low = 0, high = touches->count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        const rs_touch *t = &touch[middle];
        bool before = t->collider_a < pair->a || (t->collider_a == pair->a && t->collider_b < pair->b);
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low;
}

/* Items `first` to `end` of an array, as one to read from. */
static rs_any_array part_of(const rs_any_array *whole, int64_t first, int64_t end) {
    rs_any_array part = *whole;
    part.data = whole->data == NULL ? NULL : (char *)whole->data + (size_t)first * whole->item_size;
    part.count = part.capacity = end - first;
    return part;
}

static void find_part(void *context, int32_t worker, int64_t item) {
    const narrow_job *job = context;
    const rs_world_data *data = &job->world->data;
    const RS_ARRAY(rs_pair) *all = &job->world->pairs;
    rs_narrow_part *part = RS_ITEM(job->world->narrow_parts, item);
    int64_t first = all->count * item / job->parts, end = all->count * (item + 1) / job->parts;
    int64_t touch = item == 0 ? 0 : first_touch_from(&data->touches, RS_ITEM(*all, first));
    int64_t touch_end = item == job->parts - 1 ? data->touches.count
                                               : first_touch_from(&data->touches, RS_ITEM(*all, end));
    RS_ARRAY(rs_pair) pairs = {part_of(&all->any, first, end)};
    RS_ARRAY(rs_touch) before = {part_of(&data->touches.any, touch, touch_end)};
    rs_pair_memory memory = rs_pair_memory_begin(&data->pair_hints, &part->hints);
    rs_pair_memory_skip(&memory, RS_ITEM(*all, first));
    (void)worker;
    part->status = rs_touches_find(job->scene, &pairs, &memory, &before, &part->touches, &part->rested);
}

static void copy_items(const rs_any_array *from, rs_any_array *to, int64_t first) {
    if (from->count > 0)
        memcpy((char *)to->data + (size_t)first * to->item_size, from->data, (size_t)from->count * from->item_size);
}

static void join_part(void *context, int32_t worker, int64_t item) {
    rs_world *world = ((const narrow_job *)context)->world;
    const rs_narrow_part *part = RS_ITEM(world->narrow_parts, item);
    (void)worker;
    copy_items(&part->touches.any, &world->touches_other.any, part->first_touch);
    copy_items(&part->rested.any, &world->rested.any, part->first_rested);
    copy_items(&part->hints.any, &world->pair_hints_other.any, part->first_hint);
}

static rs_status find_in_parts(rs_world *world, const rs_detection_scene *scene) {
    narrow_job job = {world, scene, world->narrow_parts.count};
    if (world->pairs.count < LEAST_PAIRS * job.parts)
        job.parts = world->pairs.count / LEAST_PAIRS;
    rs_pool_share(world->pool, job.parts, find_part, &job);
    int64_t touches = 0, rested = 0, hints = 0;
    for (int64_t k = 0; k < job.parts; k++) {
        rs_narrow_part *part = RS_ITEM(world->narrow_parts, k);
        if (part->status != RS_OK)
            return rs_fail(part->status, "no memory for the contacts");
        part->first_touch = touches;
        part->first_rested = rested;
        part->first_hint = hints;
        touches += part->touches.count;
        rested += part->rested.count;
        hints += part->hints.count;
    }
    if (rs_array_resize(&world->touches_other, touches) != RS_OK || rs_array_resize(&world->rested, rested) != RS_OK ||
        rs_array_resize(&world->pair_hints_other, hints) != RS_OK)
        return RS_OUT_OF_MEMORY;
    rs_pool_share(world->pool, job.parts, join_part, &job);
    return RS_OK;
}

rs_status rs_world_find_touches(rs_world *world, const rs_detection_scene *scene) {
    rs_world_data *data = &world->data;
    rs_status status;
    if (world->pool != NULL && world->pairs.count >= 2 * LEAST_PAIRS) {
        status = find_in_parts(world, scene);
    } else {
        rs_pair_memory memory = rs_pair_memory_begin(&data->pair_hints, &world->pair_hints_other);
        status = rs_touches_find(scene, &world->pairs, &memory, &data->touches, &world->touches_other, &world->rested);
    }
    if (status != RS_OK)
        return status;
    rs_array_swap(&data->touches, &world->touches_other);
    rs_array_swap(&data->pair_hints, &world->pair_hints_other);
    return RS_OK;
}
