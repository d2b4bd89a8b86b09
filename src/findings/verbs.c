#include <string.h>

#include "findings/finding.h"

/* Only the first word changes ("tries to lock" gives "trying to lock"); it is regular in every verb of the tables. */
void finding_add_gerund(const char *verb, struct strbuf *out)
{
	const size_t word = strcspn(verb, " ");
	size_t stem = word;

	if (stem && verb[stem - 1] == 's')
		stem--;
	if (stem > 2 && !strncmp(verb + stem - 2, "ie", 2)) {
		strbuf_addf(out, "%.*sy", (int)(stem - 2), verb);
	} else {
		/* "closes" -> "closing", "pushes" -> "pushing" */
		stem -= stem > 2 && verb[stem - 1] == 'e';
		strbuf_add(out, verb, stem);
	}
	strbuf_addf(out, "ing%s", verb + word);
}

void finding_add_blocked_on(const struct finding_wait *wait, struct strbuf *out)
{
	const bool is_plain = !strcmp(wait->verb, "locks") || !strncmp(wait->verb, "waits ", 6);

	if (wait->object && is_plain) {
		strbuf_addf(out, "%.*s", finding_short_name(wait->object), wait->object);
		return;
	}
	finding_add_gerund(wait->verb, out);
	if (wait->object)
		strbuf_addf(out, " %.*s", finding_short_name(wait->object), wait->object);
}
