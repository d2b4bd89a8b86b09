/*
 * HOT_STATE in front of a small static variable that most runs write: the linker puts all of them next to each other, so
 * that a rewind has few pages to put back. What is larger than a few cache lines, and seldom written, does not belong there.
 */
#ifndef RADDLE_BASE_HOT_STATE_H
#define RADDLE_BASE_HOT_STATE_H

#define HOT_STATE __attribute__((section("raddle_hot")))

#endif
