/*
 * Fallback store for findings that the store refuses, for example because the disk is full. It lies
 * in a temporary folder. The campaign continues, and `raddle merge` can take the findings from
 * there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "explore/campaign_internal.h"

/* Adds a row for the campaign with zero runs: the main store has the real counts. */
static int campaign_spare_begin_row(struct campaign *campaign, struct error *err)
{
	struct store_campaign row = campaign->row;
	int status;

	row.runs = row.failures = row.steps = 0;
	row.run_end = row.run_first;
	status = store_campaign_begin(campaign->spare, &row, err);
	campaign->spare_campaign = row.id;
	return status;
}

static int open_spare(struct campaign *campaign, struct error *err)
{
	const char *temporary = getenv("TMPDIR");
	int status;

	(void)snprintf(campaign->spare_folder, sizeof campaign->spare_folder,
		"%s/raddle-finding.XXXXXX", temporary ? temporary : "/tmp");
	if (!mkdtemp(campaign->spare_folder))
		return error_set(err, ERROR_IO, "cannot make %s", campaign->spare_folder);
	status = store_open(&campaign->spare, campaign->spare_folder, STORE_WRITE, err);
	return status < 0 ? status : campaign_spare_begin_row(campaign, err);
}

int spare_keep(struct campaign *campaign, struct finding *finding, bool *is_new, struct error *err)
{
	struct error here;
	int status = 0;

	/* The caller that owns the store receives the error instead. */
	if (campaign->options->store)
		return err->code;
	if (!campaign->spare)
		status = open_spare(campaign, &here);
	if (status == 0)
		status = store_add_finding(
			campaign->spare, campaign->spare_campaign, finding, is_new, &here);
	if (status < 0)
		return err->code; /* the first error is reported */
	campaign_notice(campaign, "a finding is not stored (%s); it is kept in %s/.raddle",
		err->text, campaign->spare_folder);
	return 0;
}

void spare_notify(struct campaign *campaign)
{
	campaign_notice(campaign,
		"a finding could not be stored and is in %s/.raddle; make room and take it from there with raddle merge",
		campaign->spare_folder);
}
