#include "process/cores.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_cores__rounds_a_quota_up(void **unused)
{
	(void)unused;
	assert_int_equal(cores_of_quota("200000 100000\n"), 2);
	assert_int_equal(cores_of_quota("150000 100000\n"), 2);
	assert_int_equal(cores_of_quota("50000 100000\n"), 1);
}

static void test_cores__knows_when_there_is_no_quota(void **unused)
{
	(void)unused;
	assert_int_equal(cores_of_quota("max 100000\n"), 0);
	assert_int_equal(cores_of_quota("100000\n"), 0);
	assert_int_equal(cores_of_quota("100000 0\n"), 0);
	assert_int_equal(cores_of_quota(""), 0);
}

static void test_cores__keeps_to_the_affinity(void **unused)
{
	cpu_set_t before, one;
	int first = 0;

	(void)unused;
	assert_true(cores_available() >= 1);
	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	while (!CPU_ISSET(first, &before))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	assert_int_equal(cores_available(), 1);
	assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
	assert_true(cores_available() <= (unsigned)CPU_COUNT(&before));
}

/* A folder of groups, as text: path, then what is in the file. */
static void write_file(const char *folder, const char *path, const char *text)
{
	char whole[300];
	FILE *file;

	assert_true(snprintf(whole, sizeof whole, "mkdir -p $(dirname %s/%s)", folder, path) <
		    (int)sizeof whole);
	assert_int_equal(system(whole), 0);
	assert_true(snprintf(whole, sizeof whole, "%s/%s", folder, path) < (int)sizeof whole);
	file = fopen(whole, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static unsigned quota_in(const char *folder, const char *memberships)
{
	char path[300];

	write_file(folder, "memberships", memberships);
	assert_true(snprintf(path, sizeof path, "%s/memberships", folder) < (int)sizeof path);
	return cores_of_groups(folder, path);
}

static void test_cores__keeps_to_groups_of_both_versions(void **unused)
{
	char folder[] = "/tmp/raddle-cores-XXXXXX", command[100];

	(void)unused;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(quota_in(folder, "0::/\n"), 0);
	/* Version 2: the smallest of the groups around. */
	write_file(folder, "outer/cpu.max", "300000 100000\n");
	write_file(folder, "outer/inner/cpu.max", "max 100000\n");
	write_file(folder, "outer/small/cpu.max", "100000 100000\n");
	assert_int_equal(quota_in(folder, "0::/outer/inner\n"), 3);
	assert_int_equal(quota_in(folder, "0::/outer/small\n"), 1);
	assert_int_equal(quota_in(folder, "0::/elsewhere\n"), 0);
	/* Version 1: processors have a location of their own. */
	write_file(folder, "cpu,cpuacct/job/cpu.cfs_quota_us", "450000\n");
	write_file(folder, "cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
	write_file(folder, "cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
	write_file(folder, "cpu,cpuacct/cpu.cfs_period_us", "100000\n");
	write_file(folder, "cpuset/job/cpu.cfs_quota_us", "100000\n");
	write_file(folder, "cpuset/job/cpu.cfs_period_us", "100000\n");
	assert_int_equal(quota_in(folder, "5:cpuset:/job\n4:cpu,cpuacct:/job\n"), 5);
	assert_int_equal(quota_in(folder, "5:cpuset:/job\n4:cpu,cpuacct:/\n"), 0);
	/* A container sees its own group as the root. */
	write_file(folder, "cpu,cpuacct/cpu.cfs_quota_us", "200000\n");
	assert_int_equal(quota_in(folder, "4:cpu,cpuacct:/docker/0123\n"), 2);
	/* Both: the smaller one. */
	assert_int_equal(quota_in(folder, "4:cpu,cpuacct:/job\n0::/outer/inner\n"), 2);
	(void)snprintf(command, sizeof command, "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cores__rounds_a_quota_up),
		cmocka_unit_test(test_cores__knows_when_there_is_no_quota),
		cmocka_unit_test(test_cores__keeps_to_the_affinity),
		cmocka_unit_test(test_cores__keeps_to_groups_of_both_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
