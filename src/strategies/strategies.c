#include "strategies/strategy.h"

#include "base/bug.h"

const struct strategy *const strategies[] = {
#define STRATEGY(symbol, name) &strategy_##symbol,
#include "strategies/strategies.def"
#undef STRATEGY
};

const uint32_t strategy_count = sizeof strategies / sizeof *strategies;

const struct strategy *strategy_find(const char *name, size_t length)
{
	for (uint32_t i = 0; i < strategy_count; i++) {
		const char *known = strategies[i]->name;
		size_t same = 0;

		while (same < length && known[same] && known[same] == name[same])
			same++;
		if (same == length && !known[same])
			return strategies[i];
	}
	return NULL;
}

uint32_t strategy_index(const struct strategy *strategy)
{
	uint32_t i = 0;

	while (strategies[i] != strategy)
		BUG_ON(++i == strategy_count);
	return i;
}
