/* The setting of a finding's run, shared by plain replay and replay under gdb. */
#pragma once

#include "investigate/probe/probe.h"
#include "investigate/replay.h"

struct replay_setting {
	struct settings settings;
	struct memory_view memory;
	struct target target;
	thread_name *names;
	struct probe_plan plan;	   /* refers to the finding and to `names` */
	struct probe_params probe; /* refers to this struct */
};

/* Changes to the finding's folder and checks its program. Release with replay_setting_release. */
int replay_prepare(struct replay_setting *setting, const struct finding *finding,
	const struct replay_options *options, struct error *err);
void replay_setting_release(struct replay_setting *setting);
