/*
 * What a program may tell raddle. All of it is text in a section of its own: nothing is called, nothing
 * is linked, and a program that raddle does not run is the same without it. C and C++.
 *
 * Atomic sets and units of work (raddle predict --atomicity): what agrees with what, and who is to see it
 * so. `raddle predict --show-sets` prints what is inferred; these correct it. Each stands at file scope:
 *
 *	RADDLE_UNIT("drain");				the function is a unit of work
 *	RADDLE_NOT_UNIT("main_loop");			it is none
 *	RADDLE_SET("sums", "account.checking account.savings");	these parts are a set of their own
 *	RADDLE_NO_SET("account.last_seen");		nothing has to agree with this one
 *
 * Functions, structs, fields and static variables go by the names that --show-sets prints. The same lines
 * can stand in a file (--atomic-sets FILE) where the source cannot be touched: docs/predict.md.
 */
#ifndef RADDLE_H
#define RADDLE_H

#define RADDLE_JOIN_AGAIN(a, b) a##b
#define RADDLE_JOIN(a, b) RADDLE_JOIN_AGAIN(a, b)
#define RADDLE_ANNOTATION(text)                                                                    \
	__attribute__((used, section("raddle_notes"), aligned(1))) static const char RADDLE_JOIN(  \
		raddle_note_, __LINE__)[] = text

#define RADDLE_UNIT(function) RADDLE_ANNOTATION("unit " function)
#define RADDLE_NOT_UNIT(function) RADDLE_ANNOTATION("no-unit " function)
#define RADDLE_SET(name, parts) RADDLE_ANNOTATION("set " name " " parts)
#define RADDLE_NO_SET(part) RADDLE_ANNOTATION("no-set " part)

#endif
