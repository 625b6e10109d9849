/* Deformable objects against bodies, links, terrain: contacts are rows among the constraints, with impulses that may be
 * taken back, and act on both sides alike. */
#include "../collision/narrow_phase.h"
#include "deformable.h"

/* Share of an overlap that a substep removes, without giving velocity, and how fast at most, in collision radii per second. */
static const double RECOVERY = 0.1, RECOVERY_SPEED = 50.0;
/* Springs may drive particles farther than their velocity at the beginning of a substep: share of the collision radius. */
static const double SLACK = 0.1;

static int order_of(const rs_soft_candidate *c, int32_t feature, int32_t collider) {
    if (c->feature != feature)
        return c->feature < feature ? -1 : 1;
    return c->collider < collider ? -1 : c->collider > collider;
}

/* Whether the particle, or a corner of the triangle, is pinned to the body. */
static bool is_tied(const rs_deformable *d, int32_t feature, int32_t body) {
    if (d->tied.count == 0)
        return false;
    const int32_t *tied = d->tied.items;
    if (feature < d->x.count)
        return tied[feature] == body;
    const int32_t *t = &d->triangles.items[3 * (feature - d->x.count)];
    return tied[t[0]] == body || tied[t[1]] == body || tied[t[2]] == body;
}

/* Lists the shapes whose boxes touch that of a feature; `next` walks along the list of the step before. */
static rs_status add_candidates(rs_deformable *d, const rs_partners *partners, int32_t feature, const rs_aabb *box, bool face,
                                int64_t *next) {
    const rs_soft_candidate *old = d->candidates_before.items;
    int64_t old_count = d->candidates_before.count;
    for (int64_t s = 0; s < partners->shapes.count; s++) {
        const rs_near_shape *near = &partners->shapes.items[s];
        if (!rs_aabb_overlap(box, &near->box) || rs_partners_friction(partners, s) < 0.0 || (face && near->shape->type == RS_SHAPE_HALF_SPACE) ||
            is_tied(d, feature, partners->partners.items[near->partner].body))
            continue;
        rs_soft_candidate *candidate = rs_array_push(&d->candidates);
        if (candidate == NULL)
            return RS_OUT_OF_MEMORY;
        *candidate = (rs_soft_candidate){.feature = feature, .shape = (int32_t)s, .collider = near->collider};
        while (*next < old_count && order_of(&old[*next], feature, near->collider) < 0)
            ++*next;
        if (*next < old_count && order_of(&old[*next], feature, near->collider) == 0) {
            candidate->push = old[*next].push;
            candidate->slide = old[*next].slide;
        }
    }
    return RS_OK;
}

rs_status rs_deformable_list_candidates(rs_deformable *d, const rs_partners *partners, double reach) {
    const rs_quad *x = d->x.items, *v = d->v.items;
    const int32_t *t = d->triangles.items;
    rs_array_swap(&d->candidates, &d->candidates_before);
    d->candidates.count = 0;
    rs_status status = rs_array_resize(&d->touching, d->x.count);
    int64_t next = 0;
    for (int64_t i = 0; i < d->x.count && status == RS_OK; i++) {
        rs_aabb box = rs_aabb_around(x[i].xyz, x[i].rest + reach);
        if (v[i].rest > 0.0 && x[i].rest > 0.0)
            status = add_candidates(d, partners, (int32_t)i, &box, false, &next);
    }
    for (int64_t k = 0; k < d->triangles.count && status == RS_OK; k += 3) {
        const rs_quad *a = &x[t[k]], *b = &x[t[k + 1]], *c = &x[t[k + 2]];
        rs_aabb box = rs_aabb_of_triangle(a->xyz, b->xyz, c->xyz);
        box = rs_aabb_grown(&box, a->rest + reach);
        if (v[t[k]].rest + v[t[k + 1]].rest + v[t[k + 2]].rest > 0.0)
            status = add_candidates(d, partners, (int32_t)(d->x.count + k / 3), &box, true, &next);
    }
    return status;
}

static void find_points(const rs_quad *x, const rs_near_shape *near, const rs_collide_settings *settings, rs_manifold *found) {
    if (near->shape->type == RS_SHAPE_HALF_SPACE) { /* by far the most frequent */
        rs_vec3 n = rs_m3_col(&near->pose.rot, 2);
        double gap = rs_dot(n, rs_sub(x->xyz, near->pose.pos)) - x->rest;
        if (gap < settings->margin)
            rs_manifold_add(found, rs_madd(x->xyz, -(x->rest + 0.5 * gap), n), n, gap, 0);
        return;
    }
    rs_shape ball = {.type = RS_SHAPE_SPHERE, .radius = x->rest};
    rs_transform at = {rs_m3_identity(), x->xyz};
    rs_collide(&ball, &at, near->shape, &near->pose, settings, found);
}

