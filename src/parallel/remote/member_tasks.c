/* A remote worker that executes tasks for rank 0: explore/serve.h over messages. */
#include <stdlib.h>
#include <unistd.h>

#include "explore/serve.h"
#include "parallel/remote/member_internal.h"

#define NAP_US 200 /* short, because rank 0 waits for remote workers that stop */

static char *member_next_task(void *context, size_t *size)
{
	struct member *member = context;
	char *task;

	while (!member->task && !member->is_stopped) {
		member_listen(member);
		member_show_life(member);
		if (!member->task && !member->is_stopped)
			(void)usleep(NAP_US); /* a shorter sleep does no harm */
	}
	if (member->is_stopped)
		return NULL;
	task = member->task;
	*size = member->task_size;
	member->task = NULL;
	return task;
}

static enum serve_wish member_tasks_next_wish(void *context)
{
	struct member *member = context;

	member_listen(member);
	member_show_life(member);
	if (member->is_stopped)
		return SERVE_END;
	/* A newer batch means that rank 0 has abandoned the current one. */
	return member->has_to_rest || member->task ? SERVE_STOP : SERVE_ON;
}

static void member_tasks_send_report(void *context, const void *bytes, size_t size)
{
	member_send(context, WIRE_REPORT, bytes, size);
}

int member_make_tasks(struct member *member, struct error *err)
{
	const struct serve_link link = {.context = member,
		.next = member_next_task,
		.wish = member_tasks_next_wish,
		.send = member_tasks_send_report};
	const int status = campaign_serve(member->options, &link, err);

	free(member->task);
	member->task = NULL;
	return status;
}
