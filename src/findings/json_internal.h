/*
 * Stored form of a finding, version 1: field names. A string that is not valid UTF-8 is {"hex":
 * "ff61"}; numbers that may exceed 63 bits are strings.
 */
#ifndef RADDLE_FINDINGS_JSON_INTERNAL_H
#define RADDLE_FINDINGS_JSON_INTERNAL_H

#define FINDING_JSON_FORMAT "raddle_finding"
#define FINDING_JSON_VERSION 1

/* FIELD(member): an optional string (null if missing), stored under its member's name. */
#define FINDING_TEXT_FIELDS(FIELD)                                                                 \
	FIELD(detail)                                                                              \
	FIELD(directory)                                                                           \
	FIELD(input)                                                                               \
	FIELD(output)

/* As FINDING_TEXT_FIELDS; the text is a single line. */
#define FINDING_LINE_FIELDS(FIELD)                                                                 \
	FIELD(title)                                                                               \
	FIELD(strategy)                                                                            \
	FIELD(failing_thread)

/* Text fields that findings of older versions lack: a reader must accept their absence. */
#define FINDING_NEWER_TEXT_FIELDS(FIELD)                                                           \
	FIELD(cause)                                                                               \
	FIELD(remedy)

/* FIELD(member): a 32-bit count. */
#define FINDING_COUNT_FIELDS(FIELD)                                                                \
	FIELD(switches_found)                                                                      \
	FIELD(preemptions_found)                                                                   \
	FIELD(switches)                                                                            \
	FIELD(preemptions)                                                                         \
	FIELD(replays)                                                                             \
	FIELD(replays_failed_again)

#endif
