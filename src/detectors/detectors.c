#include "detectors/detector.h"

#define DETECTOR(name) extern const struct detector detector_##name;
#include "detectors/detectors.def"
#undef DETECTOR

const struct detector *const detectors[DETECTOR_COUNT] = {
#define DETECTOR(name) &detector_##name,
#include "detectors/detectors.def"
#undef DETECTOR
};

#define STATE_ALIGNMENT 64

static size_t detectors_offset(unsigned index)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < index; i++)
		bytes += (detectors[i]->state_bytes + STATE_ALIGNMENT - 1) / STATE_ALIGNMENT *
			 STATE_ALIGNMENT;
	return bytes;
}

void *detectors_state(void *block, enum detector_index index)
{
	return (char *)block + detectors_offset((unsigned)index);
}

size_t detectors_bytes(void)
{
	return detectors_offset(DETECTOR_COUNT);
}
