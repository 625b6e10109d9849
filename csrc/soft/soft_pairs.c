/* Which features of soft objects are near each other. */
#include "soft_pairs.h"

/* Thickness of an object against itself: at most this share of the edges there, which are neighbours and no contact. */
static const double EDGE_SHARE = 0.5;
/* Pairs are listed this many radii beyond touching, or for as many substeps of the fastest motion. */
static const double SKIN_RADII = 1.0, SKIN_SUBSTEPS = 3.0;

void rs_soft_pairs_free(rs_soft_pairs *pairs) {
    rs_array_free(&pairs->items);
    rs_array_free(&pairs->centres);
    rs_cell_grid_free(&pairs->grid);
    rs_array_free(&pairs->table);
    rs_array_free(&pairs->rows);
}

bool rs_soft_pair_allowed(const rs_soft *a, const rs_soft *b) {
    if (a == b)
        return a->deformable != NULL && a->deformable->settings.self_collision;
    if (a->grains != NULL && b->grains != NULL)
        return false;
    return (a->group & b->mask) != 0 && (b->group & a->mask) != 0;
}

/* ---- what may meet ---- */

static rs_aabb triangle_box(const rs_deformable *d, int64_t t) {
    const int32_t *k = &d->triangles.items[3 * t];
    const rs_quad *x = d->x.items;
    return rs_aabb_of_triangle(x[k[0]].xyz, x[k[1]].xyz, x[k[2]].xyz);
}

static double radius_of(const rs_soft *soft, int64_t index) {
    return soft->grains != NULL ? soft->grains->x.items[index].rest : soft->deformable->settings.collision_radius;
}


static rs_status add_item(rs_soft_pairs *pairs, int32_t member, int64_t index, const rs_aabb *box) {
    rs_pair_item *item = rs_array_push(&pairs->items);
    rs_quad *centre = rs_array_push(&pairs->centres);
    if (item == NULL || centre == NULL)
        return RS_OUT_OF_MEMORY;
    *item = (rs_pair_item){member, (int32_t)index, *box};
    centre->xyz = rs_scale(0.5, rs_add(box->min, box->max));
    return RS_OK;
}

static rs_status list_items(rs_soft_pairs *pairs, rs_soft *const *members, int32_t count, double *widest) {
    pairs->items.count = pairs->centres.count = 0;
    *widest = 1e-9;
    for (int32_t m = 0; m < count; m++) {
        const rs_soft *soft = members[m];
        int64_t features = soft->grains != NULL ? soft->grains->x.count : soft->deformable->triangles.count / 3;
        for (int64_t k = 0; k < features; k++) {
            double reach = radius_of(soft, k) + 0.5 * pairs->skin;
            rs_aabb box = soft->grains != NULL ? rs_aabb_around(soft->grains->x.items[k].xyz, 0.0)
                                               : triangle_box(soft->deformable, k);
            box = rs_aabb_grown(&box, reach);
            bool near = rs_soft_pair_allowed(soft, soft);
            for (int32_t other = 0; other < count && !near; other++) {
                rs_aabb whole = rs_aabb_grown(&members[other]->box, pairs->skin + reach);
                near = other != m && rs_soft_pair_allowed(soft, members[other]) && rs_aabb_overlap(&whole, &box);
            }
            if (!near)
                continue;
            if (add_item(pairs, m, k, &box) != RS_OK)
                return RS_OUT_OF_MEMORY;
            rs_vec3 extent = rs_sub(box.max, box.min);
            *widest = rs_max(*widest, rs_max(extent.x, rs_max(extent.y, extent.z)));
        }
    }
    return RS_OK;
}

/* ---- former meetings by their key ---- */

static uint32_t hash_of(const rs_soft_meeting *m) {
    uint64_t h = 14695981039346656037ULL;
    const int32_t key[4] = {m->other, m->kind, m->first, m->second};
    for (int k = 0; k < 4; k++)
        h = (h ^ (uint32_t)key[k]) * 1099511628211ULL;
    return (uint32_t)(h ^ (h >> 32));
}

static bool same_key(const rs_soft_meeting *a, const rs_soft_meeting *b) {
    return a->other == b->other && a->kind == b->kind && a->first == b->first && a->second == b->second;
}

