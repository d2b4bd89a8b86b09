/*
 * Overwrites all of its writable memory but its stacks, whatever its owner, and calls a function. A
 * tool that keeps notes in this process loses them, and must neither believe what it finds in their
 * place nor hang.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REGIONS 256

struct region {
	uintptr_t start, end;
};

static void overwrite(const struct region *regions, int count, uintptr_t own_stack)
{
	for (int i = 0; i < count; i++) {
		volatile unsigned char *byte = (volatile unsigned char *)regions[i].start;

		if (own_stack >= regions[i].start && own_stack < regions[i].end)
			continue;
		while (byte < (volatile unsigned char *)regions[i].end)
			*byte++ = 0xa5;
	}
}

static void *work(void *unused)
{
	struct region regions[REGIONS]; /* lies on the stack, which is spared */
	char line[512];
	int count = 0;
	FILE *maps = fopen("/proc/self/maps", "r");

	if (!maps)
		return NULL;
	while (count < REGIONS && fgets(line, sizeof(line), maps)) {
		struct region *region = &regions[count];
		char mode[8];

		if (sscanf(line, "%lx-%lx %7s", &region->start, &region->end, mode) == 3 &&
			mode[1] == 'w' && !strstr(line, "[stack]") &&
			region->end - region->start < 16 << 20)
			count++;
	}
	fclose(maps);
	overwrite(regions, count, (uintptr_t)regions);
	puts("still here");
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 0;
}
