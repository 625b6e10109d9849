/* Momentum. Places are rounded, and velocities are what moved them over the length of a substep: of many short ones a piece
 * gets back what that cost. Angular momentum: constraints pull along the lines that they find at the end of a substep; seen from its beginning these
 * are turned a little, and what spins would slow down. What the constraints change of the angular momentum of a piece is
 * given back to it as a turn of the whole, in substeps in which it touches nothing. Pieces that are pinned to the world have
 * none to keep. */
#include "deformable.h"

/* Share of the inertia that counts as none: a rod cannot be turned about itself. */
static const double SMALLEST_SHARE = 1e-9;
/* Pieces whose particles turn farther than this in a substep, on average, are left alone [rad]. */
static const double MOST_TURN = 0.2;

static int32_t root_of(int32_t *leader, int32_t i) {
    while (leader[i] != i) {
        leader[i] = leader[leader[i]];
        i = leader[i];
    }
    return i;
}

static void join(int32_t *leader, const int32_t *index, int count) {
    for (int k = 1; k < count; k++) {
        int32_t a = root_of(leader, index[0]), b = root_of(leader, index[k]);
        leader[a > b ? a : b] = a > b ? b : a;
    }
}

static void join_all(const rs_deformable *d, int32_t *leader) {
    for (int64_t k = 0; k < d->struts.count; k++) {
        const rs_soft_strut *s = &d->struts.items[k];
        join(leader, (int32_t[2]){s->a, s->b}, 2);
    }
    for (int64_t k = 0; k < d->hinges.count; k++)
        join(leader, d->hinges.items[k].index, RS_HINGE_POINTS);
    for (int64_t k = 0; k < d->tetrahedra.count; k++)
        join(leader, d->tetrahedra.items[k].index, 4);
}

rs_status rs_deformable_find_pieces(rs_deformable *d) {
    int32_t n = (int32_t)d->x.count;
    if (rs_array_resize(&d->piece, n) != RS_OK || rs_array_resize(&d->x_swept, n) != RS_OK)
        return RS_OUT_OF_MEMORY;
    int32_t *piece = d->piece.items;
    for (int32_t i = 0; i < n; i++)
        piece[i] = i;
    join_all(d, piece);
    for (int32_t i = 0; i < n; i++)
        piece[i] = root_of(piece, i);
    for (int32_t i = 0; i < n; i++) /* pinned leaders point nowhere, and so do those that follow them */
        if (d->v.items[i].rest <= 0.0 && piece[i] != RS_NONE)
            piece[piece[i]] = RS_NONE;
    d->pieces.count = 0;
    for (int32_t i = 0; i < n; i++) { /* a leader is the first of its piece: its number stands there when others ask */
        if (piece[i] == RS_NONE)
            continue;
        if (piece[i] != i) {
            piece[i] = piece[piece[i]];
            continue;
        }
        piece[i] = (int32_t)d->pieces.count;
        if (rs_array_push(&d->pieces) == NULL)
            return RS_OUT_OF_MEMORY;
    }
    return RS_OK;
}

void rs_deformable_begin_spin(rs_deformable *d) {
    for (int64_t k = 0; k < d->pieces.count; k++)
        d->pieces.items[k] = (rs_soft_piece){0};
}

void rs_deformable_note_impulse(rs_deformable *d, int32_t particle, double weight, rs_vec3 impulse) {
    int32_t piece = d->piece.items[particle];
    if (piece != RS_NONE)
        d->pieces.items[piece].impulse = rs_madd(d->pieces.items[piece].impulse, weight, impulse);
}

