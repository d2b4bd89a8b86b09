/* A finding with its evidence, and what explains it. */

function releaseWords(wait) {
	const since = wait.held_since && sourceLocation(wait.held_since);
	if (wait.verb === "joins") return "the end of " + shortName(wait.object).replace(/^thread /, "");
	if (wait.holder) return words(wait.holder) + ", which holds it" + (since ? " since " + since : "");
	const lost = wait.lost_signals ? "; " + counted(wait.lost_signals, "signal") + " found no waiter" : "";
	return (/^condition variable/.test(words(wait.object)) ? "a signal" : "no thread holds it") + lost;
}

function waitsTable(finding) {
	if (!finding.waits || !finding.waits.length) return null;
	const hasHolder = finding.waits.some(wait => heldWords(finding.waits, wait)), holds = cell => hasHolder ? [cell] : [];
	return section("Wait-for graph", table(["Thread", ...holds("Holds"), "Blocked on", "At", "Released by"],
		waitGroups(finding.waits).map(([wait, ...others]) => [element("strong", { text: threadRange([wait, ...others].map(each => words(each.thread))) }),
			...holds(heldWords(finding.waits, wait)), breakable(shortName(wait.object)), sourceLocation(userFrame(wait.at)), releaseWords(wait)])));
}

function races(finding) {
	if (!finding.race) return null;
	const pair = element("div", { class: "pair" }), isMarked = !finding.cause && finding.steps.some(step => step.cause_line);
	finding.race.accesses.forEach((access, at) => pair.append(...[whereItIs(words(access.thread) + " " + words(access.verb) + " it" +
			(access.held ? ", holding " + words(access.held) : ""), access.at, isMarked ? at + 1 : 0)].filter(Boolean)));
	const title = finding.kind === "race" ? "The two accesses of " + words(finding.race.variable) + ", which nothing orders"
		: finding.kind === "weak" ? "A store of " + words(finding.race.variable) + ", and an access that may come before it"
		: "The free of " + words(finding.race.variable) + ", and the access after it";
	return section(title, pair);
}

/* The end of a main() that returns a failure status has frames of the C library only. */
function hasFailingStack(finding) {
	return finding.at && finding.at.length && (finding.kind !== "exit" || finding.at.some(frame => !frame.is_system));
}

function stacks(finding) {
	if (finding.race) return null;
	const shown = finding.waits && finding.waits.length
		? waitGroups(finding.waits).map(([wait, ...others]) => whereItIs(threadRange([wait, ...others].map(each => words(each.thread))) +
			(others.length ? " wait for " : " waits for ") + shortName(wait.object), wait.at))
		: hasFailingStack(finding) ? [whereItIs((finding.failing_thread ? words(finding.failing_thread) : "The failing thread") + " is here", finding.at)] : [];
	const parts = shown.filter(Boolean);
	return parts.length ? section("Thread backtraces", element("div", { class: "pair" }, ...parts)) : null;
}

/* ---- what `raddle explain` said ---- */

const VERDICTS = { cause: ["the cause", "bad"], correlated: ["correlated", ""], consequence: ["a consequence", ""], untested: ["suspicious", ""] };

/* "30 of 30 runs fail" with a bar of that length, which the words repeat. */
function rateOf(what, rate) {
	if (!rate || !rate.runs) return null;
	const share = rate.failed / rate.runs;
	return element("div", { class: "rate" }, element("span", { text: what }),
		element("span", { class: "meter", "aria-hidden": "true" }, element("span", { style: { width: 100 * share + "%" } })),
		element("span", { text: rate.failed + " of " + counted(rate.runs, "run") + " fail" + (rate.runs === 1 ? "s" : "") }));
}

/* The verb of an access: "reads" in a pattern over memory, "locks" in a pattern over operations. */
function accessVerb(access) {
	return access.operation ? words(access.operation) : access.kind === "W" ? "writes" : "reads";
}

/* The location of an access. For an access in a library header, the user's line at that step of the failing run. */
function accessLocation(answer, at) {
	const access = answer.accesses[at], number = (answer.failing_marks || [])[at];
	const step = /^\/usr\//.test(words(access.file)) ? (answer.failing_run || []).find(each => each.step === number && each.object && each.file) : null;
	return step || access;
}

