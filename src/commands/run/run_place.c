#include "commands/run/run_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int run_place_enter(struct run_place *place, struct campaign_options *options, struct error *err)
{
	struct settings *settings = &options->settings;
	char *input;

	if (!place->directory)
		return 0;
	place->store = realpath(options->directory, NULL);
	if (!place->store)
		return error_set(err, ERROR_NOTFOUND,
			"the folder %s for the store cannot be entered (%s); create it, or give another one with --store",
			options->directory, strerror(errno));
	options->directory = place->store;
	if (settings->input) {
		input = realpath(settings->input, NULL);
		if (!input)
			return error_set(err, ERROR_NOTFOUND,
				"%s cannot be opened (%s); give a file as standard input",
				settings->input, strerror(errno));
		free(settings->input);
		settings->input = input;
	}
	place->origin = getcwd(NULL, 0);
	if (chdir(place->directory) != 0)
		return error_set(err, ERROR_NOTFOUND,
			"the folder %s cannot be entered (%s); check the path of --directory",
			place->directory, strerror(errno));
	return 0;
}

void run_place_release(struct run_place *place)
{
	free(place->store);
	free(place->origin);
	place->store = place->origin = NULL;
}
