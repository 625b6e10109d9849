/* Batches: copies of one world that threads step together. Members share nothing that is written, so that a member's
 * bits do not depend on the others or on the number of threads. */
#include "../base/thread_pool.h"
#include "channel.h"

#include <string.h>

enum { ERROR_SIZE = 512 };

struct rs_batch {
    int64_t count;
    rs_world **members;
    rs_snapshot *start;
    RS_ARRAY(rs_channel) channels;
    double step_seconds; /* that the last step took */
    uint8_t *diverged;  /* per member */
    uint8_t *named;     /* per member: scratch for checks */
    rs_thread_pool *pool;
    rs_world **rooms;                 /* per thread: an empty world whose scratch memory serves all members */
    RS_ARRAY(double) *ray_room;       /* per thread: double */
    RS_ARRAY(rs_link_def) *link_room; /* per thread: rs_link_def */

    pthread_mutex_t use; /* one call at a time: the pool, its rooms and the marks serve all of them */

    /* the first error of a call: that of the member with the smallest number */
    pthread_mutex_t mutex;
    int64_t failed; /* member, or -1 */
    rs_status failed_status;
    char failed_text[ERROR_SIZE];
};

/* ---- life ---- */

void rs_batch_destroy(rs_batch *batch) {
    if (batch == NULL)
        return;
    for (int32_t k = 0; batch->pool != NULL && k < rs_pool_threads(batch->pool); k++) {
        if (batch->rooms != NULL)
            rs_world_destroy(batch->rooms[k]);
        if (batch->ray_room != NULL)
            rs_array_free(&batch->ray_room[k]);
        if (batch->link_room != NULL)
            rs_array_free(&batch->link_room[k]);
    }
    rs_pool_free(batch->pool);
    for (int64_t k = 0; k < batch->count && batch->members != NULL; k++)
        rs_world_destroy(batch->members[k]);
    for (int64_t k = 0; k < batch->channels.count; k++)
        rs_channel_free(&batch->channels.items[k]);
    rs_array_free(&batch->channels);
    rs_snapshot_destroy(batch->start);
    rs_free(batch->members);
    rs_free(batch->diverged);
    rs_free(batch->named);
    rs_free(batch->rooms);
    rs_free(batch->ray_room);
    rs_free(batch->link_room);
    pthread_mutex_destroy(&batch->mutex);
    pthread_mutex_destroy(&batch->use);
    rs_free(batch);
}

static rs_status make_threads(rs_batch *batch, int32_t threads) {
    rs_status status = rs_pool_new(threads, &batch->pool);
    if (status != RS_OK)
        return status;
    batch->rooms = rs_alloc(sizeof *batch->rooms * (size_t)threads);
    batch->ray_room = rs_alloc(sizeof *batch->ray_room * (size_t)threads);
    batch->link_room = rs_alloc(sizeof *batch->link_room * (size_t)threads);
    if (batch->rooms == NULL || batch->ray_room == NULL || batch->link_room == NULL)
        return RS_OUT_OF_MEMORY;
    for (int32_t k = 0; k < threads && status == RS_OK; k++)
        status = rs_world_create(&batch->rooms[k]);
    return status;
}

static rs_status make_members(rs_batch *batch, rs_world *source) {
    rs_status status = rs_snapshot_save(source, &batch->start);
    batch->members = rs_alloc(sizeof *batch->members * (size_t)batch->count);
    batch->diverged = rs_alloc((size_t)batch->count);
    batch->named = rs_alloc((size_t)batch->count);
    if (status == RS_OK && (batch->members == NULL || batch->diverged == NULL || batch->named == NULL))
        status = RS_OUT_OF_MEMORY;
    for (int64_t k = 0; k < batch->count && status == RS_OK; k++)
        status = rs_world_clone(source, &batch->members[k]);
    return status;
}

