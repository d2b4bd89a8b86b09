/* EXPECT: passed runs=10 */
/* Other programs started from threads: posix_spawn, system, popen. */
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

extern char **environ;

static void *call_system(void *command)
{
	return (void *)(intptr_t)system(command);
}

static void check_system(void)
{
	pthread_t threads[2];
	void *status;

	MUST(pthread_create(&threads[0], NULL, call_system, "exit 3") == 0);
	MUST(pthread_create(&threads[1], NULL, call_system, "exit 4") == 0);
	MUST(pthread_join(threads[0], &status) == 0);
	CHECK(WEXITSTATUS((int)(intptr_t)status) == 3);
	MUST(pthread_join(threads[1], &status) == 0);
	CHECK(WEXITSTATUS((int)(intptr_t)status) == 4);
	CHECK(system(NULL) != 0);
}

static void *call_popen(void *line)
{
	FILE *pipe = popen("printf 'three\\nlines\\nhere\\n'", "r");
	char *end;

	if (!pipe || !fgets(line, 16, pipe))
		return NULL;
	end = strchr(line, '\n');
	if (end)
		*end = 0;
	while (fgetc(pipe) != EOF)
		continue;
	return (void *)(intptr_t)(pclose(pipe) == 0);
}

static void check_popen(void)
{
	pthread_t thread;
	char line[16] = "";
	void *is_right;
	FILE *pipe;

	MUST(pthread_create(&thread, NULL, call_popen, line) == 0);
	MUST(pthread_join(thread, &is_right) == 0);
	CHECK(is_right);
	CHECK(strcmp(line, "three") == 0);
	pipe = popen("read word; test \"$word\" = given", "w");
	CHECK(pipe && fputs("given\n", pipe) >= 0);
	CHECK(pclose(pipe) == 0);
}

static void *spawn(void *unused)
{
	posix_spawn_file_actions_t actions;
	char *arguments[] = {"sh", "-c", "echo spawned", NULL};
	char text[16] = "";
	int ends[2], status;
	pid_t child;

	(void)unused;
	MUST(pipe(ends) == 0);
	MUST(posix_spawn_file_actions_init(&actions) == 0);
	MUST(posix_spawn_file_actions_adddup2(&actions, ends[1], 1) == 0);
	MUST(posix_spawn_file_actions_addclose(&actions, ends[0]) == 0);
	CHECK(posix_spawn(&child, "/bin/sh", &actions, NULL, arguments, environ) == 0);
	close(ends[1]);
	CHECK(read(ends[0], text, sizeof(text)) == 8);
	CHECK(strcmp(text, "spawned\n") == 0);
	CHECK(read(ends[0], text, sizeof(text)) == 0);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(ends[0]);
	posix_spawn_file_actions_destroy(&actions);
	CHECK(posix_spawnp(&child, "true", NULL, NULL, (char *[]){"true", NULL}, environ) == 0);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(posix_spawn(&child, "/nowhere", NULL, NULL, arguments, environ) == ENOENT);
	return NULL;
}

int main(void)
{
	pthread_t thread;

	check_system();
	check_popen();
	MUST(pthread_create(&thread, NULL, spawn, NULL) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	return check_status();
}
