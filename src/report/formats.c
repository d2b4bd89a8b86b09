#include "report/format.h"

#define FORMAT(name) extern const struct report_format format_##name;
#include "report/formats.def"
#undef FORMAT

const struct report_format *const report_formats[FORMAT_COUNT] = {
#define FORMAT(name) &format_##name,
#include "report/formats.def"
#undef FORMAT
};
