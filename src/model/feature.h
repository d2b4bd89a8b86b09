/* Features of runs that limit what a search of them proves, or for which an option of `raddle run` offers
 * further exploration. */
#pragma once

#include <stdint.h>

enum feature_number {
#define FEATURE(name, omission, word, text) FEATURE_NUMBER_##name,
#include "model/features.def"
#undef FEATURE
	FEATURE_COUNT
};

/* Bits of a set of features. */
enum feature {
#define FEATURE(name, omission, word, text) FEATURE_##name = 1 << FEATURE_NUMBER_##name,
#include "model/features.def"
#undef FEATURE
	/* c11: reasons why loads had too few stores to choose from */
	FEATURES_OF_CUTS =
		FEATURE_HISTORY_CUT | FEATURE_WAIT_CUT | FEATURE_THREADS_CUT | FEATURE_MIXED_CUT
};

/* What an exhaustive search leaves out of runs with a feature (features.def). */
enum omission { OMITS_NOTHING, OMITS_SCHEDULES, OMITS_ORDERS, OMITS_EXECUTIONS };

struct feature_description {
	enum omission omission;
	const char *word, *text;
};

extern const struct feature_description feature_descriptions[FEATURE_COUNT];

/* Returns the features of the set with the omission. */
uint32_t features_that_omit(uint32_t features, enum omission omission);
/* Returns the text of the first feature with the omission; NULL if the set has none. */
const char *features_first_text(uint32_t features, enum omission omission);
/* Returns the feature with this word; 0: there is none. */
uint32_t feature_parse(const char *word);
