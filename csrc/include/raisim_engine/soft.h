/* Soft objects: many particles in one object. See raisim_engine.h. */
#ifndef RAISIM_ENGINE_SOFT_H
#define RAISIM_ENGINE_SOFT_H

#include "core.h"

/* cdef begin */

/* What grains are made of. Of two materials springs and dampers act in series, friction and cohesion are geometric means. */
typedef struct {
    double density;              /* [kg/m^3] */
    double normal_stiffness;     /* [N/m]; with Hertz' law [N/m^2]: force = k * sqrt(radius) * overlap^1.5 */
    double normal_damping;       /* [N s/m] */
    double tangential_stiffness; /* [N/m]; 0: half of the normal one */
    double tangential_damping;   /* [N s/m] */
    double friction;
    double rolling_friction;     /* largest torque = rolling friction * normal force * radius */
    double cohesion_stiffness;   /* [N/m] */
    double cohesion_distance;    /* surfaces nearer than this pull: force = stiffness * (distance - gap) [m] */
    int32_t hertz;
} rs_grain_material;
void rs_default_grain_material(rs_grain_material *material);

typedef struct {
    int32_t object_type;
    int64_t count;
    const double *positions;  /* x y z each [m] */
    const double *radii;      /* [m] */
    const double *velocities; /* or NULL: at rest */
    rs_grain_material material;
    int32_t substeps;         /* least number in a step; more are made where stiffness asks for them */
    int32_t contact_material; /* whose friction with bodies counts, as geometric mean with that of the grains */
    uint64_t collision_group, collision_mask;
} rs_grains_def;
void rs_default_grains_def(rs_grains_def *def);
rs_status rs_grains_create(rs_world *world, const rs_grains_def *def, rs_object_id *out);

/* Adds grains of a material at the end. */
rs_status rs_grains_add(rs_world *world, rs_object_id id, int64_t count, const double *positions, const double *radii,
                        const double *velocities, const rs_grain_material *material);
/* The last grain takes the number of the removed one. */
rs_status rs_grains_remove(rs_world *world, rs_object_id id, int64_t index);
rs_status rs_grains_clear(rs_world *world, rs_object_id id);
/* A fixed grain stays where it is, whatever hits it. */
rs_status rs_grains_set_fixed(rs_world *world, rs_object_id id, int64_t index, int32_t fixed);
rs_status rs_grains_set_material(rs_world *world, rs_object_id id, int64_t index, const rs_grain_material *material);
/* Of ground plane and container: friction and rolling friction count. */
rs_status rs_grains_set_boundary_material(rs_world *world, rs_object_id id, const rs_grain_material *material);
/* A plane for these grains alone. */
rs_status rs_grains_set_ground(rs_world *world, rs_object_id id, int32_t enabled, double height);
/* Walls for these grains alone: min, then max [m]. */
rs_status rs_grains_set_container(rs_world *world, rs_object_id id, int32_t enabled, const double box[6]);
/* Axes along which grains that leave the box on one side enter it on the other. */
rs_status rs_grains_set_periodic(rs_world *world, rs_object_id id, const int32_t axes[3], const double box[6]);

/* All that was set. */
typedef struct {
    int32_t substeps, contact_material;
    uint64_t collision_group, collision_mask;
    int32_t material_count;
    rs_grain_material boundary;
    int32_t has_ground, has_container, periodic[3];
    double ground, container[6], domain[6];
} rs_grains_settings;
rs_status rs_grains_get_settings(rs_world *world, rs_object_id id, rs_grains_settings *out);
rs_status rs_grains_get_material(rs_world *world, rs_object_id id, int32_t index, rs_grain_material *out);
/* Per grain: radius [m], number of its material, whether it is fixed, angular velocity. Any pointer may be NULL. */
rs_status rs_grains_read(rs_world *world, rs_object_id id, int64_t capacity, double *radii, int32_t *materials,
                         uint8_t *fixed, double *angular_velocities);
/* What the last step did. */
typedef struct {
    int32_t substeps, contacts, pairs, rebuilds;
    double largest_overlap; /* relative to the smaller radius */
    double largest_speed;   /* [m/s] */
} rs_grains_stats;
rs_status rs_grains_get_stats(rs_world *world, rs_object_id id, rs_grains_stats *out);

/* Cloth and other deformable objects: particles held together by springs without length but at rest. */
enum { RS_HINGE_POINTS = 6 };
typedef struct {
    double damping;       /* rate at which velocities decay [1/s] */
    double air_drag;      /* pressure across the surface = air_drag * (speed against the wind)^2 [kg/m^3] */
    double wind[3];       /* world frame [m/s] */
    double collision_radius; /* of each particle [m] */
    double tear_strain;   /* what is stretched by more than this share of its length tears; 0 or less: nothing does */
    int32_t iterations;   /* sweeps over the constraints in a substep */
    int32_t substeps;     /* least number in a step; more are made where stiffness asks for them */
    int32_t self_collision; /* not 0: it collides with itself */
} rs_deformable_settings;
typedef struct {
    int32_t object_type;
    int64_t count;
    const double *positions, *velocities; /* velocities may be NULL */
    const double *masses;     /* [kg] */
    const uint8_t *pinned;    /* per particle, or NULL */
    int64_t strut_count;
    const int32_t *struts;    /* pairs of particles */
    const double *compliances; /* of the struts [m/N]; 0: stiff */
    int64_t hinge_count;
    const int32_t *hinges;    /* RS_HINGE_POINTS particles each; those with a weight of 0 mean nothing */
    const double *hinge_weights; /* of these: |sum of weight * place| is how much they are bent */
    double bend_compliance;   /* 1 / flexural rigidity [1/(N m)] */
    int64_t triangle_count;
    const int32_t *triangles; /* what is seen and touched, and what the air presses on */
    int64_t tetrahedron_count;
    const int32_t *tetrahedra; /* four particles: their inside resists; particles of no triangle touch nothing */
    double volume_stiffness, shear_stiffness; /* of the tetrahedra [N/m^2]; Lame's first parameter is their difference */
    rs_deformable_settings settings;
    int32_t contact_material;
    uint64_t collision_group, collision_mask;
} rs_deformable_def;
rs_status rs_deformable_create(rs_world *world, const rs_deformable_def *def, rs_object_id *out);
rs_status rs_deformable_get_settings(rs_world *world, rs_object_id id, rs_deformable_settings *out);
rs_status rs_deformable_set_settings(rs_world *world, rs_object_id id, const rs_deformable_settings *settings);
/* A pinned particle stays where it is put. */
rs_status rs_deformable_pin(rs_world *world, rs_object_id id, int64_t index, int32_t pinned, const double position[3]);
/* Pins a particle to a body or a link of a robot, at a point of its frame [m], or where it is now (NULL): both feel it.
 * Unpinning ends that; so does removing the other object. */
