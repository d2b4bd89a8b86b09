/* Shows interleavings in the page: the text of their rows, and two runs side by side. */

/* Allows line breaks in names after "::", "<" and ",", and nowhere else. */
function breakable(text) {
	const node = element("span", { class: "words" });
	words(text).split(/(?<=::|[</])|(?<=,)(?! )/).forEach((part, at) => node.append(...(at ? [element("wbr")] : []), document.createTextNode(part)));
	return node;
}

/* Stores that weak memory concerns: " (of step 3, misses step 5)". */
function storeWords(step) {
	const of = step.reads_from || step.makes_visible, parts = [of ? "of step " + of : "", step.misses ? "misses step " + step.misses : ""].filter(Boolean);
	return parts.length ? " (" + parts.join(", ") + ")" : "";
}

/* `isCall`: one row stands for all accesses inside of a library call. */
function stepWords(step, isCall) {
	if (isCall) return "calls " + words(step.library_call);
	const value = step.value === null || step.value === undefined ? "" : " = " + words(step.value);
	return words(step.verb) + (step.object ? " " + shortName(step.object) : "") + storeWords(step) + value + (step.library_call ? " in " + words(step.library_call) : "");
}

/* The function's name without template arguments and return type: "ThreadPool::submit". */
function shortFunction(name) {
	let depth = 0, text = "";
	for (const letter of words(name).replaceAll("(anonymous namespace)::", "").replace(/operator(<<|>>|<=>|<=|>=|->|<|>)/g, "operator")) {
		if (letter === "<") depth++;
		if (!depth) text += letter;
		if (letter === ">" && depth) depth--;
	}
	return /^[\w:~<>* ]+ [\w:~]+$/.test(text) && !/ at /.test(text) ? text.replace(/^.* /, "") : text;
}

/* A step's location and function in the user's code; empty for library code. The file is omitted where all steps are in one file. */
function locationNode(frame, isOneFile) {
	if (!frame || frame.is_system || !sourceLocation(frame)) return null;
	const where = element("span", { class: "unbroken", text: isOneFile ? ":" + frame.line : sourceLocation(frame) });
	return element("span", { class: "location" }, where, document.createTextNode(" "), breakable(shortFunction(frame.function)));
}

/* The object that a blocked thread waits for, and the thread that holds the object. */
function waitWords(wait, threads) {
	const object = shortName(wait.object), held = wait.held_since && sourceLocation(wait.held_since), is = threads > 1 ? "are" : "is";
	const what = wait.verb === "joins" ? is + " blocked joining " + object.replace(/^thread /, "") : is + " blocked, " + (threads > 1 ? "wait" : "waits") + " for " + object;
	return [breakable(what), wait.holder && wait.verb !== "joins" ? element("span", { class: "holder", text: ", held by " + words(wait.holder) + (held ? " since " + held : "") }) : null].filter(Boolean);
}

/* ---- legend ---- */

function legendSign(...parts) {
	return drawn("svg", { class: "graph", viewBox: "0 0 22 18", width: 22, height: 18, "aria-hidden": "true" }, ...parts);
}

/* Explains only the signs that these lanes contain. */
function legendOf(lanes) {
	const has = wanted => lanes.some(each => each.steps.some((step, row) => wanted(step, row))), list = element("div", { class: "legend" });
	const add = (isShown, text, ...parts) => { if (isShown) list.append(element("span", {}, legendSign(...parts), document.createTextNode(text))); };
	add(true, "a step", drawn("line", { x1: 11, x2: 11, y1: 0, y2: 18, class: "path t0" }), drawn("circle", { cx: 11, cy: 9, r: 4, class: "t0" }));
	add(has((step, row) => row && step.is_switch && !step.is_preemption), "context switch", drawn("path", { d: "M5 0C5 10,17 6,17 18", class: "path switch" }));
	add(has((step, row) => row && step.is_preemption), "! preemption", drawn("path", { d: "M5 0C5 10,17 6,17 18", class: "path switch preempts" }));
	add(lanes.some(each => each.spans.length), "holds a lock", drawn("line", { x1: 11, x2: 11, y1: 0, y2: 18, class: "held" }));
	add(has(step => lanes.some(each => each.options.marks(step))), lanes.map(each => each.options.marked).find(Boolean) || "marked", drawn("path", { d: "M11 3l6 6l-6 6l-6-6z", class: "mark" }));
	for (const link of new Map(STORE_LINKS.map(each => [each.sort, each])).values())
		add(lanes.some(each => each.links.some(other => other.sort === link.sort)), link.legend, drawn("path", { d: "M3 3H18V13H8" + link.end, class: link.sort }));
	add(has(step => step.is_failure), "failure", drawn("path", { d: "M7 5l8 8m0 -8l-8 8", class: "cross" }));
	add(lanes.some(each => each.options.waits.length), "blocked", drawn("path", { d: "M7 5l8 8m0 -8l-8 8", class: "cross" }));
	add(lanes.some(each => each.items.some(item => item.threads)), "folded steps", drawn("rect", { x: 7, y: 4, width: 8, height: 10, rx: 2, class: "folded" }));
	add(lanes.some(each => each.options.differsAt !== undefined), "first difference", drawn("line", { x1: 0, x2: 22, y1: 9, y2: 9, class: "difference" }));
	return list;
}

const KEYS = "A click on a step shows its source. Keys: \u2191 \u2193 go through the steps, n and p through the preemptions, Home and End to the first and the last step.";

/* ---- runs beside each other ---- */

/* `early`: the number of steps that are shown although the steps behind them are left out. */
function leftOut(earlier, later, early) {
	const some = (number, words) => Number(number || 0) ? [count(number) + words] : [];
	return [...some(earlier, early ? " steps behind the first " + count(early) + " are left out" : " earlier steps are left out"), ...some(later, " later steps are left out")].join("; ");
}

/* The first row that differs; undefined: none. Names of objects are not compared, because one run may lack the name of a local. */
function firstDifference(a, b) {
	const same = (x, y) => x.step === y.step && words(x.thread) === words(y.thread) && x.verb === y.verb && locationKey(x) === locationKey(y) && x.value === y.value;
	const row = a.findIndex((step, at) => at >= b.length || !same(step, b[at]));
	return row > 0 && row < b.length ? row : undefined;
}

/* Shows runs side by side: [{title, steps, leftOut, leftOutLater, early, marks, waits, failing}]. A single run gets the full width. */
function interleavings(title, runs) {
	const shown = runs.filter(run => run && run.steps && run.steps.length), lanes = [];
	if (!shown.length) return null;
	const differsAt = shown.length === 2 ? firstDifference(shown[0].steps, shown[1].steps) : undefined;
	for (const run of shown)
		lanes.push(new Lanes(run.steps, { about: leftOut(run.leftOut, run.leftOutLater, run.early), marks: run.marks || (() => ""), marked: run.marked, differsAt, waits: run.waits || [], failing: run.failing, like: lanes[0] }));
	const pair = element("div", { class: shown.length === 2 ? "pair runs" : "" },
		...shown.map((run, at) => element("div", {}, run.title ? element("h4", { text: run.title }) : null, lanes[at].node)));
	const show = row => {
		lanes[0].frame.scrollIntoView({ block: "nearest" });
		lanes[0].select(row);
	};
	return { show, draw: () => lanes.forEach(each => each.draw()), node: section(title, legendOf(lanes), pair, element("p", { class: "keys", text: KEYS })) };
}