function accessTable(answer, threads) {
	return table(["", "Access", "Location", "Source"], answer.accesses.map((access, at) => {
		const where = accessLocation(answer, at);
		return [element("span", { class: "chip mark", text: at + 1 }), (threads[access.thread - 1] || "thread " + access.thread) + " " + accessVerb(access),
			sourceLocation(where) + (where.function ? " (" + shortFunction(where.function) + ")" : ""), element("code", { text: sourceLine(where) })];
	}));
}

/* The steps of the failing run that show the answer. */
function markedSteps(answer) {
	return (answer.failing_marks || []).map(number => (answer.failing_run || []).find(step => step.step === number && step.object));
}

/* By name: as the finding's own run has them where it shows the answer, else as the failing run has them. */
function threadsOf(answer, finding) {
	const threads = [], steps = markedSteps(answer);
	const marks = steps.every(Boolean) ? [...marksIn(finding.steps, steps).keys()] : [];
	steps.forEach((marked, at) => {
		const step = finding.steps.find(each => each.step === marks[at]) || marked;
		const access = answer.accesses[at];
		if (step && access && !threads[access.thread - 1]) threads[access.thread - 1] = words(step.thread);
	});
	return threads;
}

const ORDERS = {
	"0-R1": (x, a) => x + " is read by " + a[0] + " before any thread has written it",
	"R1-W2": (x, a) => a[0] + " reads " + x + " before " + a[1] + " writes it",
	"W1-R2": (x, a) => a[1] + " reads " + x + " after " + a[0] + " has written it",
	"W1-W2": (x, a) => a[1] + " overwrites the value that " + a[0] + " has written to " + x,
	"R1-W2-R1": (x, a) => x + " changed between two reads of " + (a[0] === a[2] ? a[0] : a[0] + " and " + a[2]),
	"R1-W2-W1": (x, a) => x + " changed between " + (a[0] === a[2] ? a[0] + "'s read and write" : "the read in " + a[0] + " and the write in " + a[2]) + ", and the change was lost",
	"W1-W2-R1": (x, a) => x + " was overwritten before " + a[2] + " read the value that " + (a[0] === a[2] ? "it" : a[0]) + " had written",
	"W1-R2-W1": (x, a) => a[1] + " reads " + x + " between two writes of " + (a[0] === a[2] ? a[0] : a[0] + " and " + a[2]),
	"W1-W2-W1": (x, a) => "the value that " + a[1] + " writes to " + x + " between two writes of another thread is lost",
};

/* Describes a pattern of operations on locks, condition variables and threads. */
function operationWords(object, accesses, a) {
	const verbs = accesses.map(accessVerb);
	if (verbs.length === 2) return a[0] + " " + verbs[0] + " " + object + " before " + a[1] + " " + verbs[1] + " it";
	if (verbs.length === 3 && verbs.every(verb => verb === "locks"))
		return "another thread runs " + a[1] + " between two critical sections of " + (a[0] === a[2] ? a[0] : a[0] + " and " + a[2]) + " under " + object;
	if (verbs.length !== 3) return a[0] + " " + verbs[0] + " " + object + " too early";
	return a[1] + " " + verbs[1] + " " + object + " after " + a[0] + " " + verbs[0] + " it and before " + (a[2] === a[0] ? "that thread" : a[2]) + " " + verbs[2] + " it" + (verbs[0] === verbs[2] ? " again" : "");
}

/* The cause as a plain sentence. The page shows the pattern separately, in small print. */
function causeWords(answer) {
	const names = (answer.variables || []).map(shortName), a = answer.accesses.map((access, at) => shortFunction(accessLocation(answer, at).function) || "the thread at " + sourceLocation(accessLocation(answer, at)));
	const order = ORDERS[answer.pattern];
	if (names.length === 1 && answer.accesses.some(access => access.operation)) return operationWords(names[0], answer.accesses, a);
	if (order && names.length) return order(names[0], a);
	if (names.length < 2) return words(answer.meaning);
	return names[0] + " and " + names[1] + " belong together, and " + a[1] + " of another thread ran between " + a[0] + " and " + a.at(-1);
}

