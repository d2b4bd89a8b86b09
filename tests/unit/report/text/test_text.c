#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/text/text.h"
#include "support/sample_finding.h"

static const char expected_report[] =
	"F1  deadlock: main.0 and main.1 wait for each other\n"
	"two lines\n"
	"of words\n"
	"\n"
	"wait-for graph\n"
	"  thread  holds                               blocked on\n"
	"  main.0  mutex accounts taken at bank.c:51   mutex accounts+40 at bank.c:42,\n"
	"                                              held by main.1\n"
	"  main.1  mutex accounts+40 taken at          mutex accounts at bank.c:52, held\n"
	"          bank.c:41                           by main.0\n"
	"\n"
	"thread backtraces\n"
	"  main.0  (1 library frame left out)\n"
	"    transfer at src/bank.c:42\n"
	"    transfer_many at src/bank.c:60\n"
	"  main.1  (1 library frame left out)\n"
	"    transfer at src/bank.c:52\n"
	"    transfer_many at src/bank.c:60\n"
	"\n"
	"interleaving, in bank.c\n"
	"         main.0                             main.1\n"
	"  ... 12 earlier steps left out ...\n"
	"     13  locks mutex accounts :41\n"
	"  !  14                                     locks mutex accounts+40 :51\n"
	"     15                                     locks mutex accounts :52\n"
	"  >  16  locks mutex accounts+40 :42\n"
	"  x      blocked on mutex accounts+40 :42\n"
	"  x                                         blocked on mutex accounts :52\n"
	"  > context switch   ! preemption   x blocked   :N line N of bank.c\n"
	"\n"
	"last output of the program\n"
	"  balance 10\n"
	"\n"
	"found by  pct,depth=3, seed 18446744073709551615, run 41\n"
	"schedule  2 context switches, 1 preemption (when found: 30 context switches, 9\n"
	"          preemptions)\n"
	"needs     at most depth 3, radius 14 (2 change points, 14 acquisitions apart)\n"
	"replays   repeatable: failed again in 3 of 3 replays\n"
	"again     raddle replay F1\n";

static struct finding finding;

static int set_up(void **state)
{
	(void)state;
	finding = sample_finding();
	strcpy(finding.id, "F1");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	finding_release(&finding);
	return 0;
}

/* The caller frees the text. */
static char *report(struct report_style style)
{
	struct strbuf out;

	strbuf_init(&out);
	report_finding(&finding, &style, &out);
	return strbuf_detach(&out);
}

static void replace(char **text, const char *by)
{
	free(*text);
	*text = strdup(by);
}

static void test_report__contains_every_part(void **state)
{
	char *text = report((struct report_style){.columns = 80});

	(void)state;
	assert_string_equal(text, expected_report);
	free(text);
}

static void test_report__names_once_what_several_wait_for(void **state)
{
	const char *first;
	char *text;

	(void)state;
	/* Both wait for what main.1 holds. */
	replace(&finding.waits[1].object, finding.waits[0].object);
	replace(&finding.waits[1].holder, finding.waits[0].holder);
	finding.waits[1].held_since.line = finding.waits[0].held_since.line;
	text = report((struct report_style){.columns = 200});
	first = strstr(text, "taken at");
	assert_non_null(first);
	assert_null(strstr(first + 1, "taken at"));
	free(text);
}

/* A lambda that calls a short function of a header has the name of the line of the call. */
static void test_report__names_the_line_of_a_lambda_once(void **state)
{
	struct finding_step *step = &finding.steps[0];
	char *text, *to;

	(void)state;
	replace(&step->where.function, "lambda at bank.c:41");
	replace(&step->inner.function, "pop");
	replace(&step->inner.file, "queue.h");
	step->inner.line = 17;
	text = report((struct report_style){.columns = 80});
	to = text;
	for (const char *from = text; *from; from++) /* the cell has several lines */
		if (!strchr(" \n", *from) || to == text || to[-1] != ' ')
			*to++ = strchr(" \n", *from) ? ' ' : *from;
	*to = '\0';
	assert_non_null(strstr(text, ", pop (queue.h:17) by lambda at bank.c:41 "));
	assert_null(strstr(text, "bank.c:41 at line"));
	free(text);
}

static void test_report__keeps_to_the_columns_given(void **state)
{
	static const unsigned columns[] = {40, 53, 80, 132, 200};

	(void)state;
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
		char *text = report((struct report_style){.columns = columns[i]});

		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			if (strlen(line) > columns[i])
				fail_msg("%zu > %u columns: %s", strlen(line), columns[i], line);
		free(text);
	}
}

