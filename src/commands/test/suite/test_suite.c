#include "commands/test/suite/test_suite.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/strbuf.h"

#define SLOTS_FIRST 64

/* Returns the slot of the name: the slot has its case, or is free. */
static uint32_t *test_suite_slot(const struct test_suite *suite, const char *name)
{
	uint64_t at = hash_bytes(name, strlen(name));
	uint32_t *slot;

	do
		slot = &suite->slots[at++ % suite->slot_count];
	while (*slot && strcmp(suite->cases[*slot - 1].name, name) != 0);
	return slot;
}

static void test_suite_add_slots(struct test_suite *suite)
{
	if (2 * suite->count < suite->slot_count)
		return;
	free(suite->slots);
	suite->slot_count = suite->slot_count ? 2 * suite->slot_count : SLOTS_FIRST;
	suite->slots = array_new(suite->slot_count, sizeof *suite->slots);
	for (uint32_t i = 0; i < suite->count; i++)
		*test_suite_slot(suite, suite->cases[i].name) = i + 1;
}

bool test_suite_add(
	struct test_suite *suite, const char *group, const char *separator, const char *own)
{
	struct test_case *test;
	struct strbuf name = STRBUF_EMPTY;
	uint32_t *slot;

	if (!*own)
		return false;
	strbuf_addf(&name, "%s%s%s", group, *group ? separator : "", own);
	test_suite_add_slots(suite);
	slot = test_suite_slot(suite, name.text);
	if (*slot) {
		strbuf_release(&name);
		return false;
	}
	*slot = suite->count + 1;
	test = ARRAY_NEXT(suite->cases, suite->count);
	suite->total = suite->count;
	*test = (struct test_case){
		.name = strbuf_detach(&name), .group = string_copy(group), .own = string_copy(own)};
	return true;
}

void test_suite_add_child(struct test_suite *suite, const struct test_case *child)
{
	struct test_case *owner;

	ARRAY_APPEND(suite->cases, suite->total, *child);
	owner = &suite->cases[child->owner];
	/* The case has threads, those of the child. */
	if (owner->state == CASE_SINGLE)
		owner->state = CASE_COMPLETE;
}

bool test_suite_is_live(const struct test_suite *suite, uint32_t number)
{
	bool is_live = suite->cases[number].state == CASE_LIVE;

	for (uint32_t i = suite->count; i < suite->total; i++)
		is_live |= suite->cases[i].owner == number && suite->cases[i].state <= CASE_LIVE;
	return is_live;
}

void test_case_release(struct test_case *test)
{
	strings_free(test->argv);
	strings_free(test->environment);
	free(test->directory);
	free(test->input);
	free(test->name);
	free(test->group);
	free(test->own);
	free(test->covered);
	free(test->error);
}

void test_suite_release(struct test_suite *suite)
{
	for (uint32_t i = 0; i < suite->total; i++)
		test_case_release(&suite->cases[i]);
	for (uint32_t i = 0; i < suite->finding_count; i++) {
		free(suite->findings[i].title);
		free(suite->findings[i].fallback);
		free(suite->findings[i].cases);
	}
	free(suite->cases);
	free(suite->slots);
	free(suite->findings);
	*suite = (struct test_suite){0};
}

/* Returns whether `like`, of the case, is the finding. Two cases that only end with the same status
 * may fail for different reasons. */
static bool test_suite_is_equal(
	const struct test_finding *finding, const struct test_finding *like, uint32_t number)
{
	const bool has_reason =
		like->kind != OUTCOME_EXIT || !strstr(like->title, "ended with status");

	return finding->signature == like->signature && !strcmp(finding->title, like->title) &&
	       (has_reason || finding->cases[0] == number);
}

struct test_finding *test_suite_add_finding(
	struct test_suite *suite, uint32_t number, const struct test_finding *like)
{
	struct test_finding *finding = NULL;

	for (uint32_t i = 0; i < suite->finding_count && !finding; i++)
		if (test_suite_is_equal(&suite->findings[i], like, number))
			finding = &suite->findings[i];
	if (!finding) {
		finding = ARRAY_NEXT(suite->findings, suite->finding_count);
		*finding = *like;
		finding->title = string_copy(like->title);
		finding->fallback = like->fallback ? string_copy(like->fallback) : NULL;
		finding->cases = NULL;
		finding->case_count = 0;
	}
	finding->is_repeatable |=
		like->is_repeatable; /* an interrupt may have ended the first replays */
	suite->cases[number].kinds |= UINT32_C(1) << like->kind;
	for (uint32_t i = 0; i < finding->case_count; i++)
		if (finding->cases[i] == number)
			return finding;
	ARRAY_APPEND(finding->cases, finding->case_count, number);
	return finding;
}

bool test_case_depends_on_schedule(const struct test_case *test)
{
	return test->failures && test->failures < test->runs;
}

/* Kinds from the most to the least urgent; kinds that are not listed come before exit. */
static unsigned test_suite_urgency(enum outcome_kind kind)
{
	static const enum outcome_kind first[] = {OUTCOME_CRASH, OUTCOME_SANITIZER,
		OUTCOME_USE_AFTER_FREE, OUTCOME_USE_AFTER_RETURN, OUTCOME_DOUBLE_FREE,
		OUTCOME_DEADLOCK, OUTCOME_SELF_DEADLOCK, OUTCOME_LOST_WAKEUP, OUTCOME_ABORT};
	static const enum outcome_kind last[] = {OUTCOME_EXIT, OUTCOME_CHECK_FAILED, OUTCOME_HANG,
		OUTCOME_LIVELOCK, OUTCOME_RACE, OUTCOME_WEAK};
	const unsigned count = sizeof first / sizeof *first;

	for (unsigned i = 0; i < count; i++)
		if (first[i] == kind)
			return i;
	for (unsigned i = 0; i < sizeof last / sizeof *last; i++)
		if (last[i] == kind)
			return count + 1 + i;
	return count;
}

static bool test_suite_depends(const struct test_suite *suite, const struct test_finding *finding)
{
	for (uint32_t i = 0; i < finding->case_count; i++)
		if (test_case_depends_on_schedule(&suite->cases[finding->cases[i]]))
			return true;
	return false;
}

/* A finding that repeats precedes others; then one in the program's own code; then one that depends
 * on the schedule; then the kind decides. */
static int test_suite_compare(
	const struct test_suite *suite, const struct test_finding *a, const struct test_finding *b)
{
	const bool a_depends = test_suite_depends(suite, a),
		   b_depends = test_suite_depends(suite, b);

	if (a->is_repeatable != b->is_repeatable)
		return a->is_repeatable ? -1 : 1;
	if (a->is_own_code != b->is_own_code)
		return a->is_own_code ? -1 : 1;
	if (a_depends != b_depends)
		return a_depends ? -1 : 1;
	if (a->kind != b->kind)
		return test_suite_urgency(a->kind) < test_suite_urgency(b->kind) ? -1 : 1;
	return 0;
}

/* Insertion sort, because it is stable and the findings are few. */
void test_suite_rank(struct test_suite *suite)
{
	for (uint32_t i = 1; i < suite->finding_count; i++) {
		const struct test_finding moved = suite->findings[i];
		uint32_t at = i;

		for (; at && test_suite_compare(suite, &moved, &suite->findings[at - 1]) < 0; at--)
			suite->findings[at] = suite->findings[at - 1];
		suite->findings[at] = moved;
	}
}
