/* Decides which steps of an interleaving are shown one by one and which are folded, and computes the critical sections. */

const STEPS_UNFOLDED = 26, STEPS_KEPT = 28, FOLD_LEAST = 3, PREEMPTIONS_KEPT = 6;

const ACQUIRES = /^(re|read-|write-|spin-)?locks( stream)?$/, TRIES = /^tries to (read-|write-|spin-)?lock( stream)?$/, RELEASES = /^(spin-)?unlocks( stream)?$/;
const WAITS = /^waits on$/, RETURNS = /^(returns from|times out) waiting on$/;

/* "mutex #1" of "mutex #1 first used at pool.cpp:34 by main.0" */
function shortName(object) {
	return words(object).replace(/ first used at .*$/, "");
}

/* The step's location as text; two steps on the same line have the same text. */
function locationKey(step) {
	return words(stepFrame(step).file) + ":" + stepFrame(step).line;
}

/* For each row the next row of its thread that `isWanted` accepts. Calls `isWanted` from the last row to the first. */
function nextRows(steps, keyOf, isWanted) {
	const next = new Map(), found = new Array(steps.length);
	for (let row = steps.length - 1; row >= 0; row--) {
		found[row] = next.get(keyOf(steps[row]));
		if (isWanted(steps[row])) next.set(keyOf(steps[row]), row);
	}
	return found;
}

/*
 * Critical sections: {thread, object, from, to, level}, `to` the row of the release, or the number
 * of rows. A wait on a condition variable releases the mutex that the thread acquires next, or
 * acquired last.
 */
function heldSpans(steps) {
	const open = new Map(), released = new Map(), spans = [], byObject = step => words(step.thread) + "\n" + words(step.object);
	const nextLock = nextRows(steps, step => words(step.thread), step => ACQUIRES.test(step.verb));
	const nextUse = nextRows(steps, byObject, () => true);
	steps.forEach((step, row) => {
		const thread = words(step.thread), mine = open.get(thread) || open.set(thread, []).get(thread);
		const begin = object => {
			if (mine.some(span => span.object === object)) return;
			mine.push({ thread, object, from: row, to: steps.length, level: mine.length });
			spans.push(mine.at(-1));
		};
		const end = span => { span.to = row; mine.splice(mine.indexOf(span), 1); };
		const isTaken = ACQUIRES.test(step.verb) || TRIES.test(step.verb) && nextUse[row] !== undefined && RELEASES.test(steps[nextUse[row]].verb);
		if (isTaken) begin(words(step.object));
		else if (RETURNS.test(step.verb) && released.has(thread)) begin(released.get(thread));
		else if (RELEASES.test(step.verb)) {
			const span = mine.find(each => each.object === words(step.object));
			if (span) end(span);
		} else if (WAITS.test(step.verb) && /^condition variable/.test(words(step.object)) && mine.length) {
			const again = nextLock[row] === undefined ? "" : words(steps[nextLock[row]].object);
			const span = mine.find(each => each.object === again) || mine.at(-1);
			released.set(thread, span.object);
			end(span);
		}
	});
	return spans;
}

/* ---- which rows ---- */

function lastRows(steps) {
	const last = new Map();
	steps.forEach((step, row) => last.set(words(step.thread), row));
	return last;
}

/* The last step of another thread on the object that a thread waits for, such as a signal or an unlock. */
function lastRelease(steps, wait) {
	return steps.findLastIndex(step => words(step.object) === words(wait.object) && words(step.thread) !== words(wait.thread) && !WAITS.test(step.verb) && !ACQUIRES.test(step.verb));
}

/*
 * The row at which an interleaving opens: an access of the cause; the last signal to a condition
 * variable that a blocked thread waits for; the first difference from the passing run; the last
 * preemption.
 */
function decisiveRow(steps, options) {
	const marked = steps.findIndex(step => options.marks(step));
	if (marked >= 0) return marked;
	const wait = (options.waits || []).find(each => /^condition variable/.test(words(each.object))), signal = wait ? lastRelease(steps, wait) : -1;
	if (signal >= 0) return signal;
	if (options.differsAt !== undefined) return options.differsAt;
	const preempted = steps.findLastIndex(step => step.is_preemption);
	return preempted >= 0 ? preempted : steps.length - 1;
}

/* Does the row repeat the previous row's access? Both are by one thread, of one kind on one line or inside a library. */
function isSameAccess(steps, row) {
	const key = each => /^(atomically )?(reads|writes|updates)$/.test(each.verb) && (stepFrame(each).is_system ? "library" : each.verb + locationKey(each));
	return row > 0 && words(steps[row].thread) === words(steps[row - 1].thread) && key(steps[row]) && key(steps[row]) === key(steps[row - 1]);
}

