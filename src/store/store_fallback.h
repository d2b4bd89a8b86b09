/*
 * The fallback store, in a temporary folder, holds findings that the store of a command refuses,
 * for example because the disk is full. The command continues, and `raddle merge` reads them there.
 */
#pragma once

#include "store/store.h"

#define STORE_FALLBACK_FOLDER 256

/* A store that is opened only if the main store fails. All zero: not open. Close with
 * store_close(). */
struct store_fallback {
	struct store *store;
	char folder[STORE_FALLBACK_FOLDER];
	int64_t campaign; /* id of the command's campaign in it; 0: none yet */
};

/* Creates the folder and the store unless they are open. */
int store_fallback_open(struct store_fallback *fallback, struct error *err);
