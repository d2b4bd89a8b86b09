#include "commands/run/run_folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int run_folder_enter(struct run_folder *folder, struct campaign_options *options, struct error *err)
{
	struct settings *settings = &options->settings;
	char *input;

	if (!folder->directory)
		return 0;
	folder->store = realpath(options->directory, NULL);
	if (!folder->store)
		return error_set(err, ERROR_NOTFOUND,
			"the folder %s for the store cannot be entered (%s); create it, or give another one with --store",
			options->directory, strerror(errno));
	options->directory = folder->store;
	if (settings->input) {
		input = realpath(settings->input, NULL);
		if (!input)
			return error_set(err, ERROR_NOTFOUND,
				"%s cannot be opened (%s); give a file as standard input",
				settings->input, strerror(errno));
		free(settings->input);
		settings->input = input;
	}
	folder->origin = getcwd(NULL, 0);
	if (chdir(folder->directory) != 0)
		return error_set(err, ERROR_NOTFOUND,
			"the folder %s cannot be entered (%s); check the path of --directory",
			folder->directory, strerror(errno));
	return 0;
}

void run_folder_release(struct run_folder *folder)
{
	free(folder->store);
	free(folder->origin);
	folder->store = folder->origin = NULL;
}
