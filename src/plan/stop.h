/* Reasons to end a command: values of the flag that a campaign's loops and waits check. */
#pragma once

enum stop_reason {
	STOP_NONE,
	STOP_USER, /* SIGINT, SIGTERM or SIGHUP */
	STOP_TIME  /* the command's time budget is used up */
};
