/* What `raddle predict` inferred and what came of it; branches that depend on the schedule. */

/* "confirmed, and it fails" -> [words, sort] */
function stateOf(candidate) {
	const state = words(candidate.state);
	if (/^(confirmed|benign)/.test(state)) return [state, /fail/.test(state) && !/no failure/.test(state) ? "bad" : "seen"];
	return [state, "open"];
}

/* Of a second command in one report the names begin anew: "P2.1" */
function predictionId(candidate, all) {
	return all > 0 ? words(candidate.id).replace(/^P/, "P" + (all + 1) + ".") : words(candidate.id);
}

/* Where the candidate's locations are in a run: "1", "2" in their order, of a circle by nothing but a mark. */
function marksOf(candidate, run) {
	const locations = candidate.places.map((each, at) => ({ each, mark: String(at + 1) })).filter(({ each }) => each.run === run);
	return step => {
		const found = locations.find(({ each }) => each.step === step.step && words(each.thread) === words(step.thread) && words(each.verb) === words(step.verb));
		return found ? found.mark : "";
	};
}

/* Finds the prediction's locations in another run. */
function marksFound(candidate, steps) {
	const marks = marksIn(steps, candidate.places.map(each => ({ thread: each.thread, verb: each.verb, where: each.at || {} })));
	return step => marks.get(step.step) || "";
}

function locationsNode(candidate) {
	return element("div", { class: "pair" }, ...candidate.places.map((each, at) => {
		const held = each.held_since && each.held_since.line ? ", while " + words(each.holder) + " holds it since " + sourceLocation(each.held_since) : "";
		const seen = each.at ? each.at : {};
		return element("div", {}, element("h4", {}, element("span", { class: "chip mark", text: at + 1 }),
			document.createTextNode(words(each.thread) + " " + words(each.verb) + " " + words(each.object) + held)),
			excerpt(seen), element("p", { class: "faint", text: (sourceLocation(seen) || "somewhere") + (seen.function ? " in " + words(seen.function) : "") }));
	}));
}

/* The run that passed beside the one that shows it, where that is in the page. */
function runsOfCandidate(candidate, predictions) {
	const number = candidate.places.length ? candidate.places[0].run : 0;
	const recorded = (predictions.runs || [])[number];
	const finding = data.findings.find(each => words(each.id) === words(candidate.shown_by || candidate.finding));
	if (!recorded || !recorded.steps) return null;
	const others = candidate.places.some(each => each.run !== number);
	return interleavings("The run that it was inferred from" + (finding ? ", and one in which it happens" : ""), [
		finding ? { title: "it happens: " + words(finding.id), steps: finding.steps, leftOut: finding.steps_left_out, marked: "its locations", waits: finding.waits,
			failing: finding.failing_thread, marks: marksFound(candidate, finding.steps) } : null,
		{ title: "passes" + (others ? " (some of the locations are of other runs)" : ""), steps: recorded.steps,
			leftOut: recorded.steps[0] ? recorded.steps[0].step : 0, marks: marksOf(candidate, number), marked: "its locations" }]);
}

function predictionNode(candidate, predictions, id, isOpen) {
	const [state, sort] = stateOf(candidate), runs = runsOfCandidate(candidate, predictions);
	return entry(id, "prediction", badge(state, sort), candidate.title, isOpen, runs && runs.draw,
		candidate.reason ? element("p", { class: "detail", text: "Not reached: " + words(candidate.reason) + "." }) : null,
		candidate.finding ? element("p", {}, document.createTextNode("Result: "), linkTo(candidate.finding)) : null,
		facts([["Kind", candidate.kind], ["Pattern", candidate.pattern], ["Must agree", candidate.set],
			["Units of work", (candidate.units || []).map(words).filter(Boolean).join(", ")],
			["Runs driven towards it", count(candidate.runs)], ["of them showed it", candidate.shown], ["and failed", candidate.shown_failed]]),
		candidate.finding ? section("Replay with", command("raddle replay " + words(candidate.shown_by || candidate.finding), "raddle replay " + words(candidate.shown_by || candidate.finding) + " --trace")) : null,
		section("Its locations", locationsNode(candidate)), runs ? runs.node : null);
}

