#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "parallel/remote/roll.h"

#define SILENT_NS (UINT64_C(3600) * 1000000000)

struct scene {
	struct roll roll;
	struct link link;
	struct campaign_listener listener;
	unsigned notice_count;
	char notice[256];
};

static void scene_notice(void *context, const char *text)
{
	struct scene *scene = context;

	scene->notice_count++;
	(void)snprintf(scene->notice, sizeof scene->notice, "%s", text);
}

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof *scene);

	assert_non_null(scene);
	scene->link.ranks = 3;
	scene->listener = (struct campaign_listener){.notice = scene_notice, .context = scene};
	roll_open(&scene->roll, &scene->link, &scene->listener, SILENT_NS);
	scene->roll.fingerprint = 77;
	scene->roll.target.path = strdup("/bin/program");
	*state = scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	roll_close(&scene->roll);
	free(scene);
	return 0;
}

/* The member was last heard more than an hour before. */
static void test_roll__notices_silence_once_and_its_end(void **state)
{
	struct scene *scene = *state;

	roll_look_for_silence(&scene->roll);
	assert_int_equal(scene->notice_count, 0);
	scene->roll.members[2].heard_ns -= SILENT_NS;
	roll_look_for_silence(&scene->roll);
	roll_look_for_silence(&scene->roll);
	assert_int_equal(scene->notice_count, 1);
	assert_non_null(strstr(scene->notice, "rank 2 has sent nothing for 3600 s"));
	roll_hear(&scene->roll, 2);
	assert_int_equal(scene->notice_count, 2);
	assert_string_equal(scene->notice, "rank 2 sends messages again");
	roll_look_for_silence(&scene->roll);
	roll_hear(&scene->roll, 2);
	assert_int_equal(scene->notice_count, 2);
}

static void test_roll__expects_nothing_of_who_left(void **state)
{
	struct scene *scene = *state;

	scene->roll.members[1].state = MEMBER_LEFT;
	scene->roll.members[1].heard_ns -= SILENT_NS;
	roll_look_for_silence(&scene->roll);
	assert_int_equal(scene->notice_count, 0);
}

static int take_hello(struct scene *scene, const char *release, uint64_t target, size_t size)
{
	struct wire_hello hello = {.target = target, .host = "node7", .folder = "/tmp/member"};
	struct link_message message = {.from = 1, .size = size, .bytes = (char *)&hello};

	(void)snprintf(hello.release, sizeof hello.release, "%s", release);
	scene->roll.failure = (struct error){0};
	roll_take_hello(&scene->roll, &message);
	return scene->roll.failure.code;
}

static void test_roll__takes_members_of_the_same_release_and_program(void **state)
{
	struct scene *scene = *state;
	const size_t size = sizeof(struct wire_hello);

	assert_int_equal(take_hello(scene, RADDLE_RELEASE, 77, size), 0);
	assert_string_equal(scene->roll.members[1].host, "node7");
	assert_string_equal(scene->roll.members[1].folder, "/tmp/member");
	assert_int_equal(take_hello(scene, RADDLE_RELEASE, 78, size), ERROR_TARGET);
	assert_non_null(strstr(scene->roll.failure.text, "/bin/program"));
	assert_int_equal(take_hello(scene, "9.9.9", 77, size), ERROR_VERSION);
	/* Another release may send another size. */
	assert_int_equal(take_hello(scene, RADDLE_RELEASE, 77, size - 1), ERROR_VERSION);
	assert_string_equal(scene->roll.members[1].host, "");
}

static void test_roll__keeps_the_first_refusal(void **state)
{
	struct scene *scene = *state;
	struct link_message message = {.from = 2, .tag = 99, .size = 5};

	roll_refuse(&scene->roll, &message);
	message.from = 1;
	roll_refuse(&scene->roll, &message);
	assert_int_equal(scene->roll.failure.code, ERROR_FORMAT);
	assert_non_null(strstr(scene->roll.failure.text, "rank 2 "));
	assert_int_equal(scene->roll.members[1].state, MEMBER_LEFT);
	assert_int_equal(scene->roll.members[2].state, MEMBER_LEFT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_roll__notices_silence_once_and_its_end),
		TEST(test_roll__expects_nothing_of_who_left),
		TEST(test_roll__takes_members_of_the_same_release_and_program),
		TEST(test_roll__keeps_the_first_refusal),
	};

	return cmocka_run_group_tests_name("roll", tests, NULL, NULL);
}
