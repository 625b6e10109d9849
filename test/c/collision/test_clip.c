/* Polygon clipping: shapes with known intersections, stable vertex names. */
#include "../../../csrc/collision/clip.h"

#include "../check.h"

static rs_clip_polygon square(double half, double slope)
{
    rs_clip_polygon p = {.count = 4};
    for (int i = 0; i < 4; i++) {
        double x = i == 1 || i == 2 ? half : -half, y = i >= 2 ? half : -half;
        p.vertices[i] = (rs_clip_vertex){x, y, slope * x, (uint8_t)((i + 3) % 4), (uint8_t)i};
    }
    return p;
}

static double area(const rs_clip_polygon *p)
{
    double sum = 0.0;
    for (int i = 0; i < p->count; i++) {
        const rs_clip_vertex *a = &p->vertices[i], *b = &p->vertices[(i + 1) % p->count];
        sum += 0.5 * (a->x * b->y - a->y * b->x);
    }
    return sum;
}

static void a_line_that_misses_changes_nothing(void)
{
    rs_clip_polygon p = square(1.0, 0.5);
    rs_clip_by_line(&p, 1.0, 0.0, 1.0, 9);
    CHECK(p.count == 4);
    CHECK_NEAR(area(&p), 4.0, 0.0);
}

static void a_line_beyond_everything_leaves_nothing(void)
{
    rs_clip_polygon p = square(1.0, 0.5);
    rs_clip_by_line(&p, 1.0, 0.0, -1.5, 9);
    CHECK(p.count == 0);
}

static void a_cut_corner_gets_two_vertices_on_the_slope(void)
{
    rs_clip_polygon p = square(1.0, 0.5);
    rs_clip_by_line(&p, 1.0, 1.0, 1.5, 9);
    CHECK(p.count == 5);
    CHECK_NEAR(area(&p), 4.0 - 0.125, 1e-15);
    for (int i = 0; i < p.count; i++)
        CHECK_NEAR(p.vertices[i].z, 0.5 * p.vertices[i].x, 1e-15);
}

static void two_squares_share_an_octagon(void)
{
    rs_clip_polygon p = square(1.0, 0.0);
    double c = sqrt(0.5);
    for (int i = 0; i < 4; i++) {
        double sx = i & 1 ? c : -c, sy = i & 2 ? c : -c;
        rs_clip_by_line(&p, sx, sy, 1.0, (uint8_t)(4 + i));
    }
    CHECK(p.count == 8);
    CHECK_NEAR(area(&p), 8.0 * (sqrt(2.0) - 1.0), 1e-14);
}

static void names_stay_while_the_line_moves(void)
{
    rs_clip_polygon p = square(1.0, 0.0), q = square(1.0, 0.0);
    rs_clip_by_line(&p, 1.0, 0.1, 0.5, 9);
    rs_clip_by_line(&q, 1.0, 0.1, 0.6, 9);
    if (!CHECK(p.count == q.count))
        return;
    for (int i = 0; i < p.count; i++) {
        CHECK(p.vertices[i].in == q.vertices[i].in && p.vertices[i].out == q.vertices[i].out);
        for (int j = 0; j < i; j++)
            CHECK(p.vertices[i].in != p.vertices[j].in || p.vertices[i].out != p.vertices[j].out);
    }
}

static void a_segment_is_cut_on_either_side(void)
{
    for (int side = 0; side < 2; side++) {
        rs_clip_polygon p = {.count = 2, .vertices = {{-1, 0, 0, 1, 0}, {3, 0, 4, 0, 1}}};
        rs_clip_by_line(&p, side ? -1.0 : 1.0, 0.0, 0.0, 9);
        if (!CHECK(p.count == 2))
            return;
        CHECK_NEAR(p.vertices[0].x, side ? 0.0 : -1.0, 1e-15);
        CHECK_NEAR(p.vertices[1].x, side ? 3.0 : 0.0, 1e-15);
        CHECK_NEAR(p.vertices[side ? 0 : 1].z, 1.0, 1e-15);
    }
}

/* A side that lies on the line but for rounding, steep along itself: a cut would end anywhere on it. */
static void rounding_does_not_cut_a_flush_side(void)
{
    rs_clip_polygon p = square(1.0, 0.0);
    p.vertices[2] = (rs_clip_vertex){1.0 + 2e-16, 1.0, 5.0, 1, 2};
    p.vertices[1].x = 1.0 - 1e-16;
    rs_clip_by_line(&p, 1.0, 0.0, 1.0, 9);
    CHECK(p.count == 4);
    CHECK(p.vertices[2].z == 5.0 && p.vertices[2].in == 1 && p.vertices[2].out == 2);
}

int main(void)
{
    RUN(a_line_that_misses_changes_nothing);
    RUN(a_line_beyond_everything_leaves_nothing);
    RUN(a_cut_corner_gets_two_vertices_on_the_slope);
    RUN(two_squares_share_an_octagon);
    RUN(names_stay_while_the_line_moves);
    RUN(a_segment_is_cut_on_either_side);
    RUN(rounding_does_not_cut_a_flush_side);
    return CHECK_RESULT();
}
