/* Offsets and constants of record_internal.h and branches/record/record.h for record_near.S.
 * record_missed.c asserts that they agree with the structs. */
#pragma once

/* struct record_moving */
#define NEAR_LEFT 0
#define NEAR_PENDING 8
#define NEAR_PENDING_BYTES 16
#define NEAR_WANTS_ARGUMENTS 20
#define NEAR_MEMORY 24
#define NEAR_VALUES 32
#define NEAR_MARK 40
#define NEAR_THREAD 48
#define NEAR_ENTERED 60

/* struct record_thread */
#define NEAR_AT 16
#define NEAR_END 24
#define NEAR_PREDICTED 32

/* struct record_state, whose area is the first member */
#define NEAR_OUTSIDE 8

#define NEAR_ROOM 89 /* RECORD_ENTRY_MOST */
#define NEAR_TAG_READ 0
#define NEAR_TAG_VALUE 1
#define NEAR_TAG_ENTER 2
#define NEAR_TAG_ENTER_AGAIN 13
#define NEAR_MEMORY_MASK 0xfffffff
#define NEAR_VALUES_MASK 0x1fff
