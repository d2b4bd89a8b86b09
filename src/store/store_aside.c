#include "store/store_aside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/strbuf.h"
#include "store/store_internal.h"

struct aside_finding {
	uint64_t campaign;
	uint64_t times; /* occurrences */
	char *json, *trace;
	size_t trace_size;
};

struct store_aside {
	struct store_campaign *campaigns;
	uint32_t campaign_count;
	struct aside_finding *findings;
	uint32_t finding_count;
};

void store_open_aside(struct store **out)
{
	*out = array_new(1, sizeof **out);
	(*out)->folder_fd = (*out)->findings_fd = -1;
	(*out)->aside = calloc(1, sizeof *(*out)->aside);
	BUG_ON(!(*out)->aside);
}

/* Copies everything except the id. */
static void store_aside_copy_campaign(struct store_campaign *to, const struct store_campaign *from)
{
	const int64_t id = to->id;

	store_campaign_release(to);
	*to = *from;
	to->id = id;
	to->command = string_copy(from->command);
	to->options = string_copy(from->options);
	to->strategy = string_copy(from->strategy);
	to->state = string_copy(from->state);
	to->restart = string_copy(from->restart);
	to->course = string_copy(from->course);
}

void store_aside_begin(struct store_aside *aside, struct store_campaign *campaign)
{
	aside->campaigns =
		array_room(aside->campaigns, aside->campaign_count, sizeof *aside->campaigns);
	campaign->id = aside->campaign_count + 1;
	aside->campaigns[aside->campaign_count] = (struct store_campaign){.id = campaign->id};
	store_aside_copy_campaign(&aside->campaigns[aside->campaign_count++], campaign);
}

void store_aside_update(struct store_aside *aside, const struct store_campaign *campaign)
{
	BUG_ON(campaign->id < 1 || campaign->id > aside->campaign_count);
	store_aside_copy_campaign(&aside->campaigns[campaign->id - 1], campaign);
}

void store_aside_add(struct store_aside *aside, int64_t campaign, struct finding *finding)
{
	struct aside_finding *added;

	BUG_ON(campaign < 1 || campaign > aside->campaign_count);
	added = ARRAY_NEXT(aside->findings, aside->finding_count);
	(void)snprintf(finding->id, sizeof finding->id, "A%u", aside->finding_count); /* fits */
	*added = (struct aside_finding){.campaign = (uint64_t)campaign - 1,
		.times = 1,
		.json = finding_to_json(finding),
		.trace_size = finding->trace_size};
	if (!finding->trace)
		return;
	added->trace = array_new(finding->trace_size + 1, 1);
	memcpy(added->trace, finding->trace, finding->trace_size);
}

void store_aside_count(struct store_aside *aside, const char *id, uint64_t times)
{
	const uint64_t number = strtoull(id + 1, NULL, 10);

	BUG_ON(number < 1 || number > aside->finding_count);
	aside->findings[number - 1].times += times;
}

void store_aside_free(struct store_aside *aside)
{
	if (!aside)
		return;
	for (uint32_t i = 0; i < aside->campaign_count; i++)
		store_campaign_release(&aside->campaigns[i]);
	for (uint32_t i = 0; i < aside->finding_count; i++) {
		free(aside->findings[i].json);
		free(aside->findings[i].trace);
	}
	free(aside->campaigns);
	free(aside->findings);
	free(aside);
}

static void store_aside_pack_text(struct strbuf *answer, const char *text)
{
	forked_job_add_text(answer, text, text ? strlen(text) : 0);
}

static void store_aside_pack_campaign(const struct store_campaign *campaign, struct strbuf *answer)
{
	/* The receiver uses the numbers and replaces the pointers. */
	strbuf_add(answer, (const char *)campaign, sizeof *campaign);
	store_aside_pack_text(answer, campaign->command);
	store_aside_pack_text(answer, campaign->options);
	store_aside_pack_text(answer, campaign->strategy);
	store_aside_pack_text(answer, campaign->state);
	store_aside_pack_text(answer, campaign->restart);
	store_aside_pack_text(answer, campaign->course);
}

static bool store_aside_unpack_campaign(
	struct store_campaign *campaign, struct forked_job_reading *reading)
{
	struct store_campaign numbers;

	if (!forked_job_take_bytes(reading, &numbers, sizeof numbers))
		return false;
	*campaign = numbers;
	campaign->command = campaign->options = campaign->strategy = NULL;
	campaign->state = campaign->restart = campaign->course = NULL;
	return forked_job_take_text(reading, &campaign->command, NULL) &&
	       forked_job_take_text(reading, &campaign->options, NULL) &&
	       forked_job_take_text(reading, &campaign->strategy, NULL) &&
	       forked_job_take_text(reading, &campaign->state, NULL) &&
	       forked_job_take_text(reading, &campaign->restart, NULL) &&
	       forked_job_take_text(reading, &campaign->course, NULL);
}

