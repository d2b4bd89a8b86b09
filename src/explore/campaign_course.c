/*
 * Progress of a campaign over time, for charts. Samples are close together at the beginning. When
 * the array is full, every other sample is dropped and the interval is doubled.
 */
#include <inttypes.h>

#include "base/bitset.h"
#include "base/strbuf.h"
#include "explore/campaign_internal.h"
#include "platform/platform.h"

#define FIRST_EVERY_NS UINT64_C(5000000)

static void course_thin(struct campaign_course *course)
{
	course->count /= 2;
	for (uint32_t i = 0; i < course->count; i++)
		course->moments[i] = course->moments[2 * i + 1];
	course->every_ns *= 2;
}

static void add_worker(struct campaign_course *course, struct course_moment *moment,
	const struct contract *contract)
{
	moment->runs += contract->totals.runs - contract->totals.outcome[OUTCOME_TAINTED];
	moment->failures += contract->totals.failures;
	for (uint32_t word = 0; word < CONTRACT_COVERED_WORDS; word++)
		course->covered[word] |= contract->covered[word];
}

void course_note(struct campaign *campaign, bool is_due)
{
	struct campaign_course *course = &campaign->course;
	struct course_moment moment = {.elapsed_ns = platform_monotonic_ns() - campaign->started_ns,
		.findings = campaign->key_count - campaign->options->known_failure_count};

	if (!course->every_ns)
		course->every_ns = FIRST_EVERY_NS;
	if (!is_due && course->count &&
		moment.elapsed_ns <
			course->moments[course->count - 1].elapsed_ns + course->every_ns)
		return;
	if (course->count == COURSE_MOMENTS_MAX)
		course_thin(course);
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		add_worker(course, &moment, campaign->workers[i].worker.contract);
	moment.covered = bitset_count(course->covered, CONTRACT_COVERED_WORDS);
	course->moments[course->count++] = moment;
}

char *course_text(const struct campaign_course *course)
{
	struct strbuf text;

	strbuf_init(&text);
	strbuf_adds(&text, "[");
	for (uint32_t i = 0; i < course->count; i++) {
		const struct course_moment *moment = &course->moments[i];

		strbuf_addf(&text,
			"%s{\"seconds\":%.3f,\"runs\":%" PRIu64 ",\"failures\":%" PRIu64
			",\"findings\":%" PRIu32 ",\"covered\":%" PRIu32 "}",
			i ? "," : "", (double)moment->elapsed_ns / 1e9, moment->runs,
			moment->failures, moment->findings, moment->covered);
	}
	strbuf_adds(&text, "]");
	return strbuf_detach(&text);
}
