/* The memory of a letter that a first thread has read becomes a parcel, which a second thread changes. Each is shared
 * correctly. Only a letter whose memory counts as the parcel's has units of work that are not serialisable. */
#include <pthread.h>
#include <stdlib.h>

struct letter {
	pthread_mutex_t lock;
	long lines, words;
	long text[200];
};
struct parcel {
	pthread_mutex_t lock;
	long weight, stamps;
	long contents[200];
};
_Static_assert(
	sizeof(struct letter) == sizeof(struct parcel), "the allocator must reuse the memory");

static long letter_count(struct letter *letter)
{
	long sum;

	pthread_mutex_lock(&letter->lock);
	sum = letter->lines;
	sum += letter->words;
	pthread_mutex_unlock(&letter->lock);
	return sum;
}

static void letter_close(struct letter *letter)
{
	letter->lines++;
	letter->words = letter->lines;
}

static void parcel_weigh(struct parcel *parcel)
{
	pthread_mutex_lock(&parcel->lock);
	parcel->weight++;
	parcel->stamps = parcel->weight;
	pthread_mutex_unlock(&parcel->lock);
}

static long parcel_open(struct parcel *parcel)
{
	return parcel->weight + parcel->stamps;
}

static void *read_letter(void *letter)
{
	return (void *)letter_count(letter);
}

static void *weigh_parcel(void *parcel)
{
	parcel_weigh(parcel);
	return NULL;
}

int main(void)
{
	struct letter *letter = calloc(1, sizeof *letter);
	struct parcel *parcel;
	pthread_t thread;

	pthread_mutex_init(&letter->lock, NULL);
	pthread_create(&thread, NULL, read_letter, letter);
	(void)letter_count(letter);
	pthread_join(thread, NULL);
	letter_close(letter);
	pthread_mutex_destroy(&letter->lock);
	free(letter);
	parcel = calloc(1, sizeof *parcel);
	pthread_mutex_init(&parcel->lock, NULL);
	pthread_create(&thread, NULL, weigh_parcel, parcel);
	pthread_join(thread, NULL);
	(void)parcel_open(parcel);
	pthread_mutex_destroy(&parcel->lock);
	free(parcel);
	return 0;
}