void store_aside_pack(const struct store *store, struct strbuf *answer)
{
	const struct store_aside *aside = store->aside;

	strbuf_add(answer, (const char *)&aside->campaign_count, sizeof aside->campaign_count);
	strbuf_add(answer, (const char *)&aside->finding_count, sizeof aside->finding_count);
	for (uint32_t i = 0; i < aside->campaign_count; i++)
		store_aside_pack_campaign(&aside->campaigns[i], answer);
	for (uint32_t i = 0; i < aside->finding_count; i++) {
		const struct aside_finding *finding = &aside->findings[i];

		strbuf_add(answer, (const char *)&finding->campaign, sizeof finding->campaign);
		strbuf_add(answer, (const char *)&finding->times, sizeof finding->times);
		store_aside_pack_text(answer, finding->json);
		forked_job_add_text(answer, finding->trace, finding->trace_size);
	}
}

static int store_aside_unpack_finding(struct store_aside_finding *out, uint32_t campaigns,
	struct forked_job_reading *reading, struct error *err)
{
	char *json, *trace = NULL;
	size_t json_size, trace_size = 0;
	int result = ERROR_FORMAT;

	if (forked_job_take_bytes(reading, &out->campaign, sizeof out->campaign) &&
		forked_job_take_bytes(reading, &out->times, sizeof out->times) &&
		forked_job_take_text(reading, &json, &json_size)) {
		if (json && out->campaign < campaigns &&
			forked_job_take_text(reading, &trace, &trace_size))
			result = finding_from_json(json, json_size, &out->finding, err);
		free(json);
	}
	if (result < 0) {
		free(trace);
		return error_set(
			err, ERROR_FORMAT, "the result of a raddle process cannot be read");
	}
	memcpy(out->aside_id, out->finding.id, sizeof out->aside_id);
	free(out->finding.trace);
	out->finding.trace = trace;
	out->finding.trace_size = trace_size;
	return 0;
}

int store_aside_unpack(
	struct store_unpacked *unpacked, struct forked_job_reading *reading, struct error *err)
{
	uint32_t campaigns = 0, findings = 0;
	int result = 0;

	*unpacked = (struct store_unpacked){0};
	if (!forked_job_take_bytes(reading, &campaigns, sizeof campaigns) ||
		!forked_job_take_bytes(reading, &findings, sizeof findings))
		return error_set(err, ERROR_FORMAT, "the result of a raddle process is truncated");
	unpacked->campaigns = array_new(campaigns + 1u, sizeof *unpacked->campaigns);
	unpacked->findings = array_new(findings + 1u, sizeof *unpacked->findings);
	while (result == 0 && unpacked->campaign_count < campaigns)
		if (!store_aside_unpack_campaign(
			    &unpacked->campaigns[unpacked->campaign_count++], reading))
			result = error_set(
				err, ERROR_FORMAT, "the result of a raddle process is truncated");
	while (result == 0 && unpacked->finding_count < findings) {
		result = store_aside_unpack_finding(
			&unpacked->findings[unpacked->finding_count], campaigns, reading, err);
		unpacked->finding_count += result == 0;
	}
	if (result < 0)
		store_unpacked_release(unpacked);
	return result;
}

void store_unpacked_release(struct store_unpacked *unpacked)
{
	for (uint32_t i = 0; i < unpacked->campaign_count; i++)
		store_campaign_release(&unpacked->campaigns[i]);
	for (uint32_t i = 0; i < unpacked->finding_count; i++)
		finding_release(&unpacked->findings[i].finding);
	free(unpacked->campaigns);
	free(unpacked->findings);
	*unpacked = (struct store_unpacked){0};
}

int store_keep_unpacked(struct store *store, struct store_unpacked *unpacked, struct error *err)
{
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < unpacked->campaign_count; i++)
		result = store_campaign_begin(store, &unpacked->campaigns[i], err);
	for (uint32_t i = 0; result == 0 && i < unpacked->finding_count; i++) {
		struct store_aside_finding *added = &unpacked->findings[i];

		store_rename(unpacked, added->finding.shown_by);
		result = store_add_finding(store, unpacked->campaigns[added->campaign].id,
			&added->finding, &added->is_new, err);
		if (result == 0 && added->times > 1)
			result = store_count_finding(
				store, added->finding.id, added->times - 1, err);
	}
	return result;
}

void store_rename(const struct store_unpacked *unpacked, char id[32])
{
	for (uint32_t i = 0; i < unpacked->finding_count; i++) {
		const struct store_aside_finding *added = &unpacked->findings[i];

		if (strcmp(added->aside_id, id) != 0)
			continue;
		(void)snprintf(id, 32, "%s", added->finding.id); /* fits */
		return;
	}
}
