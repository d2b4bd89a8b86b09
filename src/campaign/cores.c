#include "campaign/cores.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_FOLDER "/sys/fs/cgroup"

unsigned cores_of_quota(const char *text)
{
	unsigned long long quota, period;

	if (sscanf(text, "%llu %llu", &quota, &period) != 2 || !period || !quota)
		return 0;
	quota = (quota + period - 1) / period;
	return quota < UINT_MAX ? (unsigned)quota : 0;
}

static unsigned quota_of(const char *folder)
{
	char path[PATH_MAX], text[64];
	unsigned cores = 0;
	FILE *file;

	if (snprintf(path, sizeof path, "%s/cpu.max", folder) >= (int)sizeof path)
		return 0;
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fgets(text, sizeof text, file))
		cores = cores_of_quota(text);
	(void)fclose(file); /* only read from */
	return cores;
}

/* The group that this process is in; empty: not known. Within a container it is the root of what is seen. */
static void find_group(char *group, size_t size)
{
	FILE *file = fopen("/proc/self/cgroup", "r");
	char line[PATH_MAX];

	*group = '\0';
	while (file && fgets(line, sizeof line, file))
		if (strncmp(line, "0::", 3) == 0) {
			line[strcspn(line, "\n")] = '\0';
			if (snprintf(group, size, "%s%s", GROUPS_FOLDER, line + 3) >= (int)size)
				*group = '\0';
		}
	if (file)
		(void)fclose(file); /* only read from */
}

/* The smallest quota of the group and those around it; 0: none. */
static unsigned smallest_quota(void)
{
	char group[PATH_MAX];
	unsigned smallest = quota_of(GROUPS_FOLDER);

	find_group(group, sizeof group);
	while (strlen(group) > strlen(GROUPS_FOLDER)) {
		const unsigned quota = quota_of(group);

		if (quota && (!smallest || quota < smallest))
			smallest = quota;
		*strrchr(group, '/') = '\0';
	}
	return smallest;
}

unsigned cores_available(void)
{
	const unsigned quota = smallest_quota();
	unsigned cores = 0;
	cpu_set_t set;

	/* Fails on machines of more than 1,024 processors: more workers than that there are not. */
	if (sched_getaffinity(0, sizeof set, &set) == 0)
		cores = (unsigned)CPU_COUNT(&set);
	if (!cores)
		cores = CPU_SETSIZE;
	return quota && quota < cores ? quota : cores;
}