static rs_status fill_table(rs_soft_pairs *pairs, const RS_ARRAY(rs_soft_meeting) *former) {
    int64_t size = 16;
    while (size < 2 * former->count)
        size *= 2;
    if (rs_array_resize(&pairs->table, size) != RS_OK)
        return RS_OUT_OF_MEMORY;
    int32_t *table = pairs->table.items;
    for (int64_t k = 0; k < size; k++)
        table[k] = RS_NONE;
    for (int64_t k = 0; k < former->count; k++) {
        uint32_t at = hash_of(&former->items[k]) & (uint32_t)(size - 1);
        while (table[at] != RS_NONE)
            at = (at + 1) & (uint32_t)(size - 1);
        table[at] = (int32_t)k;
    }
    return RS_OK;
}

static const rs_soft_meeting *find_former(const rs_soft_pairs *pairs, const RS_ARRAY(rs_soft_meeting) *former,
                                          const rs_soft_meeting *key) {
    const int32_t *table = pairs->table.items;
    uint32_t mask = (uint32_t)(pairs->table.count - 1);
    for (uint32_t at = hash_of(key) & mask; table[at] != RS_NONE; at = (at + 1) & mask)
        if (same_key(&former->items[table[at]], key))
            return &former->items[table[at]];
    return NULL;
}

/* ---- pairs ---- */

/* The member that keeps the meetings of the list, and what it knew before. */
typedef struct {
    rs_soft_pairs *pairs;
    rs_soft *const *members;
    const int32_t *ids;
    int32_t owner;
} lister;

static rs_status meet(const lister *l, int32_t other, rs_meeting_kind kind, int32_t first, int32_t second) {
    rs_soft *owner = l->members[l->owner];
    rs_soft_meeting *meeting = rs_array_push(&owner->meetings);
    if (meeting == NULL)
        return RS_OUT_OF_MEMORY;
    *meeting = (rs_soft_meeting){.other = l->ids[other], .member = other, .kind = kind, .first = first, .second = second};
    const rs_soft_meeting *former = find_former(l->pairs, &owner->meetings_before, meeting);
    if (former != NULL) {
        meeting->normal = former->normal;
        meeting->keep = former->keep;
        meeting->push = former->push;
        meeting->slide = former->slide;
        meeting->clear = l->pairs->moved > 0.0 ? former->clear : 0.0;
    }
    return RS_OK;
}

static bool has_corner(const int32_t *triangle, int32_t vertex) {
    return triangle[0] == vertex || triangle[1] == vertex || triangle[2] == vertex;
}

/* Features that one of two triangles owns against those of the other. */
static rs_status meet_triangles(const lister *l, int32_t other, int32_t s, int32_t t) {
    const rs_deformable *a = l->members[l->owner]->deformable, *b = l->members[other]->deformable;
    const int32_t *ka = &a->triangles.items[3 * s], *kb = &b->triangles.items[3 * t];
    uint8_t owned_a = a->owned.items[s], owned_b = b->owned.items[t];
    rs_status status = RS_OK;
    for (int k = 0; k < 3 && status == RS_OK; k++) {
        if ((owned_a >> k & 1) != 0 && !(a == b && has_corner(kb, ka[k])))
            status = meet(l, other, RS_VERTEX_ON_TRIANGLE, ka[k], t);
        if (status == RS_OK && (owned_b >> k & 1) != 0 && !(a == b && has_corner(ka, kb[k])))
            status = meet(l, other, RS_TRIANGLE_ON_VERTEX, s, kb[k]);
    }
    for (int k = 0; k < 9 && status == RS_OK; k++) {
        int i = k / 3, j = k % 3;
        int32_t a0 = ka[i], a1 = ka[(i + 1) % 3], b0 = kb[j], b1 = kb[(j + 1) % 3];
        if ((owned_a >> (3 + i) & 1) == 0 || (owned_b >> (3 + j) & 1) == 0 ||
            (a == b && (a0 == b0 || a0 == b1 || a1 == b0 || a1 == b1)))
            continue;
        status = meet(l, other, RS_EDGE_ON_EDGE, 3 * s + i, 3 * t + j);
    }
    return status;
}

static rs_status meet_items(const lister *l, const rs_pair_item *own, const rs_pair_item *other) {
    const rs_soft *a = l->members[own->member], *b = l->members[other->member];
    if (a->grains != NULL)
        return meet(l, other->member, RS_GRAIN_ON_TRIANGLE, own->index, other->index);
    if (b->grains != NULL)
        return meet(l, other->member, RS_TRIANGLE_ON_GRAIN, own->index, other->index);
    return meet_triangles(l, other->member, own->index, other->index);
}

