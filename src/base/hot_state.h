/*
 * HOT_STATE marks a small static variable that most runs write. The linker places all of them in
 * one section, because a rewind restores memory page by page. Large or rarely written variables do
 * not belong in this section.
 */
#pragma once

#define HOT_STATE __attribute__((section("raddle_hot")))
