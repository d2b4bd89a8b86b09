#include <stdlib.h>

#include "base/array.h"
#include "parallel/remote/leader_internal.h"

static int leader_findings_keep(struct leader *leader, struct finding *finding,
	const struct wire_finding *head, struct error *err)
{
	struct campaign_found found = {.finding = finding, .confirmation = head->confirmation};
	int status = store_add_finding(leader->store, leader->row.id, finding, &found.is_new, err);

	if (status < 0)
		return status;
	/* Several ranks may find the same failure, which is reported once. */
	if (found.is_new || !leader->result->total.findings) {
		leader->result->total.findings++;
		if (leader->roll.listener->found)
			leader->roll.listener->found(leader->roll.listener->context, &found);
	}
	if (!leader->options->keep_going)
		leader_say_stop(leader);
	return 0;
}

void leader_keep_unsaved(struct leader *leader)
{
	while (leader->unsaved) {
		struct unsaved *first = leader->unsaved;
		struct error err;

		if (leader_findings_keep(leader, &first->finding, &first->head, &err) < 0)
			return;
		leader->unsaved = first->next;
		finding_release(&first->finding);
		free(first);
	}
	for (uint32_t rank = 1; rank < leader->roll.link->ranks; rank++)
		leader->has_unsaved[rank] = false;
}

static void leader_findings_keep_unsaved(struct leader *leader, uint32_t from,
	const struct finding *finding, const struct wire_finding *head, const struct error *err)
{
	struct unsaved *unsaved = array_new(1, sizeof *unsaved);
	*unsaved = (struct unsaved){leader->unsaved, from, *head, *finding};
	leader->unsaved = unsaved;
	leader->has_unsaved[from] = true;
	if (!leader->has_reported_store)
		roll_notice(&leader->roll, "a finding is not stored yet: %s", err->text);
	leader->has_reported_store = true;
	if (!leader->options->keep_going)
		leader_say_stop(leader);
}

void leader_take_finding(struct leader *leader, const struct link_message *message)
{
	struct wire_finding head;
	struct finding finding;
	struct error err;

	if (wire_read_finding(&head, &finding, message, &err) < 0) {
		roll_notice(&leader->roll, "rank %u sent a finding that cannot be read: %s",
			message->from, err.text);
		return;
	}
	if (leader_findings_keep(leader, &finding, &head, &err) < 0)
		leader_findings_keep_unsaved(leader, message->from, &finding, &head, &err);
	else
		finding_release(&finding);
}

void leader_release_unsaved(struct leader *leader)
{
	while (leader->unsaved) {
		struct unsaved *first = leader->unsaved;

		leader->unsaved = first->next;
		finding_release(&first->finding);
		free(first);
	}
}