/* Velocity of the particles against the partner where they touch. */
static rs_vec3 velocity_against(const rs_deformable *d, const rs_partner *partner, const rs_soft_row *row) {
    rs_vec3 sum = rs_neg(rs_partner_velocity(partner, row->point));
    for (int k = 0; k < row->count; k++)
        sum = rs_madd(sum, row->weight[k], d->v.items[row->particle[k]].xyz);
    return sum;
}

/* Adds a contact; the first one of a candidate goes on from where the last substep ended. */
static rs_soft_row *add_row(rs_deformable *d, int64_t candidate, const rs_partners *partners, const rs_face_contact *at, double h,
                            bool first) {
    rs_soft_row *row = rs_array_push(&d->rows);
    if (row == NULL)
        return NULL;
    const rs_soft_candidate *c = &d->candidates.items[candidate];
    const rs_near_shape *near = &partners->shapes.items[c->shape];
    const rs_partner *partner = &partners->partners.items[near->partner];
    *row = (rs_soft_row){.candidate = (int32_t)candidate, .partner = near->partner, .point = at->point,
                         .normal = at->normal, .friction = rs_partners_friction(partners, c->shape)};
    int64_t triangle = c->feature - d->x.count;
    double inverse[3];
    row->count = triangle < 0 ? 1 : 3;
    for (int k = 0; k < row->count; k++) {
        row->particle[k] = triangle < 0 ? c->feature : d->triangles.items[3 * triangle + k];
        row->weight[k] = at->weight[k];
        inverse[k] = d->v.items[row->particle[k]].rest;
    }
    row->inverse_mass = rs_soft_point_inverse_mass(row->weight, inverse, row->count);
    double radius = d->settings.collision_radius;
    row->wanted = -rs_max(at->gap, 0.0) / h;
    row->lift = rs_clamp(-RECOVERY * at->gap, 0.0, h * RECOVERY_SPEED * radius);
    row->mobility = row->inverse_mass + rs_partner_inverse_mass(partner, at->point, at->normal);
    if (first) {
        row->push = c->push;
        row->slide = rs_madd(c->slide, -rs_dot(c->slide, at->normal), at->normal);
    }
    row->before = velocity_against(d, partner, row);
    if (row->mobility <= 0.0)
        d->rows.count--;
    return row;
}

/* How fast the feature and the partner move against each other at most. */
static double speed_against(const rs_deformable *d, const int32_t *particles, int count, const rs_partner *partner) {
    double speed = 0.0;
    for (int k = 0; k < count; k++) {
        rs_vec3 at = d->x_start.items[particles[k]].xyz, v = d->v.items[particles[k]].xyz;
        speed = rs_max(speed, rs_norm(rs_sub(v, rs_partner_velocity(partner, at))));
    }
    return speed;
}

/* Contacts of one candidate; their number, or -1 without memory. */
static int list_particle(rs_deformable *d, int64_t candidate, const rs_partners *partners, const rs_near_shape *near,
                         const rs_collide_settings *settings, double h) {
    int32_t particle = d->candidates.items[candidate].feature;
    rs_manifold found = {0};
    find_points(&d->x_start.items[particle], near, settings, &found);
    for (int m = 0; m < found.count; m++) {
        rs_face_contact at = {found.points[m].position, found.points[m].normal, found.points[m].gap, {1.0, 0.0, 0.0}};
        if (add_row(d, candidate, partners, &at, h, m == 0) == NULL)
            return -1;
    }
    bool bears = false;
    for (int m = 0; m < found.count; m++)
        bears = bears || found.points[m].gap <= 0.0;
    if (bears)
        d->touching.items[particle] = d->candidates.items[candidate].shape;
    return found.count;
}

static int list_face(rs_deformable *d, int64_t candidate, const rs_partners *partners, const rs_near_shape *near,
                     const rs_collide_settings *settings, double h) {
    const rs_soft_candidate *c = &d->candidates.items[candidate];
    const int32_t *t = &d->triangles.items[3 * (c->feature - d->x.count)];
    const int32_t *touching = d->touching.items;
    if (touching[t[0]] == c->shape || touching[t[1]] == c->shape || touching[t[2]] == c->shape)
        return 0; /* a corner bears it: rows that say nearly the same would come and go, and what they hold jolts */
    rs_vec3 corners[3];
    for (int k = 0; k < 3; k++)
        corners[k] = d->x_start.items[t[k]].xyz;
    rs_face_contact found[RS_MAX_FACE_CONTACTS];
    int count = rs_face_contacts(corners, d->settings.collision_radius, d->tetrahedra.count > 0, near, settings, found);
    for (int k = 0; k < count; k++)
        if (add_row(d, candidate, partners, &found[k], h, k == 0) == NULL)
            return -1;
    return count;
}

