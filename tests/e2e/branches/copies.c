/*
 * Strings that are copied from shared memory, and to it: the conditions that are marked depend on the schedule, and the others do
 * not. What is copied may be shorter than it was.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char state[16] = "starting", name[16] = "somebody", list[32] = "a,", padded[8] = "........";
static char shortened[16] = "longer";
static char published[16], extended[16] = "to ", plain[16] = "unset";
static volatile int seen;

static void *serve(void *unused)
{
	strcpy(plain, "ready");
	memcpy(state, "ready", 6);
	memcpy(shortened, "one", 4);
	memcpy(name, "everybody", 10);
	return unused;
}

/* What is written for it is shared. */
static void *look(void *unused)
{
	if (strcmp(published, "ready") == 0) /* sensitive */
		seen++;
	if (published[0] == 'x')
		seen++;
	if (padded[7] == 'g') /* sensitive */
		seen++;
	if (extended[3] == 'r') /* sensitive */
		seen++;
	return unused;
}

int main(void)
{
	char *own = malloc(32), *checked = malloc(32), *end, *joined = malloc(32);
	pthread_t thread, other;

	if (pthread_create(&thread, NULL, serve, NULL))
		return 1;
	if (plain[0] == 'r') /* sensitive */
		seen++;
	if (strcmp(plain, "ready") == 0) /* sensitive */
		seen++;
	strcpy(own, state);
	if (strcmp(own, "ready") == 0) /* sensitive */
		seen++;
	strcpy(own, state);
	if (strlen(own) == 5) /* sensitive */
		seen++;
	strcpy(own, state);
	if (own[0] == 'r') /* sensitive */
		seen++;
	if (own[0] == 'x')
		seen++;
	end = stpncpy(own, state, 16);
	if (end - own == 5) /* sensitive */
		seen++;
	strcpy(joined, "is ");
	strncat(joined, state, 4);
	if (joined[3] == 'r') /* sensitive */
		seen++;
	if (joined[7])
		seen++;
	strcpy(joined, "is ");
	strncat(joined, state, 12);
	if (strcmp(joined, "is ready") == 0) /* sensitive */
		seen++;
	end = stpcpy(own, state);
	if (end - own == 5) /* sensitive */
		seen++;
	__builtin___strcpy_chk(checked, shortened, 32);
	if (checked[0] == 'o') /* sensitive */
		seen++;
	strncpy(own, name, 9);
	if (own[8] == 'y') /* sensitive */
		seen++;
	strcpy(joined, "x ");
	strcat(joined, state);
	if (strcmp(joined, "x ready") == 0) /* sensitive */
		seen++;
	strcpy(published, state);
	strncpy(padded, state, 8);
	__builtin___strcat_chk(extended, state, 16);
	if (pthread_create(&other, NULL, look, NULL))
		return 1;
	(void)pthread_join(thread, NULL);
	(void)pthread_join(other, NULL);
	strcpy(list + 2, state);
	if (strcmp(list, "a,ready") != 0)
		seen++;
	return 0;
}
