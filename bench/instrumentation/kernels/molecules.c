/* Molecular dynamics: Lennard-Jones forces between particles in a periodic box, velocity Verlet. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PARTICLES 256
#define STEPS 60
#define BOX 8.0
#define CUTOFF 2.5
#define TIME_STEP 0.002

struct particle {
	double position[3], velocity[3], force[3];
};

static struct particle particles[PARTICLES];
static double potential;
long interactions;

static double wrap(double distance)
{
	if (distance > BOX / 2)
		return distance - BOX;
	return distance < -BOX / 2 ? distance + BOX : distance;
}

static void attract(struct particle *a, struct particle *b)
{
	double between[3];
	double square = 0;
	double inverse, sixth, strength;

	for (int i = 0; i < 3; i++) {
		between[i] = wrap(a->position[i] - b->position[i]);
		square += between[i] * between[i];
	}
	if (square > CUTOFF * CUTOFF)
		return;
	inverse = 1 / square;
	sixth = inverse * inverse * inverse;
	strength = 48 * inverse * sixth * (sixth - 0.5);
	potential += 4 * sixth * (sixth - 1);
	interactions++;
	for (int i = 0; i < 3; i++) {
		a->force[i] += strength * between[i];
		b->force[i] -= strength * between[i];
	}
}

static void compute_forces(void)
{
	potential = 0;
	for (int i = 0; i < PARTICLES; i++)
		for (int k = 0; k < 3; k++)
			particles[i].force[k] = 0;
	for (int i = 0; i < PARTICLES; i++)
		for (int j = i + 1; j < PARTICLES; j++)
			attract(&particles[i], &particles[j]);
}

static void move(void)
{
	for (int i = 0; i < PARTICLES; i++) {
		for (int k = 0; k < 3; k++) {
			struct particle *p = &particles[i];

			p->velocity[k] += p->force[k] * TIME_STEP;
			p->position[k] =
				fmod(p->position[k] + p->velocity[k] * TIME_STEP + BOX, BOX);
		}
	}
}

int main(void)
{
	for (int i = 0; i < PARTICLES; i++)
		for (int k = 0; k < 3; k++) {
			particles[i].position[k] = (i >> (3 * k) & 7) + 0.1 * (i % 3);
			particles[i].velocity[k] = 0.01 * ((i * 7 + k) % 11 - 5);
		}
	for (int step = 0; step < STEPS; step++) {
		compute_forces();
		move();
	}
	printf("%.6f %ld\n", potential, interactions);
	return 0;
}