function answerNode(answer, explanation, finding) {
	const [verdict, sort] = VERDICTS[answer.verdict] || [words(answer.verdict), ""];
	const pattern = explanation.patterns.find(each => each.pattern === answer.pattern && each.explanation === answer.explanation) || {};
	const marks = answer.failing_marks || [], { accesses } = answerMarks(answer, explanation, finding);
	const runs = interleavings("", [
		{ title: "a run with it, which fails", steps: answer.failing_run, marked: "accesses of the pattern", marks: step => step.object && marks.includes(step.step) ? String(marks.indexOf(step.step) + 1) : "" },
		{ title: "a run without it, which passes", steps: answer.passing_run }]);
	const node = element("div", { class: "answer" },
		element("h4", {}, badge(verdict, sort), breakable(causeWords(answer))),
		element("p", { class: "small" }, breakable("pattern " + words(answer.pattern) + (answer.variables && answer.variables.length ? " on " + answer.variables.map(words).join(" and ") : "") +
			(answer.meaning ? ": " + words(answer.meaning) : ""))),
		accessTable(answer, threadsOf(answer, finding)),
		accesses ? element("p", { class: "small" }, breakable("The interleaving of this finding shows the same conflict with other accesses: " +
			accesses.map(access => accessVerb(access) + " at " + sourceLocation(access) + (access.function ? " (" + shortFunction(access.function) + ")" : "")).join(", ") + ".")) : null,
		element("div", { class: "rates" },
			rateOf("runs with it", { runs: (pattern.failed || 0) + (pattern.passed || 0), failed: pattern.failed || 0 }),
			rateOf("forced", answer.forced), rateOf(answer.verdict === "untested" ? "runs without it" : "forbidden", answer.forbidden)),
		answer.verdict === "cause" && answer.remedy && !finding.remedy ? element("p", {}, element("strong", { text: "To prevent it: " }), breakable(words(answer.remedy) + ".")) : null,
		runs ? element("details", { class: "more" }, element("summary", { text: "The two runs" }), runs.node) : null);
	if (runs) node.querySelector("details.more").ontoggle = runs.draw;
	return node;
}

/* ---- the cause in the finding's own interleaving ---- */

function isLike(step, other) {
	return step.verb === other.verb && locationKey(step) === locationKey(other);
}

/* Is the step this access of a pattern? An update reads and writes. */
function isAccess(step, access) {
	const isKind = access.operation ? step.verb === words(access.operation) : (access.kind === "W" ? /writes$|updates$|frees$/ : /reads$|updates$/).test(step.verb);
	return isKind && sourceLocation(stepFrame(step)) === sourceLocation(access);
}

/* Finds rows from `first` on that match the marked steps in order. Marked steps of one thread must match rows of one thread. */
function rowsLike(steps, marked, first, like) {
	const threads = new Map(), rows = [];
	for (let row = first; row < steps.length && rows.length < marked.length; row++) {
		const wanted = marked[rows.length], role = words(wanted.thread), thread = words(steps[row].thread);
		if (!like(steps[row], wanted) || !(threads.has(role) ? threads.get(role) === thread : ![...threads.values()].includes(thread))) continue;
		threads.set(role, thread);
		rows.push(row);
	}
	return rows.length === marked.length ? rows : null;
}

/* Finds the `marked` steps of another run in these steps and takes the closest match. Returns a map from step number to mark. */
function marksIn(steps, marked, like = isLike) {
	let best = null;
	steps.forEach((step, first) => {
		const rows = marked.length && like(step, marked[0]) ? rowsLike(steps, marked, first, like) : null;
		if (rows && (!best || rows.at(-1) - rows[0] <= best.at(-1) - best[0])) best = rows;
	});
	return new Map((best || []).map((row, at) => [steps[row].step, String(at + 1)]));
}

