#include "detectors/detector.h"

#define DETECTOR(name) extern const struct detector detector_##name;
#include "detectors/detectors.def"
#undef DETECTOR

const struct detector *const detectors[DETECTOR_COUNT] = {
#define DETECTOR(name) &detector_##name,
#include "detectors/detectors.def"
#undef DETECTOR
};
