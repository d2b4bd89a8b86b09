/* The part of a failing run's output that a finding keeps. */
#pragma once

#include "process/capture.h"

/* Returns the end of the output, or a sanitizer's first paragraph; NULL if there is none. The caller
 * frees it. */
char *program_output_end(const struct capture *capture);