/* Least score of an answer that is shown beside the cause from the failing run; as the command does. */
const SCORE_LEAST = 0.5;

function isShown(answer, finding) {
	return !finding.remedy || answer.score >= SCORE_LEAST;
}

function causeMarks(finding) {
	const explanation = findExplanation(finding), hasLines = finding.steps.some(step => step.cause_line);
	if (hasLines && (finding.remedy || !explanation)) return step => step.cause_line ? String(step.cause_line) : "";
	const answers = explanation ? explanation.answers.filter(each => isShown(each, finding)) : [];
	const answer = answers.find(each => each.verdict === "cause") || answers[0];
	const marks = answer ? answerMarks(answer, explanation, finding).marks : new Map();
	return step => marks.get(step.step) || "";
}

/*
 * The marks of the answer in the finding's own run: {marks, accesses}. `accesses` is set where that
 * run shows another pattern of the conflict than the one that stands for the answer.
 */
function answerMarks(answer, explanation, finding) {
	const samePatterns = explanation.patterns.filter(each => each.explanation === answer.explanation && each.pattern === answer.pattern && ORDERS[each.pattern]);
	const ofObject = object => finding.steps.filter(step => step.object && words(step.object) === object), objects = [...new Set(finding.steps.map(step => words(step.object)))];
	const found = [{ marks: marksIn(finding.steps, markedSteps(answer).filter(Boolean)) },
		...samePatterns.flatMap(({ accesses }) => objects.map(object => ({ accesses, marks: marksIn(ofObject(object), accesses, isAccess) })))];
	return found.find(each => each.marks.size) || found[0];
}

function ranking(explanation) {
	const rows = explanation.patterns.map(each => [each.place, each.score.toFixed(2), each.pattern,
		each.accesses.map(sourceLocation).join(" \u2192 "), each.failed + " of " + explanation.failed, each.passed + " of " + explanation.passed, each.explanation]);
	return element("details", { class: "more" },
		element("summary", { text: "The whole ranking: " + counted(explanation.pattern_count, "pattern") + " of " + counted(explanation.explanation_count, "conflict") +
			(rows.length < explanation.pattern_count ? ", the first " + rows.length : "") }),
		table(["", "Score", "Pattern", "Accesses", "In failing runs", "In passing runs", "Conflict"], rows));
}

function findExplanation(finding) {
	return (data.explanations || []).findLast(each => each.finding === words(finding.id));
}

function explanationOf(finding) {
	const explanation = findExplanation(finding);
	if (!explanation) return null;
	const compared = counted(explanation.failed + explanation.passed, "run") + " compared: " + explanation.failed + " failed like it, " + explanation.passed + " passed.";
	const nodes = explanation.answers.map(answer => answerNode(answer, explanation, finding));
	const isFirst = (node, at) => isShown(explanation.answers[at], finding) && (at === 0 || explanation.answers[at].verdict === "cause");
	const others = nodes.filter((node, at) => !isFirst(node, at));
	return section("Why it fails", element("p", { class: "faint", text: compared }), ...nodes.filter(isFirst),
		others.length ? element("details", { class: "more" }, element("summary", { text: "Other suspicious patterns (" + others.length + ")" }), ...others) : null,
		explanation.patterns.length ? ranking(explanation) : null);
}

/* ---- all of it ---- */

function runsOf(finding) {
	const passing = finding.passing && finding.passing.steps && finding.passing.steps.length ? finding.passing : null;
	const isViolation = finding.kind === "violation";
	const own = { steps: finding.steps, leftOut: finding.steps_left_out, leftOutLater: finding.later_steps_left_out, early: finding.early_step_count, marks: causeMarks(finding), marked: finding.kind === "race" ? "accesses of the race" : "steps of the cause",
		waits: finding.waits || [], failing: finding.failing_thread };
	if (!passing) return interleavings("The interleaving", [own]);
	return interleavings(isViolation ? "The interleaving that shows it, and one that does not" : "The interleaving that fails, and one that passes", [
		Object.assign(own, { title: isViolation ? "shows it" : "fails" }),
		{ title: isViolation ? "does not" : "passes", steps: passing.steps, leftOut: passing.steps_left_out }]);
}

