/* Which grains may touch each other, and which may touch shapes. */
#include "../base/group_by.h"
#include "grains.h"

/* Pairs are listed up to this share of the smallest radius apart: farther, and the list is longer; nearer, and it must be
 * made more often. */
static const double SKIN_SHARE = 0.25;

static double largest_radius(const rs_grains *g, double *smallest) {
    double most = 0.0;
    *smallest = INFINITY;
    for (int64_t i = 0; i < g->x.count; i++) {
        most = rs_max(most, g->x.items[i].rest);
        *smallest = rs_min(*smallest, g->x.items[i].rest);
    }
    return most;
}

/* Grains that left the domain on one side come in on the other. */
static void wrap(rs_grains *g) {
    for (int axis = 0; axis < 3; axis++) {
        if (!g->domain.periodic[axis])
            continue;
        double low = rs_v3_get(g->domain.min, axis), extent = rs_v3_get(g->domain.max, axis) - low;
        for (int64_t i = 0; i < g->x.count; i++) {
            rs_vec3 *p = &g->x.items[i].xyz;
            double turns = floor((rs_v3_get(*p, axis) - low) / extent);
            if (turns != 0.0)
                rs_v3_set(p, axis, rs_v3_get(*p, axis) - turns * extent);
        }
    }
}

/* The image of the second grain that is nearest to the first, and the way from there. */
static uint8_t nearest_image(const rs_domain *domain, rs_vec3 *d) {
    int code = 0, place = 1;
    for (int axis = 0; axis < 3; axis++, place *= 3) {
        int shift = 1;
        if (domain->periodic[axis]) {
            double extent = rs_v3_get(domain->max, axis) - rs_v3_get(domain->min, axis), way = rs_v3_get(*d, axis);
            if (way > 0.5 * extent)
                shift = 2;
            else if (way < -0.5 * extent)
                shift = 0;
            rs_v3_set(d, axis, way - (shift - 1) * extent);
        }
        code += shift * place;
    }
    return (uint8_t)code;
}

/* The springs of the pair when it was listed before, else none. Numbers may have changed since. */
static rs_grain_bond former_bond(const rs_grains *g, int32_t i, int32_t j) {
    const int32_t *origin = g->origin.items, *first = g->first.items;
    int32_t a = i < g->origin.count ? origin[i] : i, b = j < g->origin.count ? origin[j] : j;
    if (a < 0 || b < 0)
        return (rs_grain_bond){0};
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    if (low >= g->first.count - 1)
        return (rs_grain_bond){0};
    for (int32_t p = first[low]; p < first[low + 1]; p++)
        if (g->second.items[p] == high) {
            rs_grain_bond bond = g->bonds.items[p];
            if (a > b) {
                bond.spring.xyz = rs_neg(bond.spring.xyz);
                bond.roll.xyz = rs_neg(bond.roll.xyz);
            }
            return bond;
        }
    return (rs_grain_bond){0};
}

static rs_status add_pair(rs_grains *g, int32_t i, int32_t j, uint8_t image) {
    int64_t n = g->second_other.count + 1;
    if (rs_array_reserve(&g->second_other, n) != RS_OK || rs_array_reserve(&g->image_other, n) != RS_OK ||
        rs_array_reserve(&g->bonds_other, n) != RS_OK)
        return RS_OUT_OF_MEMORY;
    g->second_other.count = g->image_other.count = g->bonds_other.count = n;
    g->second_other.items[n - 1] = j;
    g->image_other.items[n - 1] = image;
    g->bonds_other.items[n - 1] = former_bond(g, i, j);
    return RS_OK;
}

