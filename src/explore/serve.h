/*
 * Making batches for a campaign that is led elsewhere (remote.h): one worker, with the options of that campaign, and no
 * store. What it finds the leader looks into.
 */
#ifndef RADDLE_EXPLORE_SERVE_H
#define RADDLE_EXPLORE_SERVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "explore/campaign.h"

enum serve_wish {
	SERVE_ON,
	SERVE_STOP, /* the batch is to end */
	SERVE_END   /* everything is */
};

struct serve_link {
	void *context;
	/* Waits for a batch; to be freed. NULL: there will be no more. */
	char *(*next)(void *context, size_t *size);
	/* Asked while one is under way. */
	enum serve_wish (*wish)(void *context);
	void (*send)(void *context, const void *bytes, size_t size);
};

/* Until there are no more. Negative where the target cannot be run here. */
int campaign_serve(
	const struct campaign_options *options, const struct serve_link *link, struct error *err);

#endif