/* Pairs of one member with itself and with those after it. */
static rs_status list_of(lister *l) {
    rs_soft_pairs *pairs = l->pairs;
    const rs_pair_item *items = pairs->items.items;
    const int32_t *sorted = pairs->grid.items.items;
    rs_array_swap(&l->members[l->owner]->meetings, &l->members[l->owner]->meetings_before);
    l->members[l->owner]->meetings.count = 0;
    rs_status status = fill_table(pairs, &l->members[l->owner]->meetings_before);
    for (int64_t i = 0; i < pairs->items.count && status == RS_OK; i++) {
        if (items[i].member != l->owner)
            continue;
        rs_cell_run runs[RS_MAX_CELL_RUNS];
        int count = rs_cell_grid_around(&pairs->grid, pairs->grid.cell_of.items[i], runs);
        for (int r = 0; r < count; r++)
            for (int32_t k = runs[r].first; k < runs[r].last && status == RS_OK; k++) {
                const rs_pair_item *other = &items[sorted[k]];
                if (sorted[k] > i && rs_aabb_overlap(&items[i].box, &other->box) &&
                    rs_soft_pair_allowed(l->members[l->owner], l->members[other->member]))
                    status = meet_items(l, &items[i], other);
            }
    }
    return status;
}

/* The thickness of each vertex against its own object. */
static rs_status fill_slim(rs_deformable *d) {
    if (rs_array_resize(&d->slim, d->x.count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    double *slim = d->slim.items;
    const rs_quad *x = d->x.items;
    for (int64_t i = 0; i < d->x.count; i++)
        slim[i] = 2.0 * d->settings.collision_radius;
    for (int64_t k = 0; k < d->triangles.count; k++) {
        int64_t first = k - k % 3;
        int32_t a = d->triangles.items[k], b = d->triangles.items[first + (k + 1) % 3];
        double length = EDGE_SHARE * rs_norm(rs_sub(x[a].xyz, x[b].xyz));
        slim[a] = rs_min(slim[a], length);
        slim[b] = rs_min(slim[b], length);
    }
    return RS_OK;
}

/* Velocities against the mean of all: what brings particles nearer to each other. */
static double fastest_against_mean(rs_soft *const *members, int32_t count) {
    rs_vec3 mean = rs_v3_zero();
    double total = 0.0, most = 0.0;
    for (int32_t m = 0; m < count; m++)
        for (int64_t i = 0; i < rs_soft_count(members[m]); i++, total += 1.0)
            mean = rs_add(mean, rs_soft_velocities(members[m])[i].xyz);
    mean = rs_scale(1.0 / rs_max(total, 1.0), mean);
    for (int32_t m = 0; m < count; m++)
        for (int64_t i = 0; i < rs_soft_count(members[m]); i++)
            most = rs_max(most, rs_norm2(rs_sub(rs_soft_velocities(members[m])[i].xyz, mean)));
    return sqrt(most);
}

static rs_status list(rs_soft_pairs *pairs, rs_soft *const *members, const int32_t *ids, int32_t count, double h) {
    double least = INFINITY, widest = 0.0;
    for (int32_t m = 0; m < count; m++) {
        double speed;
        rs_deformable *d = members[m]->deformable;
        members[m]->box = d != NULL ? rs_deformable_bounds(d, &speed) : rs_grains_bounds(members[m]->grains, &speed);
        if (d != NULL && (rs_deformable_own_features(d) != RS_OK || fill_slim(d) != RS_OK))
            return RS_OUT_OF_MEMORY;
        if (d != NULL)
            least = rs_min(least, d->settings.collision_radius);
    }
    pairs->skin = rs_max(SKIN_RADII * (isfinite(least) ? least : 0.0), SKIN_SUBSTEPS * 2.0 * h * fastest_against_mean(members, count));
    pairs->listed = pairs->moved;
    if (list_items(pairs, members, count, &widest) != RS_OK ||
        rs_cell_grid_build(&pairs->grid, pairs->centres.items, pairs->items.count, widest, NULL) != RS_OK)
        return RS_OUT_OF_MEMORY;
    lister l = {pairs, members, ids, 0};
    rs_status status = RS_OK;
    for (; l.owner < count && status == RS_OK; l.owner++)
        status = list_of(&l);
    return status;
}

rs_status rs_soft_pairs_begin_step(rs_soft_pairs *pairs, rs_soft *const *members, const int32_t *ids, int32_t count, double h) {
    pairs->moved = 0.0;
    return list(pairs, members, ids, count, h);
}

rs_status rs_soft_pairs_refresh(rs_soft_pairs *pairs, rs_soft *const *members, const int32_t *ids, int32_t count, double h) {
    double way = 2.0 * h * fastest_against_mean(members, count);
    rs_status status = RS_OK;
    if (pairs->moved + way - pairs->listed > pairs->skin)
        status = list(pairs, members, ids, count, h);
    pairs->moved += way;
    return status;
}