static void test_report__colours_only_when_asked(void **state)
{
	char *plain = report((struct report_style){0});
	char *coloured = report((struct report_style){.has_colour = true});

	(void)state;
	assert_null(strchr(plain, '\033'));
	assert_non_null(strstr(coloured, "\033[1;31m"));
	free(plain);
	free(coloured);
}

static void test_report__lets_no_control_character_through(void **state)
{
	static const char evil[] = "\033]0;owned\007\x7f";
	char *text;

	(void)state;
	replace(&finding.title, evil);
	replace(&finding.output, evil);
	replace(&finding.detail, evil);
	replace(&finding.steps[0].object, evil);
	replace(&finding.waits[0].object, evil);
	replace(&finding.waits[0].at.frames[1].function, evil);
	text = report((struct report_style){0});
	assert_null(strpbrk(text, "\033\007\x7f"));
	assert_non_null(strstr(text, "\\u001b]0;owned"));
	free(text);
}

static void test_report__shows_library_frames_when_asked(void **state)
{
	char *text = report((struct report_style){.has_system_frames = true});

	(void)state;
	assert_non_null(strstr(text, "pthread_mutex_lock in libc.so.6"));
	assert_null(strstr(text, "left out)"));
	free(text);
}

static void test_report__counts_the_middle_of_a_deep_stack(void **state)
{
	struct finding_stack *stack = &finding.waits[0].at;
	char *text;

	(void)state;
	stack->frames = realloc(stack->frames, 50 * sizeof *stack->frames);
	assert_non_null(stack->frames);
	while (stack->count < 50) {
		stack->frames[stack->count] =
			sample_frame("recurse", "src/bank.c", 1000 + stack->count, false);
		stack->count++;
	}
	text = report((struct report_style){0});
	assert_non_null(strstr(text, "recurse at src/bank.c:1010\n    ... 35 more ...\n"
				     "    recurse at src/bank.c:1046\n"));
	free(text);
}

static void test_report__becomes_a_list_when_threads_do_not_fit(void **state)
{
	char name[16];
	char *text;

	(void)state;
	finding.steps = realloc(finding.steps, 104 * sizeof *finding.steps);
	assert_non_null(finding.steps);
	for (unsigned i = 0; i < 100; i++) {
		(void)snprintf(name, sizeof name, "main.%u", i); /* fits */
		finding.steps[finding.step_count++] =
			sample_step(17 + i, name, "locks", "mutex m", 7);
	}
	text = report((struct report_style){.columns = 80});
	assert_non_null(strstr(text, " 116  main.99     locks mutex m :7\n"));
	free(text);
}

static void test_report__leaves_the_middle_of_a_long_story_out_and_says_so(void **state)
{
	char *text;
	unsigned lines = 0;

	(void)state;
	finding.steps = realloc(finding.steps, 5004 * sizeof *finding.steps);
	assert_non_null(finding.steps);
	for (unsigned i = 0; i < 5000; i++)
		finding.steps[finding.step_count++] =
			sample_step(17 + i, "main.0", "locks", "mutex m", 7 + i);
	text = report((struct report_style){.columns = 80, .steps_most = 40});
	assert_non_null(strstr(text, "  ... 4964 steps left out ...\n"));
	assert_non_null(strstr(text, " 5016  locks mutex m"));
	assert_non_null(strstr(text, "   13  locks mutex accounts"));
	for (char *at = strchr(text, '\n'); at; at = strchr(at + 1, '\n'))
		lines++;
	assert_in_range(lines, 40, 90);
	free(text);
}

/* The steps around the few preemptions of a minimised run are always shown. */
static void test_report__shows_preemptions_in_the_middle_of_an_interleaving(void **state)
{
	uint32_t first;
	char *text;

	(void)state;
	finding.steps = realloc(finding.steps, 5004 * sizeof *finding.steps);
	assert_non_null(finding.steps);
	first = finding.step_count;
	for (unsigned i = 0; i < 5000; i++)
		finding.steps[finding.step_count++] =
			sample_step(17 + i, "main.0", "locks", "mutex m", 7);
	finding.steps[first + 2000].is_preemption = true;
	finding.preemptions = 1;
	text = report((struct report_style){.columns = 80, .steps_most = 40});
	assert_non_null(strstr(text, "  !  2017  locks mutex m"));
	assert_non_null(strstr(text, "     2016  locks mutex m"));
	assert_null(strstr(text, "2018  locks mutex m"));
	free(text);
	finding.preemptions = 100;
	text = report((struct report_style){.columns = 80, .steps_most = 40});
	assert_null(strstr(text, "2017  locks mutex m"));
	free(text);
}

