/* EXPECT: passed runs<=30 */
/*
 * Files made before the first thread and removed while threads run, like the temporary files of sort.
 * A run that starts at the first thread's creation would miss the files that the run before removed.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static char folder[] = "/tmp/files_of_start.XXXXXX";
static char early[PATH_MAX], moved[PATH_MAX];

static void *take_away(void *unused)
{
	char own[PATH_MAX];
	char text[8] = "";
	int file;

	(void)unused;
	(void)snprintf(own, sizeof own, "%s/own", folder);
	file = open(own, O_CREAT | O_EXCL | O_WRONLY, 0600);
	CHECK(file >= 0);
	CHECK(close(file) == 0);
	CHECK(unlink(own) == 0);

	file = open(early, O_RDONLY);
	CHECK(file >= 0);
	CHECK(read(file, text, sizeof text) == 5);
	CHECK(close(file) == 0);
	CHECK(rename(early, moved) == 0);
	CHECK(unlink(moved) == 0);
	CHECK(rmdir(folder) == 0);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	int file;

	CHECK(mkdtemp(folder) != NULL);
	(void)snprintf(early, sizeof early, "%s/early", folder);
	(void)snprintf(moved, sizeof moved, "%s/moved", folder);
	file = open(early, O_CREAT | O_EXCL | O_WRONLY, 0600);
	CHECK(file >= 0);
	CHECK(write(file, "early", 5) == 5);
	CHECK(close(file) == 0);
	MUST(pthread_create(&thread, NULL, take_away, NULL) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	return check_status();
}
