/* A finding with its evidence, and what explains it. */

function waitsTable(finding) {
	if (!finding.waits || !finding.waits.length) return null;
	return section("Who waits for whom", table(["Thread", "Cannot go on: it", "At", "Held by", "Who took it at"],
		finding.waits.map(wait => [wait.thread, wait.verb + " " + words(wait.object), place(userFrame(wait.at)),
			wait.holder, wait.held_since ? place(wait.held_since) : ""])));
}

function races(finding) {
	if (!finding.race) return null;
	const pair = element("div", { class: "pair" });
	for (const access of finding.race.accesses)
		pair.append(...[whereItIs(words(access.thread) + " " + words(access.verb) + " it" +
			(access.held ? ", holding " + words(access.held) : ""), access.at)].filter(Boolean));
	const title = finding.kind === "race" ? "The two accesses of " + words(finding.race.variable) + ", which nothing orders"
		: "Who freed " + words(finding.race.variable) + ", and who came later";
	return section(title, pair);
}

function stacks(finding) {
	if (finding.race) return null;
	const shown = finding.waits && finding.waits.length
		? finding.waits.map(wait => whereItIs(words(wait.thread) + " " + words(wait.verb) + " " + words(wait.object), wait.at))
		: finding.at && finding.at.length ? [whereItIs((finding.failing_thread ? words(finding.failing_thread) : "The failing thread") + " stands here", finding.at)] : [];
	const parts = shown.filter(Boolean);
	return parts.length ? section("Where the threads stand", element("div", { class: "pair" }, ...parts)) : null;
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

function accessTable(pattern, threads) {
	return table(["", "Thread", "", "Place", "Source"], pattern.accesses.map((access, at) => [
		at + 1, threads[access.thread - 1] || "thread " + access.thread, access.kind === "W" ? "writes" : "reads",
		place(access) + (access.function ? " (" + words(access.function) + ")" : ""),
		element("code", { text: sourceLine(access) })]));
}

/* By name, as a failing run had them. */
function threadsOf(answer) {
	const threads = [];
	(answer.failing_marks || []).forEach((number, at) => {
		const step = (answer.failing_run || []).find(each => each.step === number && each.object);
		const access = answer.accesses[at];
		if (step && access && !threads[access.thread - 1]) threads[access.thread - 1] = words(step.thread);
	});
	return threads;
}

function answerNode(answer, explanation) {
	const [verdict, sort] = VERDICTS[answer.verdict] || [words(answer.verdict), ""];
	const pattern = explanation.patterns.find(each => each.pattern === answer.pattern && each.explanation === answer.explanation) || {};
	const marks = answer.failing_marks || [];
	const runs = interleavings("", [
		{ title: "a run with it, which fails", steps: answer.failing_run, marks: step => step.object && marks.includes(step.step) ? String(marks.indexOf(step.step) + 1) : "" },
		{ title: "a run without it, which passes", steps: answer.passing_run }]);
	const node = element("div", { class: "answer" },
		element("h4", {}, badge(verdict, sort), element("span", { text: answer.pattern + " on " + (answer.variables || []).map(words).join(" and ") })),
		answer.meaning ? element("p", {}, element("strong", { text: "What goes wrong: " }), document.createTextNode(words(answer.meaning) + ".")) : null,
		accessTable(answer, threadsOf(answer)),
		element("div", { class: "rates" },
			rateOf("runs with it", { runs: (pattern.failed || 0) + (pattern.passed || 0), failed: pattern.failed || 0 }),
			rateOf("brought about", answer.forced), rateOf("prevented", answer.forbidden)),
		answer.verdict === "cause" && answer.remedy ? element("p", {}, element("strong", { text: "To prevent it: " }), document.createTextNode(words(answer.remedy) + ".")) : null,
		runs ? element("details", { class: "more" }, element("summary", { text: "The two runs" }), runs.node) : null);
	if (runs) node.querySelector("details.more").ontoggle = runs.draw;
	return node;
}

function ranking(explanation) {
	const rows = explanation.patterns.map(each => [each.place, each.score.toFixed(2), each.pattern,
		each.accesses.map(place).join(" \u2192 "), each.failed + " of " + explanation.failed, each.passed + " of " + explanation.passed, each.explanation]);
	return element("details", { class: "more" },
		element("summary", { text: "The whole ranking: " + counted(explanation.pattern_count, "pattern") + " of " + counted(explanation.explanation_count, "conflict") +
			(rows.length < explanation.pattern_count ? ", the first " + rows.length : "") }),
		table(["", "Score", "Pattern", "Accesses", "In failing runs", "In passing runs", "Conflict"], rows));
}

function explanationOf(id) {
	const explanation = (data.explanations || []).findLast(each => each.finding === words(id));
	if (!explanation) return null;
	const compared = counted(explanation.failed + explanation.passed, "run") + " compared: " + explanation.failed + " failed like it, " + explanation.passed + " passed.";
	const nodes = explanation.answers.map(answer => answerNode(answer, explanation));
	const isFirst = (node, at) => at === 0 || explanation.answers[at].verdict === "cause";
	const others = nodes.filter((node, at) => !isFirst(node, at));
	return section("Why it fails", element("p", { class: "faint", text: compared }), ...nodes.filter(isFirst),
		others.length ? element("details", { class: "more" }, element("summary", { text: "What else is suspicious (" + others.length + ")" }), ...others) : null,
		explanation.patterns.length ? ranking(explanation) : null);
}

/* ---- all of it ---- */

function runsOf(finding) {
	const passing = finding.passing && finding.passing.steps && finding.passing.steps.length ? finding.passing : null;
	const isViolation = finding.kind === "violation";
	if (!passing)
		return interleavings("The interleaving", [{ steps: finding.steps, leftOut: finding.steps_left_out, leftOutLater: finding.later_steps_left_out }]);
	return interleavings(isViolation ? "The interleaving that shows it, and one that does not" : "The interleaving that fails, and one that passes", [
		{ title: isViolation ? "shows it" : "fails", steps: finding.steps, leftOut: finding.steps_left_out, leftOutLater: finding.later_steps_left_out },
		{ title: isViolation ? "does not" : "passes", steps: passing.steps, leftOut: passing.steps_left_out }]);
}

/* What a replay needs besides the schedule. */
function surroundings(finding) {
	return facts([["Working folder", finding.directory], ["Standard input", finding.input], ["Seed", finding.seed], ["Run", finding.run_number]]);
}

function findingNode(finding, isOpen) {
	const runs = runsOf(finding), id = words(finding.id);
	const wait = finding.waits && finding.waits.length;
	return entry(id, "finding", badge(words(finding.kind), finding.kind === "violation" ? "" : "bad"), finding.title, isOpen, runs && runs.draw,
		finding.detail ? element("p", { class: "detail", text: words(finding.detail) }) : null,
		sourcesNote(finding),
		facts([["Repeats", finding.replays ? finding.replays_failed_again + " of " + counted(finding.replays, "replay") : ""],
			["Context switches", finding.switches], ["of them preemptions", finding.preemptions],
			["Depth", finding.depth || ""], ["Found by", finding.strategy]]),
		section("See it again", command("raddle replay " + id, "raddle replay " + id + " --gdb")),
		explanationOf(id), wait ? waitsTable(finding) : null, races(finding),
		runs ? runs.node : null, stacks(finding),
		finding.output ? section("What the run printed last", element("pre", { tabindex: "0", text: words(finding.output) })) : null,
		element("details", { class: "more" }, element("summary", { text: "The schedule" }),
			element("pre", { tabindex: "0", text: words(finding.schedule) }), element("pre", { tabindex: "0", text: (finding.argv || []).map(words).join(" ") }), surroundings(finding)));
}