rs_status rs_batch_create(rs_world *source, int64_t count, int32_t threads, rs_batch **out) {
    if (count < 1 || count > INT32_MAX)
        return rs_fail(RS_INVALID_VALUE, "count is %lld; expected 1 to %d", (long long)count, INT32_MAX);
    if (threads < 1 || threads > 4096)
        return rs_fail(RS_INVALID_VALUE, "threads is %d; expected 1 to 4096", threads);
    rs_batch *batch = rs_alloc(sizeof *batch);
    if (batch == NULL)
        return RS_OUT_OF_MEMORY;
    batch->count = count;
    batch->failed = -1;
    batch->step_seconds = 1e9; /* nobody knows yet */
    pthread_mutex_init(&batch->mutex, NULL);
    pthread_mutex_init(&batch->use, NULL);
    rs_status status = make_threads(batch, threads);
    RS_THEN(status, make_members(batch, source));
    if (status == RS_OK)
        *out = batch;
    else
        rs_batch_destroy(batch);
    return status;
}

rs_world *rs_batch_member(rs_batch *batch, int64_t index) {
    return index >= 0 && index < batch->count ? batch->members[index] : NULL;
}

const uint8_t *rs_batch_diverged(rs_batch *batch) { return batch->diverged; }

/* ---- work on members ---- */

/* What the threads do with each of the members that a call names. */
typedef struct job {
    rs_batch *batch;
    const int64_t *members; /* NULL: all */
    bool written_only;      /* members whose rows nobody wrote are passed over: their memory is not looked at */
    rs_status (*work)(const struct job *job, rs_world *world, int64_t member, int64_t place, int32_t worker);
    int64_t steps;
    bool go_on;     /* with steps of which others were made before: not of members that diverged then */
    bool read;      /* afterwards */
    const rs_snapshot *snapshot;
    rs_object_id object;
    rs_asset **maps;
    const int64_t *choice;
} job;

static void note_failure(rs_batch *batch, int64_t member, rs_status status) {
    pthread_mutex_lock(&batch->mutex);
    if (batch->failed < 0 || member < batch->failed) {
        batch->failed = member;
        batch->failed_status = status;
        strncpy(batch->failed_text, rs_error_text(), ERROR_SIZE - 1);
    }
    pthread_mutex_unlock(&batch->mutex);
}

static bool has_written_rows(const rs_batch *batch, int64_t member) {
    for (int64_t k = 0; k < batch->channels.count; k++)
        if (rs_channel_is_written(&batch->channels.items[k], member))
            return true;
    return false;
}

static void work_on_member(void *context, int32_t worker, int64_t place) {
    const job *j = context;
    int64_t member = j->members != NULL ? j->members[place] : place;
    if (j->written_only && !has_written_rows(j->batch, member))
        return;
    rs_world *world = j->batch->members[member];
    rs_world_enter(world);
    rs_status status = j->work(j, world, member, place, worker);
    rs_world_leave(world, status);
    if (status != RS_OK)
        note_failure(j->batch, member, status);
}

static rs_status run(job *j, int64_t number) {
    rs_batch *batch = j->batch;
    batch->failed = -1;
    rs_pool_run(batch->pool, j->members != NULL ? number : batch->count, work_on_member, j);
    if (batch->failed < 0)
        return RS_OK;
    char text[ERROR_SIZE];
    memcpy(text, batch->failed_text, sizeof text);
    return rs_fail(batch->failed_status, "member %lld: %s", (long long)batch->failed, text);
}

/* Each named at most once, so that no two threads meet in one. */
static rs_status check_members(rs_batch *batch, int64_t number, const int64_t *members) {
    rs_status status = RS_OK;
    if (members == NULL)
        return status;
    memset(batch->named, 0, (size_t)batch->count);
    for (int64_t k = 0; k < number && status == RS_OK; k++)
        if (members[k] < 0 || members[k] >= batch->count)
            status = rs_fail(RS_INVALID_VALUE, "member is %lld; expected 0 to %lld", (long long)members[k],
                             (long long)batch->count - 1);
        else if (batch->named[members[k]]++)
            status = rs_fail(RS_INVALID_VALUE, "member %lld is named twice", (long long)members[k]);
    return status;
}

static rs_status write_channels(const rs_batch *batch, rs_world *world, int64_t member, int32_t worker) {
    rs_status status = RS_OK;
    for (int64_t k = 0; k < batch->channels.count && status == RS_OK; k++)
        status = rs_channel_write(&batch->channels.items[k], world, member, &batch->link_room[worker]);
    return status;
}

