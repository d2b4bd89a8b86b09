#include "store/store_fallback.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int store_fallback_open(struct store_fallback *fallback, struct error *err)
{
	const char *temporary = getenv("TMPDIR");
	char folder[sizeof fallback->folder];
	int status;

	if (fallback->store)
		return 0;
	if (snprintf(folder, sizeof folder, "%s/raddle-finding.XXXXXX",
		    temporary ? temporary : "/tmp") >= (int)sizeof folder ||
		!mkdtemp(folder))
		return error_set(err, ERROR_IO, "cannot make %s", folder);
	status = store_open(&fallback->store, folder, STORE_WRITE, err);
	if (status == 0)
		memcpy(fallback->folder, folder, sizeof folder);
	else
		fallback->store = NULL;
	return status;
}
