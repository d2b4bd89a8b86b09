/* EXPECT: abort strategy=pct runs<=500 */
/*
 * Pattern: barrier misuse (one barrier for two groups of threads).
 *
 * Two teams render one picture each; each member renders a half. The members of a team wait at a
 * barrier for two; both teams use the same barrier. The second team starts when its picture has
 * been loaded, long after the first team is through.
 *
 * Fails when: the first team is late, and a member of each team arrives before either partner.
 * The barrier opens for these two, and one of them uses a half that its partner has not
 * rendered.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define TEAMS 2
#define TEAM_SIZE 2

struct picture {
	bool is_loaded;
	bool half_done[TEAM_SIZE]; /* each set by its member before the barrier */
};

struct member {
	struct picture *picture;
	int half;
	pthread_barrier_t *meeting_point;
};

static struct picture pictures[TEAMS] = {{.is_loaded = true}, {.is_loaded = false}};
static pthread_barrier_t halves_done;

static void *load(void *picture)
{
	((struct picture *)picture)->is_loaded = true;
	return NULL;
}

static void *render(void *argument)
{
	struct member *member = argument;
	struct picture *picture = member->picture;

	assert(picture->is_loaded);
	picture->half_done[member->half] = true;
	pthread_barrier_wait(member->meeting_point);
	assert(picture->half_done[0] && picture->half_done[1]);
	return NULL;
}

int main(void)
{
	pthread_t first[TEAM_SIZE], loader, second;
	struct member members[TEAMS][TEAM_SIZE];

	pthread_barrier_init(&halves_done, NULL, TEAM_SIZE);
	for (int i = 0; i < TEAMS * TEAM_SIZE; i++) {
		int team = i / TEAM_SIZE;
		int half = i % TEAM_SIZE;

		members[team][half] = (struct member){&pictures[team], half, &halves_done};
	}
	for (int half = 0; half < TEAM_SIZE; half++)
		pthread_create(&first[half], NULL, render, &members[0][half]);

	pthread_create(&loader, NULL, load, &pictures[1]);
	pthread_join(loader, NULL);
	pthread_create(&second, NULL, render, &members[1][0]);
	render(&members[1][1]);

	pthread_join(second, NULL);
	for (int half = 0; half < TEAM_SIZE; half++)
		pthread_join(first[half], NULL);
	pthread_barrier_destroy(&halves_done);
	printf("%d pictures rendered\n", TEAMS);
	return 0;
}
