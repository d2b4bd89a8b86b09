/*
 * Serves batches of a campaign whose owner runs in another process, perhaps on another machine
 * (worker/remote.h). This side has one worker, the options of that campaign, and no store. The
 * owner investigates all failures.
 */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "explore/campaign.h"

enum serve_wish {
	SERVE_ON,
	SERVE_STOP, /* ends the batch after the current run */
	SERVE_END   /* ends the batch at once */
};

struct serve_link {
	void *context;
	/* Blocks until a batch arrives. The caller frees it. Returns NULL if no more batches
	 * follow. */
	char *(*next)(void *context, size_t *size);
	/* Polled while a batch is under way. */
	enum serve_wish (*wish)(void *context);
	void (*send)(void *context, const void *bytes, size_t size);
};

/* Returns when the owner sends no more batches. Returns a negative error if the target cannot be
 * run here. */
int campaign_serve(
	const struct campaign_options *options, const struct serve_link *link, struct error *err);