/* `read`: rs_channel_read or rs_channel_reset. */
static rs_status read_channels(const rs_batch *batch, rs_world *world, int64_t member, int32_t worker,
                               rs_status (*read)(const rs_channel *, rs_world *, int64_t, RS_ARRAY(double) *)) {
    rs_status status = RS_OK;
    for (int64_t k = 0; k < batch->channels.count && status == RS_OK; k++)
        status = read(&batch->channels.items[k], world, member, &batch->ray_room[worker]);
    return status;
}

/* ---- channels ---- */

static rs_status add_channel(rs_batch *batch, const rs_channel_def *def, rs_channel_view *out) {
    rs_channel channel;
    rs_status status = rs_channel_make(def, batch->members[0], batch->count, &channel);
    for (int64_t k = 0; k < batch->count && status == RS_OK; k++) {
        status = rs_channel_read(&channel, batch->members[k], k, &batch->ray_room[0]);
        if (status != RS_OK)
            rs_channel_free(&channel);
    }
    if (status != RS_OK)
        return status;
    rs_channel *added = rs_array_push(&batch->channels);
    if (added == NULL) {
        rs_channel_free(&channel);
        return RS_OUT_OF_MEMORY;
    }
    *added = channel;
    *out = (rs_channel_view){channel.rows, channel.width, channel.writable};
    return RS_OK;
}

/* ---- steps ---- */

#define SWAP(type, a, b) do { type kept = (a); (a) = (b); (b) = kept; } while (0)

/* Nothing in the scratch memory outlives a step: a world may work in that of another one. */
static void swap_scratch(rs_world *a, rs_world *b) {
    rs_array_swap(&a->pairs, &b->pairs);
    rs_array_swap(&a->touches_other, &b->touches_other);
    rs_array_swap(&a->rested, &b->rested);
    rs_array_swap(&a->pair_hints_other, &b->pair_hints_other);
    SWAP(rs_hidden_search, a->hidden_search, b->hidden_search);
    SWAP(rs_islands, a->islands, b->islands);
    rs_array_swap(&a->solver_bodies, &b->solver_bodies);
    rs_array_swap(&a->pushes, &b->pushes);
    rs_array_swap(&a->before, &b->before);
    rs_array_swap(&a->body_rows, &b->body_rows);
    rs_array_swap(&a->numbers, &b->numbers);
    rs_array_swap(&a->results, &b->results);
    SWAP(rs_room, a->rooms[0], b->rooms[0]);
    SWAP(rs_soft_group, a->soft_group, b->soft_group);
    rs_array_swap(&a->soft_leaders, &b->soft_leaders);
}

static rs_status write_member(const job *j, rs_world *world, int64_t member, int64_t place, int32_t worker) {
    (void)place;
    return write_channels(j->batch, world, member, worker);
}

static rs_status step_member(const job *j, rs_world *world, int64_t member, int64_t place, int32_t worker) {
    rs_batch *batch = j->batch;
    (void)place;
    if (j->go_on && batch->diverged[member])
        return RS_OK;
    swap_scratch(world, batch->rooms[worker]);
    rs_status status = rs_world_step(world, j->steps);
    swap_scratch(world, batch->rooms[worker]);
    batch->diverged[member] = status == RS_DIVERGED;
    if (status != RS_DIVERGED)
        return status == RS_OK && j->read ? read_channels(batch, world, member, worker, rs_channel_read) : status;
    status = rs_world_reset(world, batch->start);
    return status == RS_OK ? read_channels(batch, world, member, worker, rs_channel_reset) : status;
}

static rs_status step_members(rs_batch *batch, int64_t n, double seconds, int32_t go_on, int64_t *done) {
    *done = 0;
    if (n < 0)
        return rs_fail(RS_INVALID_VALUE, "step count is %lld; expected 0 or more", (long long)n);
    job write = {.batch = batch, .work = write_member, .written_only = true};
    rs_status status = go_on ? RS_OK : run(&write, 0);
    if (status != RS_OK)
        return status;
    double most = rs_max(1.0, seconds / batch->step_seconds);
    int64_t steps = (double)n <= most ? n : (int64_t)most;
    job step = {.batch = batch, .work = step_member, .steps = steps, .go_on = go_on != 0, .read = steps == n};
    double begin = rs_seconds_now();
    status = run(&step, 0);
    if (steps > 0)
        batch->step_seconds = rs_max(1e-9, (rs_seconds_now() - begin) / (double)steps);
    *done = steps;
    return status;
}