void rs_deformable_find_velocities(rs_deformable *d, double h) {
    const rs_quad *x = d->x.items, *start = d->x_start.items;
    const int32_t *piece = d->piece.items;
    rs_soft_piece *pieces = d->pieces.items;
    for (int64_t i = 0; i < d->x.count; i++) {
        rs_quad *v = &d->v.items[i];
        rs_vec3 before = v->xyz;
        v->xyz = v->rest > 0.0 ? rs_scale(1.0 / h, rs_sub(x[i].xyz, start[i].xyz)) : rs_v3_zero();
        if (piece[i] == RS_NONE)
            continue;
        pieces[piece[i]].mass += d->masses.items[i];
        pieces[piece[i]].impulse = rs_madd(pieces[piece[i]].impulse, -d->masses.items[i], rs_sub(v->xyz, before));
    }
    for (int64_t i = 0; d->pieces.count > 0 && i < d->x.count; i++)
        if (piece[i] != RS_NONE) {
            const rs_soft_piece *own = &pieces[piece[i]];
            d->v.items[i].xyz = rs_madd(d->v.items[i].xyz, 1.0 / own->mass, own->impulse);
        }
}

void rs_deformable_before_sweep(rs_deformable *d) {
    if (d->pieces.count > 0)
        memcpy(d->x_swept.items, d->x.items, sizeof(rs_quad) * (size_t)d->x.count);
}

void rs_deformable_after_sweep(rs_deformable *d) {
    const rs_quad *x = d->x.items, *before = d->x_swept.items, *start = d->x_start.items;
    const double *masses = d->masses.items;
    const int32_t *piece = d->piece.items;
    rs_soft_piece *pieces = d->pieces.items;
    for (int64_t i = 0; d->pieces.count > 0 && i < d->x.count; i++) {
        if (piece[i] == RS_NONE)
            continue;
        rs_vec3 moved = rs_sub(x[i].xyz, before[i].xyz); /* together the masses stay: any place may be the origin */
        rs_vec3 *turn = &pieces[piece[i]].turn;
        *turn = rs_madd(*turn, masses[i], rs_cross(rs_sub(start[i].xyz, start[0].xyz), moved));
    }
}

static void add_inertia(rs_sym3 *sum, double mass, rs_vec3 r) {
    sum->xx += mass * (r.y * r.y + r.z * r.z);
    sum->yy += mass * (r.x * r.x + r.z * r.z);
    sum->zz += mass * (r.x * r.x + r.y * r.y);
    sum->xy -= mass * r.x * r.y;
    sum->xz -= mass * r.x * r.z;
    sum->yz -= mass * r.y * r.z;
}

/* Mass, centre, drift, inertia and motion of the pieces. */
static void measure_pieces(rs_deformable *d) {
    const rs_quad *x = d->x.items, *v = d->v.items;
    const double *masses = d->masses.items;
    const int32_t *piece = d->piece.items;
    rs_soft_piece *pieces = d->pieces.items;
    for (int64_t k = 0; k < d->pieces.count; k++)
        pieces[k] = (rs_soft_piece){.turn = pieces[k].turn};
    for (int64_t i = 0; d->pieces.count > 0 && i < d->x.count; i++)
        if (piece[i] != RS_NONE) {
            rs_soft_piece *own = &pieces[piece[i]];
            own->mass += masses[i];
            own->centre = rs_madd(own->centre, masses[i], x[i].xyz);
            own->drift = rs_madd(own->drift, masses[i], v[i].xyz);
        }
    for (int64_t k = 0; k < d->pieces.count; k++) {
        pieces[k].centre = rs_scale(1.0 / pieces[k].mass, pieces[k].centre);
        pieces[k].drift = rs_scale(1.0 / pieces[k].mass, pieces[k].drift);
    }
    for (int64_t i = 0; d->pieces.count > 0 && i < d->x.count; i++)
        if (piece[i] != RS_NONE) {
            rs_soft_piece *own = &pieces[piece[i]];
            rs_vec3 arm = rs_sub(x[i].xyz, own->centre), against = rs_sub(v[i].xyz, own->drift);
            add_inertia(&own->inertia, masses[i], arm);
            own->motion += masses[i] * rs_norm2(against);
            own->spin = rs_madd(own->spin, masses[i], rs_cross(arm, against));
        }
}

static double extent_of(const rs_soft_piece *piece) { /* twice the sum of mass * distance^2 */
    return piece->inertia.xx + piece->inertia.yy + piece->inertia.zz;
}

