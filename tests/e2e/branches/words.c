/*
 * Functions of the library that compare, search and measure shared memory, which is written in
 * other pieces than it is read: the marked conditions depend on the schedule, the others do not.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	int number;
	char name[12];
};

static char state[16] = "starting", request[32] = "GET /", path[64] = "/a/b";
static struct entry entry = {1, "none"};
static char *wanted;

static void *serve(void *unused)
{
	memcpy(state, "ready", 6);
	memcpy(request, "POST /a", 8);
	path[2] = 0;
	entry.number = 2;
	memcpy(entry.name, "some", 5);
	return unused;
}

int main(void)
{
	const struct entry other = {2, "some"};
	pthread_t thread;
	char copy[16];
	int found = 0;

	wanted = strdup("ready");
	if (pthread_create(&thread, NULL, serve, NULL))
		return 1;
	if (strcmp(state, "ready") == 0) /* sensitive */
		found++;
	if (strcmp(state, wanted) > 0) /* sensitive */
		found++;
	if (strncmp(request, "POST", 4) == 0) /* sensitive */
		found++;
	if (strlen(request) == 7) /* sensitive */
		found++;
	if (strnlen(path, 3) == 3) /* sensitive */
		found++;
	if (strchr(path + 1, '/')) /* sensitive */
		found++;
	if (memcmp(&entry, &other, 8) == 0) /* sensitive */
		found++;
	memcpy(copy, state, sizeof copy);
	if (strcmp(copy, "ready") == 0) /* sensitive */
		found++;
	if (strcmp(state, "never") == 0)
		found++;
	if (strlen(request) == 6)
		found++;
	if (!strchr(request, '/'))
		found++;
	(void)pthread_join(thread, NULL);
	if (strcmp(state, "ready") != 0)
		found++;
	free(wanted);
	return found > 16;
}
