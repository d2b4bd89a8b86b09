#include "process/cores.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

unsigned cores_of_quota(const char *text)
{
	unsigned long long quota, period;

	if (sscanf(text, "%llu %llu", &quota, &period) != 2 || !period || !quota)
		return 0;
	quota = (quota + period - 1) / period;
	return quota < UINT_MAX ? (unsigned)quota : 0;
}

static bool cores_read_line(const char *folder, const char *name, char *text, int size)
{
	char path[PATH_MAX];
	FILE *file;
	bool is_read;

	if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	is_read = fgets(text, size, file) != NULL;
	(void)fclose(file); /* the file was opened for reading */
	return is_read;
}

/* Returns the quota of this group alone, in the format of version 2 or 1; 0: none. */
static unsigned cores_quota_of(const char *folder)
{
	char quota[64], period[32], both[100];

	if (cores_read_line(folder, "cpu.max", quota, sizeof quota))
		return cores_of_quota(quota);
	if (!cores_read_line(folder, "cpu.cfs_quota_us", quota, sizeof quota) || *quota == '-' ||
		!cores_read_line(folder, "cpu.cfs_period_us", period, sizeof period))
		return 0;
	quota[strcspn(quota, "\n")] = '\0';
	(void)snprintf(both, sizeof both, "%s %s", quota, period); /* fits */
	return cores_of_quota(both);
}

static bool cores_is_listed(const char *list, size_t length, const char *word)
{
	for (const char *at = list; at < list + length; at += strcspn(at, ",:") + 1)
		if (!strncmp(at, word, strlen(word)) && strchr(",:", at[strlen(word)]))
			return true;
	return false;
}

/* Returns the smallest quota of the group and its ancestors up to the mount point; 0: none. */
static unsigned cores_smallest_quota(const char *mount, const char *group)
{
	char folder[PATH_MAX];
	unsigned smallest = 0;

	if (snprintf(folder, sizeof folder, "%s%s", mount, group) >= (int)sizeof folder)
		return 0;
	for (;;) {
		const unsigned quota = cores_quota_of(folder);

		if (quota && (!smallest || quota < smallest))
			smallest = quota;
		if (strlen(folder) <= strlen(mount))
			return smallest;
		*strrchr(folder, '/') = '\0';
	}
}

/* Parses a line of /proc/self/cgroup: "0::/group" (version 2) or "4:cpu,cpuacct:/group" (version
 * 1). */
static unsigned cores_quota_of_line(const char *mounts, const char *line)
{
	const char *list = strchr(line, ':');
	const char *group = list ? strchr(list + 1, ':') : NULL;
	char mount[PATH_MAX];

	if (!group)
		return 0;
	list++;
	if (group == list)
		return cores_smallest_quota(mounts, group + 1);
	if (!cores_is_listed(list, (size_t)(group - list), "cpu") ||
		snprintf(mount, sizeof mount, "%s/%.*s", mounts, (int)(group - list), list) >=
			(int)sizeof mount)
		return 0;
	return cores_smallest_quota(mount, group + 1);
}

unsigned cores_of_groups(const char *mounts, const char *memberships)
{
	FILE *file = fopen(memberships, "re");
	char line[PATH_MAX];
	unsigned smallest = 0;

	while (file && fgets(line, sizeof line, file)) {
		unsigned quota;

		line[strcspn(line, "\n")] = '\0';
		quota = cores_quota_of_line(mounts, line);
		if (quota && (!smallest || quota < smallest))
			smallest = quota;
	}
	if (file)
		(void)fclose(file); /* the file was opened for reading */
	return smallest;
}

unsigned cores_available(void)
{
	const unsigned quota = cores_of_groups("/sys/fs/cgroup", "/proc/self/cgroup");
	unsigned cores = 0;
	cpu_set_t set;

	/* The call fails with more than 1,024 processors: then raddle uses CPU_SETSIZE workers. */
	if (sched_getaffinity(0, sizeof set, &set) == 0)
		cores = (unsigned)CPU_COUNT(&set);
	if (!cores)
		cores = CPU_SETSIZE;
	return quota && quota < cores ? quota : cores;
}
