#include "model/feature.h"

#include <stddef.h>
#include <string.h>

#define OLD_STORES "some loads could not read every old store that C11 permits, because "

const struct feature_description feature_descriptions[FEATURE_COUNT] = {
#define FEATURE(name, omission, word, text) {OMITS_##omission, word, text},
#include "model/features.def"
#undef FEATURE
};

uint32_t features_that_omit(uint32_t features, enum omission omission)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < FEATURE_COUNT; i++)
		if (feature_descriptions[i].omission == omission)
			found |= features & 1u << i;
	return found;
}

const char *features_first_text(uint32_t features, enum omission omission)
{
	const uint32_t found = features_that_omit(features, omission);

	for (uint32_t i = 0; i < FEATURE_COUNT; i++)
		if (found & 1u << i)
			return feature_descriptions[i].text;
	return NULL;
}

uint32_t feature_parse(const char *word)
{
	for (uint32_t i = 0; i < FEATURE_COUNT; i++)
		if (word[0] && strcmp(feature_descriptions[i].word, word) == 0)
			return 1u << i;
	return 0;
}
