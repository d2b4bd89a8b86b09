#include "tally.h"

#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

namespace
{
struct Tally {
	std::mutex lock;
	std::map<std::string, long> counts;
	long events = 0;
};
Tally tally;

long &find(const std::string &name)
{
	if (name.empty())
		throw std::invalid_argument("name");
	return tally.counts[name];
}
} // namespace

/* The counts are guarded, the number of events is not. */
void tally_count(const char *name)
{
	try {
		const std::lock_guard<std::mutex> guard(tally.lock);
		find(name)++;
	} catch (const std::invalid_argument &) {
		return;
	}
	tally.events++;
}

long tally_of(const char *name)
{
	return name ? tally.counts[name] : tally.events;
}