rs_status rs_deformable_list_rows(rs_deformable *d, const rs_soft_scene *scene, rs_partners *partners, double h) {
    d->rows.count = 0;
    for (int64_t i = 0; i < d->touching.count; i++)
        d->touching.items[i] = RS_NONE;
    for (int64_t k = 0; k < d->candidates.count; k++) {
        rs_soft_candidate *c = &d->candidates.items[k];
        const rs_near_shape *near = &partners->shapes.items[c->shape];
        const rs_partner *partner = &partners->partners.items[near->partner];
        bool face = c->feature >= d->x.count;
        const int32_t *particles = face ? &d->triangles.items[3 * (c->feature - d->x.count)] : &c->feature;
        double margin = h * speed_against(d, particles, face ? 3 : 1, partner) + SLACK * d->settings.collision_radius;
        rs_collide_settings settings = rs_collide_settings_of(scene->settings, margin);
        int count = face ? list_face(d, k, partners, near, &settings, h) : list_particle(d, k, partners, near, &settings, h);
        if (count < 0)
            return RS_OUT_OF_MEMORY;
        if (count == 0) {
            c->push = 0.0;
            c->slide = rs_v3_zero();
        }
    }
    return RS_OK;
}

static void act(rs_deformable *d, rs_partners *partners, const rs_soft_row *row, rs_vec3 impulse, double h) {
    for (int k = 0; k < row->count; k++) {
        rs_quad *x = &d->x.items[row->particle[k]];
        x->xyz = rs_madd(x->xyz, h * row->weight[k] * d->v.items[row->particle[k]].rest, impulse);
    }
    rs_partner_push(&partners->partners.items[row->partner], row->point, rs_neg(impulse));
}

void rs_deformable_begin_rows(rs_deformable *d, rs_partners *partners, double h) {
    for (int64_t k = 0; k < d->rows.count; k++) {
        const rs_soft_row *row = &d->rows.items[k];
        if (row->push > 0.0)
            act(d, partners, row, rs_madd(row->slide, row->push, row->normal), h);
    }
}

static rs_vec3 relative_velocity(const rs_deformable *d, const rs_partner *partner, const rs_soft_row *row, double h) {
    rs_vec3 way = rs_v3_zero();
    for (int k = 0; k < row->count; k++) {
        int32_t i = row->particle[k];
        way = rs_madd(way, row->weight[k], rs_sub(d->x.items[i].xyz, d->x_start.items[i].xyz));
    }
    return rs_sub(rs_scale(1.0 / h, way), rs_partner_velocity(partner, row->point));
}

static void solve_row(rs_deformable *d, rs_partners *partners, rs_soft_row *row, double h) {
    const rs_partner *partner = &partners->partners.items[row->partner];
    rs_vec3 relative = relative_velocity(d, partner, row, h);
    double along = rs_dot(relative, row->normal);
    double push = rs_max(0.0, row->push + (row->wanted - along) / row->mobility);
    rs_vec3 impulse = rs_scale(push - row->push, row->normal);
    row->push = push;
    rs_vec3 across = rs_madd(relative, -along, row->normal), slide = row->slide;
    double speed = rs_norm(across);
    if (speed > 0.0) {
        rs_vec3 way = rs_scale(1.0 / speed, across);
        double mobility = row->inverse_mass + rs_partner_inverse_mass(partner, row->point, way);
        slide = rs_madd(slide, -1.0 / mobility, across);
    }
    double size = rs_norm(slide), most = row->friction * push;
    slide = size > most ? rs_scale(most / size, slide) : slide;
    impulse = rs_add(impulse, rs_sub(slide, row->slide));
    row->slide = slide;
    if (rs_norm2(impulse) > 0.0)
        act(d, partners, row, impulse, h);
}

void rs_deformable_solve_rows(rs_deformable *d, rs_partners *partners, double h) {
    for (int64_t k = 0; k < d->rows.count; k++)
        solve_row(d, partners, &d->rows.items[k], h);
}

void rs_deformable_keep_rows(rs_deformable *d) {
    for (int64_t k = d->rows.count - 1; k >= 0; k--) { /* the first of each candidate stays */
        const rs_soft_row *row = &d->rows.items[k];
        rs_soft_candidate *c = &d->candidates.items[row->candidate];
        c->push = row->push;
        c->slide = row->slide;
        for (int m = 0; m < row->count; m++)
            rs_deformable_note_impulse(d, row->particle[m], row->weight[m], rs_madd(row->slide, row->push, row->normal));
    }
}

