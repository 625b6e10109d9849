/* The order in which constraints are solved, and which of them threads may solve at once.
 *
 * Particles are divided into slabs: as many each, in the order of how many constraints lie between them and an end of their
 * piece. A constraint reaches no farther than the next slab, as a rule. A part is the constraints within a slab, or across the
 * seam of two, or what is left. Parts of one phase have no particle in common: the slabs, every second seam, the other seams,
 * the rest. The division depends on the constraints alone, not on the threads. Within a part, those without a common particle
 * come together, so that a processor works on several at once. Divided again, everything stays where it is. */
#include "../base/group_by.h"
#include "deformable.h"

enum { COLOURS = 64 }; /* sets of constraints without a common particle; the last takes what is left */
enum { SLAB_PARTICLES = 512 };
enum { KINDS = 3 };

/* Constraints of a kind; each begins with the numbers of its particles. */
typedef struct {
    rs_any_array *items;
    int corners;
} constraint_kind;

/* Who is held together with whom. */
typedef struct {
    RS_ARRAY(int32_t) corner; /* particles of all constraints, one after the other */
    RS_ARRAY(int32_t) begin;  /* per corner: the first of its constraint */
    RS_ARRAY(int32_t) starts, corners_of; /* by particle */
    RS_ARRAY(int32_t) level, queue, order;
    RS_ARRAY(int32_t) slab; /* per particle */
    RS_ARRAY(uint64_t) used; /* per particle and phase: colours of its constraints */
    RS_ARRAY(int32_t) keys, sorted, bounds;
    rs_any_array copy;
} division;

static void list_kinds(rs_deformable *d, constraint_kind out[KINDS]) {
    out[0] = (constraint_kind){&d->struts.any, 2};
    out[1] = (constraint_kind){&d->hinges.any, RS_HINGE_POINTS};
    out[2] = (constraint_kind){&d->tetrahedra.any, 4};
}

static const int32_t *particles_of(const constraint_kind *kind, int64_t i) {
    return (const int32_t *)((const char *)kind->items->data + kind->items->item_size * (size_t)i);
}