rs_status rs_deformable_tie(rs_world *world, rs_object_id id, int64_t index, rs_object_id object, int32_t local,
                            const double point[3]);
/* How many particles are pinned to bodies, and up to `capacity` of them: particle, object, its local index, and where in its
 * frame (three numbers each) [m]. */
rs_status rs_deformable_read_ties(rs_world *world, rs_object_id id, int64_t capacity, int32_t *particles, rs_object_id *objects,
                                  int32_t *locals, double *points, int64_t *count);
/* Struts at the present distances. */
rs_status rs_deformable_add_struts(rs_world *world, rs_object_id id, int64_t count, const int32_t *struts,
                                   const double *compliances);
typedef struct {
    int64_t struts, hinges, triangles, tetrahedra;
} rs_deformable_counts;
rs_status rs_deformable_get_counts(rs_world *world, rs_object_id id, rs_deformable_counts *out);
/* Three particles each; there may be more of them after a tear. */
rs_status rs_deformable_get_triangles(rs_world *world, rs_object_id id, int32_t *triangles);
/* Replaces particles and triangles: none of them is pinned, nothing holds them together. */
rs_status rs_deformable_set_particles(rs_world *world, rs_object_id id, int64_t count, const double *positions, const double *masses,
                                      int64_t triangle_count, const int32_t *triangles);
rs_status rs_deformable_read(rs_world *world, rs_object_id id, uint8_t *pinned, double *masses);
/* What holds the particles together. Per strut: length at rest [m], compliance [m/N], impulse of the last substep times its
 * length [N s^2]; per hinge: six weights, bend at rest, compliance, impulse. `substep`: its length [s], 0: impulses are void. */
enum { RS_STRUT_NUMBERS = 3, RS_HINGE_NUMBERS = 9 };
rs_status rs_deformable_get_constraints(rs_world *world, rs_object_id id, int32_t *struts, double *strut_state, int32_t *hinges,
                                    double *hinge_state, double *substep);
/* In place of all that are there. */
rs_status rs_deformable_set_constraints(rs_world *world, rs_object_id id, int64_t strut_count, const int32_t *struts,
                                        const double *strut_state, int64_t hinge_count, const int32_t *hinges,
                                        const double *hinge_state, double substep);
/* What fills it. Per tetrahedron: nine numbers of the inverse of its edges at rest, row by row [1/m], volume at rest [m^3],
 * stiffness of volume and shear [N/m^2], two impulses. */
enum { RS_TETRAHEDRON_NUMBERS = 14 };
rs_status rs_deformable_get_tetrahedra(rs_world *world, rs_object_id id, int32_t *tetrahedra, double *state);
/* In place of all that are there; particles of no triangle touch nothing. */
rs_status rs_deformable_set_tetrahedra(rs_world *world, rs_object_id id, int64_t count, const int32_t *tetrahedra,
                                       const double *state);

/* Distances of points from a closed mesh, negative inside [m]. RS_INVALID_VALUE: the mesh is open or has a fault. */
rs_status rs_mesh_distances(int64_t vertex_count, const double *xyz, int64_t triangle_count, const int32_t *indices,
                            int64_t count, const double *points, double *out);

int64_t rs_soft_particle_count(rs_world *world, rs_object_id id);
/* x y z of each particle; either pointer may be NULL. */
rs_status rs_soft_read(rs_world *world, rs_object_id id, int64_t capacity, double *positions, double *velocities);
/* Places or moves all particles; NULL leaves what is there. Angular velocities of grains only. */
rs_status rs_soft_write(rs_world *world, rs_object_id id, int64_t count, const double *positions, const double *velocities,
                        const double *angular_velocities);
typedef struct {
    double mass;
    double kinetic_energy, potential_energy, elastic_energy; /* [J] */
    double linear_momentum[3], angular_momentum[3];          /* angular about the world's origin */
    double centre_of_mass[3];
} rs_soft_totals;
rs_status rs_soft_get_totals(rs_world *world, rs_object_id id, rs_soft_totals *out);
/* Impulses of the last step on bodies and links [N s], their moments about the centre of mass of a body or the origin of a
 * link [N m s]. *count tells how many there are; at most `capacity` are written. */
typedef struct {
    rs_object_id object;
    int32_t local;
    double impulse[3], moment[3];
} rs_soft_contact;
rs_status rs_soft_read_contacts(rs_world *world, rs_object_id id, int64_t capacity, rs_soft_contact *out, int64_t *count);

/* cdef end */

#endif