static rs_status refresh_member(const job *j, rs_world *world, int64_t member, int64_t place, int32_t worker) {
    (void)place;
    rs_status status = write_channels(j->batch, world, member, worker);
    return status == RS_OK ? read_channels(j->batch, world, member, worker, rs_channel_read) : status;
}

static rs_status refresh_members(rs_batch *batch, int64_t number, const int64_t *members) {
    rs_status status = check_members(batch, number, members);
    job j = {.batch = batch, .members = members, .work = refresh_member};
    return status == RS_OK ? run(&j, number) : status;
}

/* Parameters that were changed stay. */
static rs_status write_lasting(const job *j, rs_world *world, int64_t member, int64_t place, int32_t worker) {
    (void)place;
    const rs_batch *batch = j->batch;
    rs_status status = RS_OK;
    for (int64_t k = 0; k < batch->channels.count && status == RS_OK; k++)
        if (!rs_channel_goes_back(&batch->channels.items[k], world))
            status = rs_channel_write(&batch->channels.items[k], world, member, &batch->link_room[worker]);
    return status;
}

static rs_status reset_member(const job *j, rs_world *world, int64_t member, int64_t place, int32_t worker) {
    (void)place;
    rs_status status = rs_world_reset(world, j->snapshot);
    return status == RS_OK ? read_channels(j->batch, world, member, worker, rs_channel_reset) : status;
}

static rs_status reset_members(rs_batch *batch, int64_t number, const int64_t *members, const rs_snapshot *snapshot) {
    rs_status status = check_members(batch, number, members);
    job write = {.batch = batch, .members = members, .work = write_lasting, .written_only = true};
    RS_THEN(status, run(&write, number));
    job j = {.batch = batch, .members = members, .work = reset_member,
             .snapshot = snapshot != NULL ? snapshot : batch->start};
    return status == RS_OK ? run(&j, number) : status;
}

static rs_status restore_member(const job *j, rs_world *world, int64_t member, int64_t place, int32_t worker) {
    (void)place;
    rs_status status = rs_snapshot_restore(world, j->snapshot);
    for (int64_t k = 0; k < j->batch->channels.count; k++)
        rs_channel_forget(&j->batch->channels.items[k], member);
    return status == RS_OK ? read_channels(j->batch, world, member, worker, rs_channel_read) : status;
}

static rs_status restore_one(rs_batch *batch, int64_t index, const rs_snapshot *snapshot) {
    rs_status status = check_members(batch, 1, &index);
    if (status == RS_OK) /* channels know the objects of this make only */
        status = rs_snapshot_fits(batch->members[index], snapshot);
    job j = {.batch = batch, .members = &index, .work = restore_member, .snapshot = snapshot};
    return status == RS_OK ? run(&j, 1) : status;
}

/* ---- heightmaps ---- */

static rs_status set_map(const job *j, rs_world *world, int64_t member, int64_t place, int32_t worker) {
    (void)member, (void)worker;
    rs_asset_id id;
    rs_asset *map = j->maps[j->choice[place]];
    rs_asset_hold(map);
    rs_status status = rs_world_list_asset(world, map, &id);
    if (status != RS_OK)
        return status;
    rs_body_state state;
    status = rs_body_get_state(world, j->object, &state);
    RS_THEN(status, rs_body_set_heightmap(world, j->object, id, state.position));
    rs_world_asset_release(world, id);
    return status;
}

/* The grid of a heightmap, or NULL with the error text set. */
static const rs_height_grid *grid_of(rs_world *world, rs_object_id object) {
    const rs_body *body = rs_world_single_body(world, object);
    const rs_height_grid *grid = NULL;
    if (body != NULL && body->first_collider != RS_NONE)
        grid = world->data.colliders.items[body->first_collider].shape.grid;
    if (body != NULL && grid == NULL)
        rs_fail(RS_WRONG_TYPE, "object %u is not a heightmap", (uint32_t)(object >> 32));
    return grid;
}