/* What a replay needs besides the schedule. */
function surroundings(finding) {
	return facts([["Working folder", finding.directory], ["Standard input", finding.input], ["Seed", finding.seed], ["Run", finding.run_number]]);
}

/* A line of the cause. Its number, which also marks a step of the interleaving, shows that step. No number where an explanation has the marks. */
function causeLine(line, number, finding, runs) {
	const row = finding.steps.findIndex(step => step.cause_line === number), text = String(number);
	if (row >= 0 && causeMarks(finding)(finding.steps[row]) !== text) return element("li", {}, breakable(line));
	const mark = row < 0 ? element("span", { class: "chip mark", text }) : element("button", { type: "button", class: "chip mark", text, title: "show step " + finding.steps[row].step });
	mark.onclick = () => row >= 0 && runs.show(row);
	return element("li", {}, mark, breakable(line));
}

/* The finding's cause, one sentence per line, and its remedy. */
function causeNode(finding, runs) {
	const lines = words(finding.cause).split("\n").filter(Boolean);
	if (!lines.length && !finding.remedy) return null;
	return section("What led to it", lines.length ? element("ol", { class: "story" }, ...lines.map((line, at) => causeLine(line, at + 1, finding, runs))) : null,
		finding.remedy ? element("p", {}, element("strong", { text: "To prevent it: " }), breakable(words(finding.remedy))) : null);
}

/* The heap blocks whose short names the finding uses. */
function blocksNode(finding) {
	const text = JSON.stringify(finding), isUsed = name => text.split(name).slice(1).some(rest => !/^\d/.test(rest));
	const used = Object.entries(data.blocks || {}).filter(([name]) => isUsed(name));
	return used.length ? section("Heap blocks", table(["Name", "Allocated by"], used.map(([name, block]) => [element("strong", { text: name }), breakable(words(block))]))) : null;
}

/* The title without the finding's kind, which stands beside it. */
function titleWords(finding) {
	const title = words(finding.title), kind = words(finding.kind) + ": ";
	return title.startsWith(kind) ? title.slice(kind.length) : title;
}

function findingNode(finding, isOpen) {
	const runs = runsOf(finding), id = words(finding.id);
	const wait = finding.waits && finding.waits.length;
	return entry(id, "finding", badge(words(finding.kind), finding.kind === "violation" ? "" : "bad"), titleWords(finding), isOpen, runs && runs.draw,
		finding.detail ? element("p", { class: "detail", text: words(finding.detail) }) : null,
		sourcesNote(finding),
		causeNode(finding, runs), explanationOf(finding),
		facts([["Repeats", finding.replays ? finding.replays_failed_again + " of " + counted(finding.replays, "replay") : ""],
			["Context switches", finding.switches], ["Preemptions", finding.preemptions],
			["Perhaps not minimal", finding.incomplete ? words(finding.incomplete) : ""],
			["Depth", finding.depth || ""],
			["Depends on the order of threads", finding.other_schedules_failed ? "no: all of " + finding.other_schedules_failed + " other schedules failed" : ""], ["Found by", finding.strategy]]),
		finding.remedy || finding.race || finding.kind === "violation" || finding.other_schedules_failed || findExplanation(finding) ? null : section("Search for the cause with", command("raddle explain " + id)),
		finding.shown_by ? section("Replay the failing weak run with", command("raddle replay " + words(finding.shown_by), "raddle explain " + words(finding.shown_by))) : null,
		section("Replay with", command("raddle replay " + id, "raddle replay " + id + " --gdb")),
		wait ? waitsTable(finding) : null, races(finding),
		runs ? runs.node : null, stacks(finding), blocksNode(finding),
		finding.output ? section("Last output of the program", element("pre", { tabindex: "0", text: words(finding.output) })) : null,
		element("details", { class: "more" }, element("summary", { text: "The schedule" }),
			element("pre", { tabindex: "0", text: words(finding.schedule) }), element("pre", { tabindex: "0", text: (finding.argv || []).map(words).join(" ") }), surroundings(finding)));
}
