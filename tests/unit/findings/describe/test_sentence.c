/* Sentences with names and locations of a made-up run, for which there are no symbols. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "findings/describe/builder.h"

static char first[] = "main", second[] = "main.0";

struct scene {
	char *paths[2];
	struct trace_event events[2];
	struct thread_record threads[2];
	struct finding_step steps[2];
	struct finding_source source;
	struct finding finding;
	struct builder builder;
};

static void set_scene(struct scene *scene)
{
	*scene = (struct scene){.paths = {first, second},
		.events = {{.step = 1, .thread = 1, .kind = OP_YIELD},
			{.step = 2, .thread = 0, .kind = OP_YIELD}}};
	scene->source = (struct finding_source){.events = scene->events,
		.event_count = 2,
		.threads = scene->threads,
		.thread_count = 2};
	scene->finding.steps = scene->steps;
	scene->finding.step_count = 2;
	scene->builder = (struct builder){
		.source = &scene->source, .finding = &scene->finding, .paths = scene->paths};
}

static void test_builder_add_sentence__replaces_words_by_values(void **state)
{
	char file[] = "/src/bank.c";
	const struct finding_frame frame = {.file = file, .line = 41};
	struct scene scene;
	STRBUF_SCOPED out = STRBUF_EMPTY;

	(void)state;
	set_scene(&scene);
	builder_add_sentence(&scene.builder, &out,
		"{text} took {object} at {frame}; {thread} needs {object}", "main {0}",
		"mutex #3 first used at pool.c:12 by main.0", &frame, (struct thread_id){1}, NULL);
	assert_string_equal(out.text, "main {0} took mutex #3 at bank.c:41; main.0 needs it");
}

static void test_builder_add_sentence__marks_the_step_of_each_line(void **state)
{
	struct scene scene;
	STRBUF_SCOPED out = STRBUF_EMPTY;

	(void)state;
	set_scene(&scene);
	builder_add_sentence(&scene.builder, &out, "{actor} waits at {step}\n{actor} at {step}",
		&scene.events[1], &scene.events[0]);
	assert_int_equal(scene.steps[1].cause_line, 1);
	assert_int_equal(scene.steps[0].cause_line, 2);
	assert_non_null(strstr(out.text, "main waits at "));
	assert_non_null(strstr(out.text, "\nmain.0 at "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_builder_add_sentence__replaces_words_by_values),
		cmocka_unit_test(test_builder_add_sentence__marks_the_step_of_each_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