double rs_deformable_contact_work(const rs_deformable *d, const rs_partners *partners) {
    double sum = 0.0;
    for (int64_t k = 0; k < d->rows.count; k++) {
        const rs_soft_row *row = &d->rows.items[k];
        const rs_partner *partner = &partners->partners.items[row->partner];
        rs_vec3 mean = rs_scale(0.5, rs_add(row->before, velocity_against(d, partner, row)));
        sum += rs_dot(rs_madd(row->slide, row->push, row->normal), mean);
    }
    return sum;
}

double rs_deformable_contact_power(const rs_deformable *d, const rs_partners *partners) {
    double sum = 0.0;
    for (int64_t k = 0; k < d->rows.count; k++) {
        const rs_soft_row *row = &d->rows.items[k];
        const rs_partner *partner = &partners->partners.items[row->partner];
        sum += rs_dot(rs_madd(row->slide, row->push, row->normal), velocity_against(d, partner, row));
    }
    return sum;
}

void rs_deformable_return_contacts(rs_deformable *d, rs_partners *partners, double share) {
    for (int64_t k = 0; k < d->rows.count; k++) {
        const rs_soft_row *row = &d->rows.items[k];
        rs_vec3 impulse = rs_scale(share, rs_madd(row->slide, row->push, row->normal));
        for (int m = 0; m < row->count; m++) {
            rs_quad *v = &d->v.items[row->particle[m]];
            v->xyz = rs_madd(v->xyz, -row->weight[m] * v->rest, impulse);
        }
        rs_partner_push(&partners->partners.items[row->partner], row->point, impulse);
    }
    rs_deformable_inner_motion(d, false);
    rs_deformable_scale_inner_motion(d, 0.0);
}

static int32_t piece_of(const rs_deformable *d, const rs_soft_row *row) { return d->piece.items[row->particle[0]]; }

void rs_deformable_lift_pieces(rs_deformable *d, double h) {
    rs_soft_row *rows = d->rows.items;
    rs_soft_piece *pieces = d->pieces.items;
    bool any = false;
    for (int64_t k = 0; k < d->pieces.count; k++) {
        pieces[k].lift = rs_v3_zero();
        pieces[k].overlaps = 0;
    }
    for (int64_t k = 0; k < d->rows.count && d->ties.count == 0; k++)
        if (rows[k].lift > 0.0 && piece_of(d, &rows[k]) != RS_NONE) {
            rs_soft_piece *own = &pieces[piece_of(d, &rows[k])];
            own->lift = rs_madd(own->lift, rows[k].lift, rows[k].normal);
            own->overlaps++;
            any = true;
        }
    if (!any)
        return;
    for (int64_t k = 0; k < d->pieces.count; k++) {
        pieces[k].lift = rs_scale(1.0 / rs_max(pieces[k].overlaps, 1), pieces[k].lift);
        d->lift_speed = rs_max(d->lift_speed, rs_norm(pieces[k].lift) / h);
    }
    for (int64_t i = 0; i < d->x.count; i++) {
        int32_t piece = d->piece.items[i];
        rs_vec3 way = piece == RS_NONE ? rs_v3_zero() : pieces[piece].lift;
        d->x.items[i].xyz = rs_add(d->x.items[i].xyz, way);
    }
    for (int64_t k = 0; k < d->rows.count; k++)
        if (rows[k].lift > 0.0 && piece_of(d, &rows[k]) != RS_NONE)
            rows[k].lift = rs_max(0.0, rows[k].lift - rs_dot(rows[k].normal, pieces[piece_of(d, &rows[k])].lift));
}

void rs_deformable_lift_rows(rs_deformable *d) {
    rs_quad *x = d->x.items;
    const rs_quad *v = d->v.items, *before = d->x_swept.items;
    for (int64_t k = 0; k < d->rows.count; k++) {
        const rs_soft_row *row = &d->rows.items[k];
        double moved = 0.0;
        for (int m = 0; m < row->count && row->lift > 0.0; m++)
            moved += row->weight[m] * rs_dot(row->normal, rs_sub(x[row->particle[m]].xyz, before[row->particle[m]].xyz));
        if (row->lift <= moved || row->inverse_mass <= 0.0)
            continue;
        for (int m = 0; m < row->count; m++) {
            int32_t i = row->particle[m];
            x[i].xyz = rs_madd(x[i].xyz, (row->lift - moved) * row->weight[m] * v[i].rest / row->inverse_mass, row->normal);
        }
    }
}
