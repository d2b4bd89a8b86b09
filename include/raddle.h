/*
 * Annotations that a program can give to raddle. Each annotation is text in a section of the
 * object file. The annotations call nothing and link nothing, and a program that runs without
 * raddle ignores them. C and C++.
 *
 * Atomic sets and units of work, for `raddle predict --atomicity`: which variables must agree
 * with each other, and which functions must see them agree. `raddle predict --show-sets` prints
 * the inferred sets; these annotations correct them. Location them at file scope:
 *
 *	RADDLE_UNIT("drain");				the function is a unit of work
 *	RADDLE_NOT_UNIT("main_loop");			the function is no unit of work
 *	RADDLE_SET("sums", "account.checking account.savings");	these parts are a set of their own
 *	RADDLE_NO_SET("account.last_seen");		this part belongs to no set
 *
 * The names of functions, structs, fields and static variables are those that --show-sets prints.
 * A file with the same lines (--atomic-sets FILE) serves where the source cannot be changed:
 * docs/predict.md.
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