/* The angular velocity that an angular momentum comes to. */
static rs_vec3 turn_by(const rs_soft_piece *piece, rs_vec3 momentum) {
    rs_sym3 inertia = piece->inertia;
    double least = SMALLEST_SHARE * extent_of(piece);
    inertia.xx += least;
    inertia.yy += least;
    inertia.zz += least;
    rs_sym3 inverse = rs_sym3_inverse(&inertia);
    return rs_sym3_mulv(&inverse, momentum);
}

/* The turn that gives a piece back what it lost [rad/s]; none where it turns too far in the substep to tell. */
static rs_vec3 missing_turn(const rs_soft_piece *piece, double h) {
    double extent = extent_of(piece);
    if (!(extent > 0.0) || 2.0 * h * h * piece->motion > MOST_TURN * MOST_TURN * extent)
        return rs_v3_zero();
    return rs_scale(-1.0 / h, turn_by(piece, piece->turn));
}

void rs_deformable_end_spin(rs_deformable *d, double h) {
    const rs_quad *x = d->x.items;
    rs_quad *v = d->v.items;
    const int32_t *piece = d->piece.items;
    rs_soft_piece *pieces = d->pieces.items;
    measure_pieces(d);
    for (int64_t k = 0; k < d->pieces.count; k++)
        pieces[k].turn = missing_turn(&pieces[k], h);
    for (int64_t i = 0; d->pieces.count > 0 && i < d->x.count; i++)
        if (piece[i] != RS_NONE)
            v[i].xyz = rs_add(v[i].xyz, rs_cross(pieces[piece[i]].turn, rs_sub(x[i].xyz, pieces[piece[i]].centre)));
}

/* ---- what moves within pieces ---- */

static rs_vec3 rigid_motion(const rs_deformable *d, int64_t i) {
    int32_t own = d->piece.items[i];
    if (own == RS_NONE)
        return rs_v3_zero();
    const rs_soft_piece *piece = &d->pieces.items[own];
    return rs_add(piece->drift, rs_cross(piece->spin, rs_sub(d->x.items[i].xyz, piece->centre)));
}

double rs_deformable_inner_motion(rs_deformable *d, bool keep_spin) {
    double sum = 0.0;
    measure_pieces(d);
    for (int64_t k = 0; k < d->pieces.count; k++) {
        rs_soft_piece *piece = &d->pieces.items[k];
        piece->spin = keep_spin && extent_of(piece) > 0.0 ? turn_by(piece, piece->spin) : rs_v3_zero();
    }
    for (int64_t i = 0; i < d->x.count; i++)
        sum += d->masses.items[i] * rs_norm2(rs_sub(d->v.items[i].xyz, rigid_motion(d, i)));
    return sum;
}

void rs_deformable_scale_inner_motion(rs_deformable *d, double scale) {
    for (int64_t i = 0; i < d->x.count; i++) {
        rs_vec3 *v = &d->v.items[i].xyz, rigid = rigid_motion(d, i);
        *v = rs_madd(rigid, scale, rs_sub(*v, rigid));
    }
}

void rs_deformable_go_back(rs_deformable *d, double share) {
    rs_quad *x = d->x.items;
    const rs_quad *now = d->x_swept.items, *start = d->x_start.items;
    const double *masses = d->masses.items;
    const int32_t *piece = d->piece.items;
    rs_soft_piece *pieces = d->pieces.items;
    for (int64_t k = 0; k < d->pieces.count; k++)
        pieces[k] = (rs_soft_piece){0};
    for (int64_t i = 0; i < d->x.count; i++)
        if (piece[i] != RS_NONE) {
            rs_soft_piece *own = &pieces[piece[i]];
            own->mass += masses[i];
            own->lift = rs_madd(own->lift, masses[i], rs_sub(now[i].xyz, start[i].xyz));
        }
    for (int64_t i = 0; i < d->x.count; i++) {
        rs_vec3 way = piece[i] == RS_NONE ? rs_v3_zero() : rs_scale(1.0 / pieces[piece[i]].mass, pieces[piece[i]].lift);
        rs_vec3 back = rs_add(start[i].xyz, way);
        x[i].xyz = rs_madd(back, share, rs_sub(now[i].xyz, back));
    }
}
