/* The row of a campaign in the store, as written at its beginning. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bug.h"
#include "base/shell_words.h"
#include "base/strbuf.h"
#include "explore/campaign.h"
#include "plan/restart.h"
#include "plan/strategy_option.h"

/*
 * The settings as JSON, with "part_of" if this campaign belongs to another one. The caller frees
 * the text.
 */
static char *campaign_row_options(
	const struct campaign_options *options, const struct settings *settings)
{
	char *text = settings_to_json(settings);
	struct strbuf row;

	if (!options->part_of)
		return text;
	strbuf_init(&row);
	strbuf_addf(&row, "{\"part_of\": %" PRId64 ", %s", options->part_of, strchr(text, '{') + 1);
	free(text);
	return strbuf_detach(&row);
}

void campaign_row_fill(struct store_campaign *row, const struct campaign_options *options,
	const struct settings *settings, enum contract_restart restart)
{
	struct strbuf command;
	char strategy[256];

	strbuf_init(&command);
	shell_words_add(&command, options->argv);
	strategy_format(options->strategy, &options->strategy_config, strategy, sizeof strategy);
	row->command = strbuf_detach(&command);
	row->options = campaign_row_options(options, settings);
	row->strategy = strdup(strategy);
	row->seed = options->seed;
	row->state = strdup("running");
	row->restart = strdup(restart_descriptions[restart].word);
	row->started = time(NULL);
	BUG_ON(!row->strategy || !row->state || !row->restart);
}