static rs_status list_around(rs_grains *g, int32_t i, double margin) {
    const rs_quad *x = g->x.items, *v = g->v.items;
    const int32_t *items = g->grid.items.items;
    bool wraps = g->domain.periodic[0] || g->domain.periodic[1] || g->domain.periodic[2];
    rs_cell_run runs[RS_MAX_CELL_RUNS];
    int count = rs_cell_grid_around(&g->grid, g->grid.cell_of.items[i], runs);
    for (int r = 0; r < count; r++)
        for (int32_t k = runs[r].first; k < runs[r].last; k++) {
            int32_t j = items[k];
            if (j <= i)
                continue;
            rs_vec3 d = rs_sub(x[i].xyz, x[j].xyz);
            uint8_t image = wraps ? nearest_image(&g->domain, &d) : RS_OWN_IMAGE;
            double reach = x[i].rest + x[j].rest + margin;
            if (rs_norm2(d) >= reach * reach || v[i].rest + v[j].rest <= 0.0)
                continue;
            if (add_pair(g, i, j, image) != RS_OK)
                return RS_OUT_OF_MEMORY;
        }
    return RS_OK;
}

rs_status rs_grains_list_pairs(rs_grains *g) {
    if (g->listed && 2.0 * g->travel <= g->skin)
        return RS_OK;
    int64_t count = g->x.count;
    double smallest, largest = largest_radius(g, &smallest);
    wrap(g);
    g->skin = SKIN_SHARE * (count > 0 ? smallest : 0.0);
    double margin = g->skin + rs_grains_reach(g);
    if (rs_cell_grid_build(&g->grid, g->x.items, count, 2.0 * largest + margin, &g->domain) != RS_OK ||
        rs_array_resize(&g->first_other, count + 1) != RS_OK)
        return RS_OUT_OF_MEMORY;
    g->second_other.count = g->image_other.count = g->bonds_other.count = 0;
    for (int64_t i = 0; i < count; i++) {
        g->first_other.items[i] = (int32_t)g->second_other.count;
        if (list_around(g, (int32_t)i, margin) != RS_OK)
            return RS_OUT_OF_MEMORY;
    }
    g->first_other.items[count] = (int32_t)g->second_other.count;
    rs_array_swap(&g->first, &g->first_other);
    rs_array_swap(&g->second, &g->second_other);
    rs_array_swap(&g->image, &g->image_other);
    rs_array_swap(&g->bonds, &g->bonds_other);
    g->origin.count = 0; /* all numbers are those of the list */
    g->travel = 0.0;
    g->listed = true;
    g->parts.count = 0;
    g->stats.rebuilds++;
    return RS_OK;
}

/* The part of each grain decides nothing but who works on it. */
static void mark_parts(rs_grains *g, int32_t parts) {
    const int32_t *first = g->first.items;
    int64_t n = g->x.count, work = n + g->second.count, i = 0;
    for (int32_t part = 0; part <= parts; part++) {
        while (i < n && (i + first[i]) * parts < part * work)
            i++;
        g->parts.items[part] = (int32_t)i;
    }
}

static rs_status list_crossings(rs_grains *g, int32_t begin, int32_t end) {
    const int32_t *first = g->first.items, *second = g->second.items;
    int32_t *crossing_of = g->crossing_of.items;
    for (int32_t i = begin; i < end; i++)
        for (int32_t p = first[i]; p < first[i + 1]; p++) {
            crossing_of[p] = RS_NONE;
            if (second[p] < end)
                continue;
            rs_grain_crossing *crossing = rs_array_push(&g->crossings);
            int32_t *to = rs_array_push(&g->crossing_second);
            if (crossing == NULL || to == NULL)
                return RS_OUT_OF_MEMORY;
            *crossing = (rs_grain_crossing){i, p};
            *to = second[p];
            crossing_of[p] = (int32_t)g->crossings.count - 1;
        }
    return RS_OK;
}

/* Those with each grain as the second, in the order of the first. */
static rs_status list_back(rs_grains *g) {
    int64_t n = g->x.count, crossings = g->crossings.count;
    if (rs_array_resize(&g->back, n + 1 + crossings) != RS_OK)
        return RS_OUT_OF_MEMORY;
    int32_t *starts = g->back.items;
    rs_group_by(g->crossing_second.items, crossings, n, starts, starts + n + 1);
    return RS_OK;
}