function predictionsNode(predictions, all) {
	const isCut = predictions.is_cut ? " The search ended early: there may be more." : "";
	const left = predictions.candidate_count - predictions.candidates.length;
	return section("Predictions", element("p", { class: "faint", text: "From " + counted((predictions.runs || []).length, "run") + " that passed: " +
		counted(predictions.candidate_count, "candidate") + (left > 0 ? ", the first " + predictions.candidates.length + " of them here" : "") + "." + isCut }),
		...predictions.candidates.map((candidate, at) => predictionNode(candidate, predictions, predictionId(candidate, all), !data.findings.length && at === 0)));
}

/* ---- branches ---- */

function branchId(at, all) {
	return (all > 0 ? "B" + (all + 1) + "." : "B") + (at + 1);
}

/* By kind of branch: its effect in the recorded run, then its effect under the other schedule. */
const OUTCOMES = {
	"switch": ["takes one case", "takes another case"], "call": ["calls one function", "calls another function"],
	"null pointer": ["has memory", "has a null pointer"], "division by zero": ["divides by another number", "divides by zero"],
	"index out of bounds": ["stays inside the array", "goes outside of the array"],
};

function outcomesOf(branch) {
	const sides = ["finds the condition true", "finds the condition false"];
	return OUTCOMES[branch.kind] || (branch.recorded ? sides : sides.reverse());
}

function ordinal(number) {
	const last = number % 100 > 10 && number % 100 < 20 ? 0 : number % 10;
	return number + (["th", "st", "nd", "rd"][last] || "th");
}

/* Titles a branch by its location in the user's code. For a branch in a library header that location is the call. */
function branchTitle(branch) {
	const caller = branch.caller, own = sourceLocation(branch) + (branch.function ? " in " + words(branch.function) : "");
	return words(branch.kind) + " at " + (caller ? sourceLocation(caller) + (caller.function ? " in " + caller.function : "") + ", inside " + (shortFunction(branch.function) || sourceLocation(branch)) : own);
}

function branchStory(branch) {
	const [recorded, other] = outcomesOf(branch), time = branch.occurrence ? ", here for the " + ordinal(branch.occurrence + 1) + " time," : "";
	return "In the recorded run " + words(branch.thread) + time + " " + recorded + "; under another schedule it " + other + "." +
		(branch.variables ? " That depends on what other threads write to " + words(branch.variables) + "." : "") +
		(branch.continuations && branch.class !== "bug" ? " " + counted(branch.continuations, "random run") + " from this branch on passed." : "") +
		(branch.outcome ? " A run from this branch on ends as " + words(branch.outcome) + "." : "");
}

function branchNode(branch, id, isOpen) {
	const sort = branch.class === "bug" || branch.finding ? "bad" : "seen", [recordedWords, otherWords] = outcomesOf(branch);
	const { recorded, flipped } = branch.interleavings || {}, who = words(branch.thread) + " ", caller = branch.caller;
	const inUserCode = steps => caller && steps.length ? [...steps.slice(0, -1), Object.assign({}, steps.at(-1), { where: caller })] : steps;
	const runs = recorded && flipped && interleavings("Both outcomes", [
		{ title: "as recorded: " + who + recordedWords, steps: inUserCode(recorded.steps), leftOut: recorded.steps_left_out, failing: branch.thread },
		{ title: "the other outcome: " + who + otherWords, steps: inUserCode(flipped.steps), leftOut: flipped.steps_left_out, failing: branch.thread }]);
	return entry(id, "branch", badge(words(branch.class) || "sensitive", sort), branchTitle(branch), isOpen, runs && runs.draw,
		branch.delayed ? element("p", { class: "detail", text: "In a run under TSO (store buffers), where other threads see late: " + words(branch.delayed) }) : null,
		element("p", {}, breakable(branchStory(branch))),
		branch.finding ? element("p", {}, document.createTextNode("Result: "), linkTo(branch.finding)) : null,
		branch.finding ? section("Replay with", command("raddle replay " + words(branch.finding))) : null,
		caller && excerpt(caller) ? section("The call that leads to it", excerpt(caller)) : null,
		excerpt(branch) ? section(caller ? "The branch, in " + sourceLocation(branch) : "The branch", excerpt(branch)) : null, runs ? runs.node : null,
		branch.schedule ? element("details", { class: "more" }, element("summary", { text: "The schedule that gives the other outcome" }),
			element("pre", { tabindex: "0", text: words(branch.schedule) })) : null);
}

function branchesNode(document, all) {
	return section("Branches that depend on the schedule", element("p", { class: "faint", text: counted(document.branches.length, "branch") + " with both outcomes, depending on the order of the threads." }),
		...document.branches.map((branch, at) => branchNode(branch, branchId(at, all), !data.findings.length && at === 0)));
}
