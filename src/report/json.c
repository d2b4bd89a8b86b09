#include "report/json.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/strbuf.h"

/* Takes over `value`. Fails only without memory, which ends the process. */
static void put(json_t *object, const char *name, json_t *value)
{
	BUG_ON(!value || json_object_set_new(object, name, value));
}

/* Text of the user's command line may be any bytes; what is no UTF-8 is shown as ?. */
static json_t *text_value(const char *text)
{
	json_t *value;
	char *copy;

	if (!text)
		return json_null();
	value = json_string(text);
	if (value)
		return value;
	copy = strdup(text);
	BUG_ON(!copy);
	for (char *at = copy; *at; at++)
		if ((unsigned char)*at >= 0x80)
			*at = '?';
	value = json_string(copy);
	free(copy);
	return value;
}

static json_t *count_value(uint64_t value)
{
	return json_integer((json_int_t)(value > INT64_MAX ? INT64_MAX : value));
}

static json_t *campaign_value(const struct report_campaign *campaign)
{
	json_t *value, *options;
	char seed[24];

	if (!campaign)
		return json_null();
	value = json_object();
	options = campaign->options ? json_loads(campaign->options, 0, NULL) : NULL;
	(void)snprintf(seed, sizeof seed, "%" PRIu64, campaign->seed); /* 20 digits */
	put(value, "id", json_integer(campaign->id));
	put(value, "command", text_value(campaign->command));
	put(value, "options", options ? options : json_null());
	put(value, "strategy", text_value(campaign->strategy));
	put(value, "seed", json_string(seed)); /* a string: it may exceed what JSON readers keep */
	put(value, "state", text_value(campaign->state));
	put(value, "restart", text_value(campaign->restart));
	put(value, "runs", count_value(campaign->runs));
	put(value, "failures", count_value(campaign->failures));
	put(value, "steps", count_value(campaign->steps));
	put(value, "seconds", json_real(isfinite(campaign->seconds) ? campaign->seconds : 0));
	put(value, "started", json_integer(campaign->started));
	return value;
}

static json_t *finding_value(const struct finding *finding)
{
	char *text = finding_to_json(finding);
	json_t *value = json_loads(text, 0, NULL);

	free(text);
	return value;
}

char *report_json(const struct report_campaign *campaign, const struct finding *findings,
	uint32_t finding_count)
{
	json_t *root = json_object();
	json_t *list = json_array();
	struct strbuf text;
	char *dump;

	for (uint32_t i = 0; i < finding_count; i++)
		BUG_ON(json_array_append_new(list, finding_value(&findings[i])));
	put(root, "raddle_report", json_integer(1));
	put(root, "campaign", campaign_value(campaign));
	put(root, "findings", list);
	dump = json_dumps(root, JSON_INDENT(1));
	BUG_ON(!dump);
	json_decref(root);
	strbuf_init(&text);
	strbuf_addf(&text, "%s\n", dump);
	free(dump);
	return strbuf_detach(&text);
}