rs_status rs_grains_divide(rs_grains *g, int32_t parts) {
    if (g->parts.count == parts + 1)
        return RS_OK;
    g->parts.count = g->crossings.count = g->crossing_second.count = 0;
    if (rs_array_reserve(&g->parts, parts + 1) != RS_OK || rs_array_resize(&g->crossing_of, g->second.count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    g->parts.count = parts + 1;
    mark_parts(g, parts);
    rs_status status = RS_OK;
    for (int32_t part = 0; part < parts && status == RS_OK; part++)
        status = list_crossings(g, g->parts.items[part], g->parts.items[part + 1]);
    RS_THEN(status, list_back(g));
    if (status != RS_OK)
        g->parts.count = 0;
    return status;
}

/* ---- shapes ---- */

/* Chains the shapes to the cells that they touch; later ones come first. */
static rs_status rasterise(rs_grains *g, const rs_partners *partners, double margin, RS_ARRAY(int32_t) *entries) {
    const rs_cell_grid *grid = &g->grid;
    int64_t cells = (int64_t)grid->cells[0] * grid->cells[1] * grid->cells[2];
    if (rs_array_resize(&g->cell_shapes, cells) != RS_OK)
        return RS_OUT_OF_MEMORY;
    int32_t *head = g->cell_shapes.items;
    for (int64_t c = 0; c < cells; c++)
        head[c] = RS_NONE;
    entries->count = 0;
    for (int64_t s = partners->shapes.count - 1; s >= 0; s--) {
        rs_aabb box = rs_aabb_grown(&partners->shapes.items[s].box, margin);
        int32_t first[3], last[3];
        rs_cell_grid_range(grid, &box, first, last);
        for (int32_t z = first[2]; z <= last[2]; z++)
            for (int32_t y = first[1]; y <= last[1]; y++)
                for (int32_t x = first[0]; x <= last[0]; x++) {
                    int32_t cell = rs_cell_index(grid, x, y, z);
                    int64_t place = entries->count;
                    if (rs_array_reserve(entries, place + 2) != RS_OK)
                        return RS_OUT_OF_MEMORY;
                    entries->count = place + 2;
                    entries->items[place] = (int32_t)s;
                    entries->items[place + 1] = head[cell];
                    head[cell] = (int32_t)place;
                }
    }
    return RS_OK;
}

rs_status rs_grains_list_candidates(rs_grains *g, const rs_partners *partners, double reach) {
    g->candidates.count = 0;
    if (partners->shapes.count == 0 || g->x.count == 0)
        return RS_OK;
    /* grains are in the cells where they were when the pairs were listed */
    if (rasterise(g, partners, reach + g->travel + g->skin, &g->cell_next) != RS_OK)
        return RS_OUT_OF_MEMORY;
    const rs_quad *x = g->x.items;
    const rs_near_shape *shapes = partners->shapes.items;
    const int32_t *head = g->cell_shapes.items, *entries = g->cell_next.items;
    for (int64_t i = 0; i < g->x.count; i++) {
        rs_aabb ball = rs_aabb_around(x[i].xyz, x[i].rest + reach);
        for (int32_t e = head[g->grid.cell_of.items[i]]; e != RS_NONE; e = entries[e + 1]) {
            if (!rs_aabb_overlap(&ball, &shapes[entries[e]].box) || rs_partners_friction(partners, entries[e]) < 0.0)
                continue;
            rs_grain_candidate *candidate = rs_array_push(&g->candidates);
            if (candidate == NULL)
                return RS_OUT_OF_MEMORY;
            *candidate = (rs_grain_candidate){(int32_t)i, entries[e]};
        }
    }
    return RS_OK;
}