static rs_status list_corners(division *g, const constraint_kind kinds[KINDS], int64_t particles) {
    int64_t count = 0, at = 0;
    for (int k = 0; k < KINDS; k++)
        count += kinds[k].corners * kinds[k].items->count;
    if (rs_array_resize(&g->corner, count) != RS_OK || rs_array_resize(&g->begin, count) != RS_OK ||
        rs_array_resize(&g->starts, particles + 1) != RS_OK || rs_array_resize(&g->corners_of, count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    for (int k = 0; k < KINDS; k++)
        for (int64_t i = 0; i < kinds[k].items->count; i++) {
            int32_t begin = (int32_t)at;
            for (int c = 0; c < kinds[k].corners; c++, at++) {
                g->corner.items[at] = particles_of(&kinds[k], i)[c];
                g->begin.items[at] = begin;
            }
        }
    rs_group_by(g->corner.items, count, particles, g->starts.items, g->corners_of.items);
    return RS_OK;
}

/* Gives the piece of `from` its levels, which begin at `lowest`, and queues it; where the queue ends. */
static int64_t spread(division *g, int32_t from, int32_t lowest, int64_t at) {
    int32_t *queue = g->queue.items, *level = g->level.items;
    const int32_t *begin = g->begin.items;
    int64_t end = at;
    queue[end++] = from;
    level[from] = lowest;
    for (; at < end; at++) {
        int32_t i = queue[at];
        for (int32_t k = g->starts.items[i]; k < g->starts.items[i + 1]; k++) {
            int32_t first = begin[g->corners_of.items[k]];
            for (int64_t c = first; c < g->begin.count && begin[c] == first; c++) {
                int32_t other = g->corner.items[c];
                if (level[other] != RS_NONE)
                    continue;
                level[other] = level[i] + 1;
                queue[end++] = other;
            }
        }
    }
    return end;
}

/* Levels from an end of each piece: the farthest from its first particle, of those the first. */
static int32_t find_levels(division *g, int32_t particles) {
    int32_t *queue = g->queue.items, *level = g->level.items, levels = 0;
    for (int32_t i = 0; i < particles; i++)
        level[i] = RS_NONE;
    int64_t at = 0;
    for (int32_t i = 0; i < particles; i++) {
        if (level[i] != RS_NONE)
            continue;
        int64_t end = spread(g, i, 0, at);
        int32_t farthest = queue[end - 1];
        for (int64_t k = end - 1; k >= at && level[queue[k]] == level[farthest]; k--)
            farthest = queue[k] < farthest ? queue[k] : farthest;
        for (int64_t k = at; k < end; k++)
            level[queue[k]] = RS_NONE;
        at = spread(g, farthest, levels, at);
        levels = level[queue[at - 1]] + 1;
    }
    return levels;
}

static rs_status find_slabs(division *g, int64_t particles, int32_t slabs) {
    if (rs_array_resize(&g->level, particles) != RS_OK || rs_array_resize(&g->queue, particles) != RS_OK ||
        rs_array_resize(&g->order, particles) != RS_OK || rs_array_resize(&g->slab, particles) != RS_OK)
        return RS_OUT_OF_MEMORY;
    int32_t levels = find_levels(g, (int32_t)particles);
    if (rs_array_resize(&g->bounds, levels + 1) != RS_OK)
        return RS_OUT_OF_MEMORY;
    rs_group_by(g->level.items, particles, levels, g->bounds.items, g->order.items);
    for (int64_t k = 0; k < particles; k++)
        g->slab.items[g->order.items[k]] = (int32_t)(k * slabs / particles);
    return RS_OK;
}

static int32_t part_of(const division *g, int32_t slabs, const int32_t *index, int corners) {
    int32_t low = slabs, high = 0;
    for (int c = 0; c < corners; c++) {
        low = g->slab.items[index[c]] < low ? g->slab.items[index[c]] : low;
        high = g->slab.items[index[c]] > high ? g->slab.items[index[c]] : high;
    }
    return high == low ? low : high == low + 1 ? slabs + low : 2 * slabs - 1;
}

static int32_t phase_of(int32_t slabs, int32_t part) {
    return part < slabs ? 0 : part == 2 * slabs - 1 ? 3 : 1 + (part - slabs) % 2;
}

static int32_t take_colour(uint64_t *used, const int32_t *index, int corners) {
    uint64_t taken = 0;
    for (int c = 0; c < corners; c++)
        taken |= used[RS_PART_PHASES * (int64_t)index[c]];
    int32_t colour = 0;
    while (colour < COLOURS - 1 && (taken >> colour & 1) != 0)
        colour++;
    for (int c = 0; c < corners; c++)
        used[RS_PART_PHASES * (int64_t)index[c]] |= (uint64_t)1 << colour;
    return colour;
}

/* By part, then by colour; where the parts begin. */
static rs_status sort_kind(division *g, const constraint_kind *kind, int64_t particles, int32_t slabs, int32_t *begins) {
    int64_t count = kind->items->count, groups = 2 * (int64_t)slabs * COLOURS;
    size_t size = kind->items->item_size;
    rs_status status = rs_array_resize(&g->used, RS_PART_PHASES * particles);
    RS_THEN(status, rs_array_resize(&g->keys, count));
    RS_THEN(status, rs_array_resize(&g->sorted, count));
    RS_THEN(status, rs_array_resize(&g->bounds, groups + 1));
    RS_THEN(status, rs_any_copy(&g->copy, kind->items));
    if (status != RS_OK)
        return status;
    memset(g->used.items, 0, sizeof(uint64_t) * (size_t)g->used.count);
    for (int64_t i = 0; i < count; i++) {
        const int32_t *index = particles_of(kind, i);
        int32_t part = part_of(g, slabs, index, kind->corners);
        g->keys.items[i] = part * COLOURS + take_colour(&g->used.items[phase_of(slabs, part)], index, kind->corners);
    }
    rs_group_by(g->keys.items, count, groups, g->bounds.items, g->sorted.items);
    for (int64_t i = 0; i < count; i++)
        memcpy((char *)kind->items->data + size * (size_t)i, (const char *)g->copy.data + size * (size_t)g->sorted.items[i], size);
    for (int32_t part = 0; part <= 2 * slabs; part++)
        begins[part] = g->bounds.items[part * COLOURS];
    return RS_OK;
}

rs_status rs_deformable_divide(rs_deformable *d) {
    int64_t particles = d->x.count;
    int32_t slabs = particles >= 2 * SLAB_PARTICLES ? (int32_t)rs_min((double)(particles / SLAB_PARTICLES), RS_MOST_SLABS) : 1;
    constraint_kind kinds[KINDS];
    division g = {0};
    list_kinds(d, kinds);
    rs_status status = rs_array_resize(&d->parts, KINDS * (2 * (int64_t)slabs + 1));
    RS_THEN(status, list_corners(&g, kinds, particles));
    RS_THEN(status, find_slabs(&g, particles, slabs));
    for (int k = 0; k < KINDS && status == RS_OK; k++) {
        rs_any_free(&g.copy); /* items of another size */
        status = sort_kind(&g, &kinds[k], particles, slabs, &d->parts.items[k * (2 * slabs + 1)]);
    }
    if (status != RS_OK)
        d->parts.count = 0;
    rs_any_array *all[] = {&g.corner.any, &g.begin.any, &g.starts.any, &g.corners_of.any, &g.level.any, &g.queue.any, &g.order.any,
                           &g.slab.any, &g.used.any, &g.keys.any, &g.sorted.any, &g.bounds.any, &g.copy};
    rs_any_free_all(all, sizeof all / sizeof *all);
    return status;
}

int32_t rs_deformable_slabs(const rs_deformable *d) { return (int32_t)((d->parts.count / KINDS - 1) / 2); }

typedef struct {
    rs_part_work work;
    void *context;
    const rs_deformable *d;
    int32_t first, stride; /* of the parts of a phase */
    int32_t count;         /* then come those that were left out */
} part_job;

static void do_part(void *context, int32_t worker, int64_t item) {
    const part_job *job = context;
    int32_t at = job->stride * (int32_t)item, number = job->first + (at < job->count ? at : (at - job->count) | 1);
    int64_t row = job->d->parts.count / KINDS;
    const int32_t *begin = &job->d->parts.items[number];
    rs_soft_part part = {number, begin[0], begin[1], begin[row], begin[row + 1], begin[2 * row], begin[2 * row + 1]};
    (void)worker;
    job->work(job->context, &part);
}

void rs_deformable_each_part(const rs_deformable *d, rs_thread_pool *pool, rs_part_work work, void *context) {
    int32_t slabs = rs_deformable_slabs(d);
    /* Neighbours among the slabs, whose particles lie in the same lines of memory, are not solved at the same time, either. */
    const part_job jobs[RS_PART_PHASES] = {{work, context, d, 0, 2, slabs},
                                           {work, context, d, slabs, 2, slabs},
                                           {work, context, d, slabs + 1, 2, slabs},
                                           {work, context, d, 2 * slabs - 1, 1, 1}};
    const int32_t counts[RS_PART_PHASES] = {slabs, slabs / 2, (slabs - 1) / 2, 1};
    for (int phase = 0; phase < RS_PART_PHASES; phase++) {
        part_job job = jobs[phase];
        rs_pool_share(slabs > 1 ? pool : NULL, counts[phase], do_part, &job);
    }
}
