/* Result of explain_find_orders() for people and for tools. */
#pragma once

#include <jansson.h>

#include "base/strbuf.h"

struct explain_result;

/* Appends nothing if the finding's run needs no memory model. */
void explain_add_orders(struct strbuf *out, const struct explain_result *result);
json_t *explain_orders_to_json(const struct explain_result *result);
