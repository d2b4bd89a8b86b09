/* The memory of a freed envelope becomes a parcel, whose lock lies elsewhere in the block. The deadlock at `gate` and
 * `door` makes raddle print the steps of both. */
#include <pthread.h>
#include <stdlib.h>

struct envelope {
	long weight;
	pthread_mutex_t seal;
	long stamps[4];
};
struct parcel {
	pthread_mutex_t tape;
	long sides[5];
};
_Static_assert(
	sizeof(struct envelope) == sizeof(struct parcel), "the allocator must reuse the memory");

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER, door = PTHREAD_MUTEX_INITIALIZER;

static void post_envelope(void)
{
	struct envelope *envelope = calloc(1, sizeof *envelope);

	pthread_mutex_init(&envelope->seal, NULL);
	pthread_mutex_lock(&envelope->seal);
	envelope->stamps[1] = ++envelope->weight;
	pthread_mutex_unlock(&envelope->seal);
	pthread_mutex_destroy(&envelope->seal);
	free(envelope);
}

static void post_parcel(void)
{
	struct parcel *parcel = malloc(sizeof *parcel);

	pthread_mutex_init(&parcel->tape, NULL);
	pthread_mutex_lock(&parcel->tape);
	parcel->sides[1] = 1;
	pthread_mutex_unlock(&parcel->tape);
	pthread_mutex_destroy(&parcel->tape);
	free(parcel);
}

static void *post(void *unused)
{
	pthread_mutex_lock(&gate);
	post_envelope();
	post_parcel();
	pthread_mutex_lock(&door);
	pthread_mutex_unlock(&door);
	pthread_mutex_unlock(&gate);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, post, NULL);
	pthread_mutex_lock(&door);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	pthread_mutex_unlock(&door);
	return pthread_join(thread, NULL);
}