static void drop_maps(rs_asset **maps, int64_t count) {
    for (int64_t k = 0; k < count; k++)
        if (maps[k] != NULL)
            rs_asset_drop(maps[k]);
    rs_free(maps);
}

static rs_status make_maps(const rs_height_grid *like, int64_t count, const double *heights, rs_asset **maps) {
    const int64_t samples = (int64_t)like->x_samples * like->y_samples;
    for (int64_t k = 0; k < count; k++) {
        rs_height_grid *grid = NULL;
        rs_status status = rs_height_grid_new(like->x_samples, like->y_samples, like->x_size, like->y_size,
                                                 &heights[k * samples], &grid);
        if (status != RS_OK)
            return status;
        maps[k] = rs_asset_new(RS_SHAPE_HEIGHTMAP, NULL, NULL, grid);
        if (maps[k] == NULL)
            return RS_OUT_OF_MEMORY;
    }
    return RS_OK;
}

static rs_status set_maps(rs_batch *batch, int64_t number, const int64_t *members, rs_object_id object,
                          int64_t map_count, int64_t samples, const double *heights, const int64_t *choice) {
    const rs_height_grid *like = grid_of(batch->members[0], object);
    rs_status status = like == NULL ? RS_WRONG_TYPE : check_members(batch, number, members);
    if (status == RS_OK && samples != (int64_t)like->x_samples * like->y_samples)
        status = rs_fail(RS_INVALID_VALUE, "%lld heights for a map; expected %d x %d", (long long)samples,
                         like->y_samples, like->x_samples);
    int64_t places = members != NULL ? number : batch->count;
    for (int64_t k = 0; k < places && status == RS_OK; k++)
        if (choice[k] < 0 || choice[k] >= map_count)
            status = rs_fail(RS_INVALID_VALUE, "choice[%lld] is %lld; expected 0 to %lld", (long long)k,
                             (long long)choice[k], (long long)map_count - 1);
    if (status != RS_OK)
        return status;
    rs_asset **maps = rs_alloc(sizeof *maps * (size_t)map_count);
    if (maps == NULL)
        return RS_OUT_OF_MEMORY;
    status = make_maps(like, map_count, heights, maps);
    job j = {.batch = batch, .members = members, .work = set_map, .object = object, .maps = maps, .choice = choice};
    RS_THEN(status, run(&j, number));
    drop_maps(maps, map_count);
    return status;
}

/* ---- calls, one at a time ---- */

static void enter(rs_batch *batch) { pthread_mutex_lock(&batch->use); }

static rs_status leave(rs_batch *batch, rs_status status) {
    pthread_mutex_unlock(&batch->use);
    return status;
}

rs_status rs_batch_add_channel(rs_batch *batch, const rs_channel_def *def, rs_channel_view *out) {
    enter(batch);
    return leave(batch, add_channel(batch, def, out));
}

rs_status rs_batch_step(rs_batch *batch, int64_t n, double seconds, int32_t go_on, int64_t *done) {
    enter(batch);
    return leave(batch, step_members(batch, n, seconds, go_on, done));
}

rs_status rs_batch_refresh(rs_batch *batch, int64_t number, const int64_t *members) {
    enter(batch);
    return leave(batch, refresh_members(batch, number, members));
}

rs_status rs_batch_reset(rs_batch *batch, int64_t number, const int64_t *members, const rs_snapshot *snapshot) {
    enter(batch);
    return leave(batch, reset_members(batch, number, members, snapshot));
}

rs_status rs_batch_restore(rs_batch *batch, int64_t index, const rs_snapshot *snapshot) {
    enter(batch);
    return leave(batch, restore_one(batch, index, snapshot));
}

rs_status rs_batch_set_heightmap(rs_batch *batch, int64_t number, const int64_t *members, rs_object_id object,
                                 int64_t map_count, int64_t samples, const double *heights, const int64_t *choice) {
    enter(batch);
    return leave(batch, set_maps(batch, number, members, object, map_count, samples, heights, choice));
}