static void test_report__puts_threads_into_the_order_of_their_creation(void **state)
{
	static const char *const threads[] = {"main.10", "main.2", "main", "main.2.0"};
	char *text;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		replace(&finding.steps[i].thread, threads[i]);
	replace(&finding.waits[0].thread, "main");
	replace(&finding.waits[1].thread, "main.2");
	text = report((struct report_style){.columns = 120});
	assert_non_null(strstr(text, "  main.2                     main.2.0  "));
	assert_true(strstr(text, " main.2.0 ") < strstr(text, " main.10\n"));
	free(text);
}

static void test_report__names_files_where_there_are_several(void **state)
{
	char *text;

	(void)state;
	replace(&finding.steps[1].where.file, "src/shop.c");
	text = report((struct report_style){.columns = 80});
	assert_non_null(strstr(text, "interleaving\n"));
	assert_non_null(strstr(text, "locks mutex accounts bank.c:41"));
	assert_non_null(strstr(text, "locks mutex accounts+40 shop.c:51"));
	free(text);
}

static void test_report__counts_steps_inside_libraries(void **state)
{
	char *text;

	(void)state;
	finding.steps[2].where.is_system = true;
	replace(&finding.steps[2].where.module, "libc.so.6");
	text = report((struct report_style){.columns = 80});
	assert_null(strstr(text, "\n     15  "));
	assert_non_null(strstr(text, "... 1 step inside libraries left out ..."));
	free(text);
	/* The C++ library waits for the user. */
	replace(&finding.steps[2].where.module, "libstdc++.so.6");
	text = report((struct report_style){.columns = 80});
	assert_non_null(strstr(text, "\n     15  "));
	free(text);
}

static void test_report__explains_short_names_once(void **state)
{
	static const char full[] = "mutex #3 first used at pool.c:12 by main.0";
	char *text, *found;

	(void)state;
	replace(&finding.waits[0].object, full);
	replace(&finding.steps[1].object, full);
	text = report((struct report_style){.columns = 80});
	found = strstr(text, full);
	assert_non_null(found);
	assert_null(strstr(found + 1, full));
	assert_non_null(strstr(text, "locks mutex #3 :51\n"));
	assert_non_null(strstr(text, "mutex #3 taken at bank.c:41"));
	free(text);
}

static void test_report__says_that_a_finding_does_not_repeat(void **state)
{
	char *text;

	(void)state;
	finding.replays_failed_again = 1;
	text = report((struct report_style){0});
	assert_non_null(strstr(text, "not repeatable: failed again in only 1 of 3 replays"));
	free(text);
}

static void test_report__of_an_empty_finding_is_its_kind(void **state)
{
	static const struct finding empty = {.kind = OUTCOME_EXIT};
	struct strbuf out;

	(void)state;
	strbuf_init(&out);
	report_finding(&empty, &(struct report_style){0}, &out);
	assert_string_equal(out.text, "the program ended with a status other than 0\n\n");
	strbuf_release(&out);
}

#define WITH_FINDING(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FINDING(test_report__contains_every_part),
		WITH_FINDING(test_report__names_the_line_of_a_lambda_once),
		WITH_FINDING(test_report__keeps_to_the_columns_given),
		WITH_FINDING(test_report__names_once_what_several_wait_for),
		WITH_FINDING(test_report__colours_only_when_asked),
		WITH_FINDING(test_report__lets_no_control_character_through),
		WITH_FINDING(test_report__shows_library_frames_when_asked),
		WITH_FINDING(test_report__counts_the_middle_of_a_deep_stack),
		WITH_FINDING(test_report__becomes_a_list_when_threads_do_not_fit),
		WITH_FINDING(test_report__leaves_the_middle_of_a_long_story_out_and_says_so),
		WITH_FINDING(test_report__shows_preemptions_in_the_middle_of_an_interleaving),
		WITH_FINDING(test_report__puts_threads_into_the_order_of_their_creation),
		WITH_FINDING(test_report__names_files_where_there_are_several),
		WITH_FINDING(test_report__counts_steps_inside_libraries),
		WITH_FINDING(test_report__explains_short_names_once),
		WITH_FINDING(test_report__says_that_a_finding_does_not_repeat),
		cmocka_unit_test(test_report__of_an_empty_finding_is_its_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
