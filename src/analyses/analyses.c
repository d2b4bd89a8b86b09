#include "analyses/analysis.h"

#define ANALYSIS(name) &analysis_##name,
const struct analysis *const analyses[] = {
#include "analyses/analyses.def"
};
#undef ANALYSIS

const uint32_t analysis_count = sizeof analyses / sizeof *analyses;