/* Adds neighbours of the important rows: first the nearest steps of the same thread and of the thread it preempts, then all steps. */
function addNeighbours(steps, important, near, all) {
	const rows = new Map();
	steps.forEach((step, row) => (rows.get(words(step.thread)) || rows.set(words(step.thread), []).get(words(step.thread))).push(row));
	const involved = new Set([...important].map(row => words(steps[row].thread)));
	for (const row of important)
		for (const thread of involved) {
			const own = rows.get(thread), at = own.findIndex(each => each >= row);
			if (at >= 0) near.push(...own.slice(own[at] === row ? Math.max(0, at - 1) : at, at + 3));
		}
	for (const thread of involved) all.push(...rows.get(thread));
}

/* The preemptions nearest to a row, each with the step before the preemption. */
function preemptionsNear(steps, from) {
	const rows = steps.map((step, row) => step.is_preemption ? row : -1).filter(row => row > 0).sort((a, b) => Math.abs(a - from) - Math.abs(b - from));
	return rows.slice(0, PREEMPTIONS_KEPT).flatMap(row => [row, row - 1]);
}

/* Rows of the program's own accesses to objects that several threads access, and of which one access is not a read. */
function sharedRows(steps) {
	const uses = new Map();
	steps.forEach(step => {
		const use = uses.get(words(step.object)) || { threads: new Set(), isChanged: false };
		use.threads.add(words(step.thread));
		use.isChanged ||= !/^(atomically )?reads$/.test(step.verb);
		uses.set(words(step.object), use);
	});
	const isShared = step => uses.get(words(step.object)).threads.size > 1 && uses.get(words(step.object)).isChanged;
	return steps.map((step, row) => step.object && isShared(step) && !stepFrame(step).is_system && !continuesCall(steps, row) ? row : -1).filter(row => row >= 0);
}

/* Rows in groups, the most important group first. */
function rowsByImportance(steps, options) {
	const last = lastRows(steps), groups = [[], [], [], [], [], [], []], first = groups[0], second = groups[1];
	const waits = waitGroups(options.waits || []).map(([wait]) => wait), objects = new Set(waits.map(wait => words(wait.object)));
	steps.forEach((step, row) => {
		if (options.marks(step)) {
			first.push(row);
			objects.add(words(step.object));
		}
		if (step.makes_visible || step.reads_from || step.misses) second.push(row, ...STORE_LINKS.map(link => storeRow(steps, step, step[link.field])));
	});
	for (const wait of waits) first.push(last.get(words(wait.thread)), lastRelease(steps, wait));
	second.push(...preemptionsNear(steps, decisiveRow(steps, options)));
	if (options.differsAt !== undefined) first.push(options.differsAt, options.differsAt - 1);
	const important = new Set([...first, ...second].filter(row => row >= 0 && row < steps.length));
	second.push(steps.length - 1, last.get(words(options.failing)));
	for (const span of options.spans)
		for (const row of important)
			if (row > span.from && row <= span.to && words(steps[row].thread) === span.thread) groups[2].push(span.from, span.to);
	steps.forEach((step, row) => { if (step.object && objects.has(words(step.object))) groups[3].push(row); });
	groups[4].push(...sharedRows(steps));
	addNeighbours(steps, important, groups[5], groups[6]);
	const sameWaits = new Set(waitGroups(options.waits || []).flatMap(group => group.slice(1).map(wait => words(wait.thread))));
	const isDetail = row => sameWaits.has(words(steps[row].thread)) || isSameAccess(steps, row) || /^(creates|joins|returns from)\b/.test(steps[row].verb);
	return groups.map((group, at) => at < 3 ? group : group.filter(row => !isDetail(row)));
}

/* The rows that are shown one by one; all other rows are folded. */
function rowsKept(steps, options) {
	if (steps.length <= STEPS_UNFOLDED) return new Set(steps.keys());
	const kept = new Set(), from = decisiveRow(steps, options);
	for (const group of rowsByImportance(steps, options)) {
		const rows = group.filter(row => row >= 0 && row < steps.length).sort((a, b) => Math.abs(a - from) - Math.abs(b - from) || a - b);
		for (const row of rows) if (kept.size < STEPS_KEPT) kept.add(row);
	}
	return kept;
}

/* ---- folds ---- */

/* Splits the rows between `from` and `to` into stretches of one thread: [from, to, thread]. */
function blocksOf(steps, from, to) {
	const blocks = [];
	for (let row = from; row < to; row++) {
		const thread = words(steps[row].thread);
		if (blocks.length && blocks.at(-1)[2] === thread) blocks.at(-1)[1] = row + 1;
		else blocks.push([row, row + 1, thread]);
	}
	return blocks;
}

/* Folds unimportant rows: one fold per thread that creates or joins others, and one fold for all remaining threads in a row. */
function foldStretch(steps, from, to, items) {
	let open = null;
	for (const [begin, end, thread] of blocksOf(steps, from, to)) {
		const isAlone = steps.slice(begin, end).filter(step => /^(creates|joins)$/.test(step.verb)).length >= FOLD_LEAST;
		if (open && !isAlone && !open.isAlone) {
			open.to = end;
			open.threads.add(thread);
		} else {
			open = { from: begin, to: end, threads: new Set([thread]), isAlone };
			items.push(open);
		}
	}
}

/* Does the row belong to the library call of the row before? */
function continuesCall(steps, row) {
	const step = steps[row], before = steps[row - 1];
	return before && step.library_call && words(step.library_call) === words(before.library_call) && words(step.thread) === words(before.thread) && locationKey(step) === locationKey(before);
}

/*
 * The items from top to bottom: {row} for a step, {row, last} for the steps of a library call,
 * {from, to, threads} for a fold, {wait, sameWaits} for blocked threads. `isCall` accepts rows that may stand for a library call.
 */
function itemsOf(steps, kept, waits, isCall) {
	const items = [], whole = [];
	for (let row = 0; row < steps.length; ) {
		let end = row;
		while (end < steps.length && !kept.has(end)) end++;
		if (end > row) foldStretch(steps, row, end, items);
		if (end < steps.length) items.push({ row: end, last: end });
		while (isCall(end) && isCall(end + 1) && kept.has(end + 1) && continuesCall(steps, end + 1)) items.at(-1).last = ++end;
		row = end + 1;
	}
	for (const item of items) {
		if (item.threads && item.to - item.from < FOLD_LEAST)
			for (let row = item.from; row < item.to; row++) whole.push({ row, last: row });
		else whole.push(item);
	}
	return [...whole, ...waitGroups(waits).map(sameWaits => ({ wait: sameWaits[0], sameWaits }))];
}

/* Groups the waits, those of a cycle first: more than a few threads that are blocked in the same way form one group. */
function waitGroups(waits) {
	const groups = new Map();
	for (const wait of [...waits].sort((a, b) => b.is_on_cycle - a.is_on_cycle)) {
		const key = [wait.verb, words(wait.object), sourceLocation(userFrame(wait.at)), words(wait.holder), heldWords(waits, wait)].join("\n");
		(groups.get(key) || groups.set(key, []).get(key)).push(wait);
	}
	return [...groups.values()].flatMap(group => group.length > FOLD_LEAST ? [group] : group.map(wait => [wait]));
}

/* The objects that a blocked thread holds and others wait for: "mutex m since bank.c:12". */
function heldWords(waits, of) {
	const held = waits.filter(wait => wait.holder && words(wait.holder) === words(of.thread) && wait.held_since && sourceLocation(wait.held_since))
		.map(wait => shortName(wait.object) + " since " + sourceLocation(wait.held_since));
	return [...new Set(held)].join(", ");
}

/* A list of threads as text: "main.2, main.3", or "main.2 to main.13 (12 threads)". */
function threadRange(threads) {
	const sorted = [...threads].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
	return sorted.length <= 3 ? sorted.join(", ") : sorted[0] + " to " + sorted.at(-1) + " (" + sorted.length + " threads)";
}

/* Summarises folded steps: "creating main.0, main.1", "locking and unlocking m, in lookup". */
function foldWords(steps, item) {
	const part = steps.slice(item.from, item.to), objects = verb => part.filter(step => step.verb === verb).map(step => words(step.object).replace(/^thread /, ""));
	const functions = [...new Set(part.map(stepFrame).filter(frame => frame.function && !frame.is_system).map(frame => shortFunction(frame.function)))];
	const text = [];
	if (objects("creates").length) text.push("creating " + threadRange(objects("creates")));
	if (objects("joins").length) text.push("joining " + threadRange(objects("joins")));
	if (!text.length && item.threads.size === 1 && part[0].verb === "begins" && part.at(-1).verb === "ends") text.push("from begin to end");
	if (functions.length && functions.length <= 2 && !(text.length && functions[0] === "main")) text.push("in " + functions.join(" and "));
	return counted(item.to - item.from, "step") + (text.length ? ", " + text.join(", ") : "");
}
