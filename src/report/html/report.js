"use strict";
/*
 * Draws the report from the JSON in the page. Every text of the program goes through textContent: nothing of it
 * is ever read as markup.
 */
const data = JSON.parse(document.getElementById("data").textContent);

function element(name, options, ...children) {
	const made = document.createElement(name);
	for (const [key, value] of Object.entries(options || {})) {
		if (key === "text") made.textContent = value;
		else if (key === "style") Object.assign(made.style, value);
		else made.setAttribute(key, value);
	}
	made.append(...children.filter(child => child !== null && child !== undefined));
	return made;
}

function words(value) {
	if (value === null || value === undefined) return "";
	return typeof value === "object" && "hex" in value ? "(bytes " + value.hex + ")" : String(value);
}

function baseName(path) {
	return words(path).replace(/^.*\//, "");
}

function place(frame) {
	return frame && frame.file && frame.line ? baseName(frame.file) + ":" + frame.line : "";
}

/* ---- facts ---- */

function facts(rows) {
	const list = element("dl", { class: "facts" });
	for (const [name, value] of rows)
		if (value !== "" && value !== null && value !== undefined)
			list.append(element("div", {}, element("dt", { text: name }), element("dd", { text: words(value) })));
	return list;
}

function count(number) {
	return Number(number).toLocaleString("en-US");
}

function summary() {
	const campaign = data.campaign;
	const findings = data.findings.length + (data.findings.length === 1 ? " finding" : " findings");
	if (!campaign)
		return facts([["Findings", findings]]);
	const rate = campaign.seconds > 0 ? campaign.runs / campaign.seconds : 0;
	return facts([
		["Result", data.findings.length ? findings : "nothing found"],
		["Schedules", count(campaign.runs)],
		["Failing schedules", count(campaign.failures) +
			(campaign.runs ? " (" + (100 * campaign.failures / campaign.runs).toPrecision(2) + " %)" : "")],
		["Schedules per second", rate ? count(Math.round(rate)) : ""],
		["Steps", count(campaign.steps)],
		["Time", campaign.seconds.toFixed(1) + " s"],
		["Strategy", campaign.strategy],
		["Seed", campaign.seed],
		["Restart", campaign.restart],
		["State", campaign.state],
		["Began", campaign.started ? new Date(campaign.started * 1000).toISOString().replace("T", " ").slice(0, 16) + " UTC" : ""],
	]);
}

/* ---- charts ---- */

const CHART_WIDTH = 280, CHART_HEIGHT = 90;

function drawn(name, options, ...children) {
	const made = document.createElementNS("http://www.w3.org/2000/svg", name);
	for (const [key, value] of Object.entries(options)) {
		if (key === "text") made.textContent = value;
		else made.setAttribute(key, value);
	}
	made.append(...children);
	return made;
}

/* One line over the time of the campaign. `points`: [seconds, value]. Its words say what the line does. */
function chart(title, points, isStepped, end) {
	const most = Math.max(...points.map(point => point[1])), last = points[points.length - 1][1];
	const x = seconds => (seconds / end * CHART_WIDTH).toFixed(1);
	const y = value => (CHART_HEIGHT - 2 - (most ? value / most * (CHART_HEIGHT - 6) : 0)).toFixed(1);
	const path = points.map(([seconds, value], at) => at === 0 ? "M" + x(seconds) + " " + y(value)
		: (isStepped ? "H" + x(seconds) + "V" + y(value) : "L" + x(seconds) + " " + y(value))).join("");
	const text = title + ": " + count(Math.round(last)) + " at the end" + (Math.round(most) !== Math.round(last) ? ", " + count(Math.round(most)) + " at most" : "");
	const picture = drawn("svg", { viewBox: "0 0 " + CHART_WIDTH + " " + CHART_HEIGHT, role: "img", "aria-label": text + ", after " + end.toFixed(1) + " s" },
		drawn("path", { d: "M0 " + (CHART_HEIGHT - 1) + "H" + CHART_WIDTH, class: "axis" }), drawn("path", { d: path, class: "curve" }));
	return element("figure", { class: "chart" }, element("figcaption", { text }), picture,
		element("div", { class: "ends" }, element("span", { text: "0 s" }), element("span", { text: end.toFixed(1) + " s" })));
}

/* Schedules per second between the moments, over so many of them that short ones do not count for much. */
function rates(course) {
	const around = Math.max(1, Math.round(course.length / 24));
	return course.slice(around).map((moment, at) => {
		const time = moment.seconds - course[at].seconds;
		return [moment.seconds, time > 0 ? (moment.runs - course[at].runs) / time : 0];
	});
}

function charts() {
	const course = data.campaign && Array.isArray(data.campaign.course) ? data.campaign.course : [];
	const end = course.length ? course[course.length - 1].seconds : 0;
	if (course.length < 3 || !(end > 0)) return null;
	const of = name => course.map(moment => [moment.seconds, moment[name]]);
	return element("section", { class: "charts", "aria-label": "Over time" },
		chart("Schedules", of("runs"), false, end), chart("Schedules per second", rates(course), false, end),
		chart("Distinct findings", of("findings"), true, end),
		chart("Coverage: pairs of places in another order", of("covered"), true, end));
}

/* ---- tables ---- */

function table(headings, rows) {
	const made = element("table", {}, element("tr", {}, ...headings.map(text => element("th", { text, scope: "col" }))));
	for (const row of rows)
		made.append(element("tr", {}, ...row.map(text => element("td", { text: words(text) }))));
	return made;
}

function userFrame(stack) {
	const frames = stack || [];
	return frames.find(frame => !frame.is_system && frame.line) || frames.find(frame => !frame.is_system) || frames[0];
}

function waitsTable(finding) {
	if (!finding.waits || !finding.waits.length) return null;
	return section("Who waits for whom", table(["Thread", "cannot go on: it", "at", "held by", "who took it at"],
		finding.waits.map(wait => [wait.thread, wait.verb + " " + words(wait.object), place(userFrame(wait.at)),
			wait.holder, wait.held_since ? place(wait.held_since) : ""])));
}

function section(title, ...parts) {
	return element("section", { "aria-label": title }, element("h3", { text: title }), ...parts);
}

function stackTable(stack) {
	return table(["Function", "Place"], (stack || []).filter(frame => !frame.is_system)
		.map(frame => [frame.function || frame.module || "?", place(frame)]));
}

/* ---- source ---- */

/* Lines around the frame, where the report could read them. */
function excerpt(frame) {
	const file = frame && frame.file && data.sources ? data.sources[frame.file] : null;
	if (!file || !frame.line) return null;
	const shown = element("pre", { tabindex: "0" });
	for (let line = frame.line - 3; line <= frame.line + 3; line++) {
		if (!(line in file)) continue;
		const text = String(line).padStart(5) + (line === frame.line ? " > " : "   ");
		shown.append(element("span", { class: line === frame.line ? "line here" : "line" },
			element("span", { class: "number", text }), document.createTextNode(file[line] || " ")));
	}
	return shown.childNodes.length ? shown : null;
}

function whereItIs(title, stack) {
	const frame = userFrame(stack);
	if (!frame) return null;
	return element("div", {}, element("h3", { text: title }), excerpt(frame), stackTable(stack));
}

/* ---- the interleaving as lanes ---- */

const LANE_WIDTH = 300, NARROW_LANE_WIDTH = 110, HALF_WIDTH = 600, ORDER_WIDTH = 64, ROWS_AROUND = 20;

class Lanes {
	constructor(steps, about, laneWidth) {
		this.steps = steps;
		this.laneWidth = laneWidth;
		this.threads = [...new Set(this.steps.map(step => words(step.thread)))]
			.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
		this.files = new Set(this.steps.map(step => baseName(step.where && step.where.file)).filter(Boolean));
		this.rowHeight = 24;
		this.spans = this.heldSpans();
		this.build(about);
	}

	left(thread) {
		return ORDER_WIDTH + this.threads.indexOf(words(thread)) * this.laneWidth;
	}

	/* Where all are of one file, the line alone. */
	shortPlace(frame) {
		return this.files.size === 1 && frame && frame.line ? ":" + frame.line : place(frame);
	}

	/* From each op that takes a lock to the one that gives it back, by the words of the ops. */
	heldSpans() {
		const open = new Map(), spans = [];
		this.steps.forEach((step, row) => {
			const key = words(step.thread) + " " + words(step.object);
			if (/^(read-|write-)?locks$|^tries to lock$|^gets back$/.test(step.verb)) {
				if (!open.has(key)) open.set(key, row);
			} else if (/^unlocks$|^waits on$/.test(step.verb) && open.has(key)) {
				spans.push({ thread: step.thread, object: step.object, from: open.get(key), to: row });
				open.delete(key);
			}
		});
		for (const from of open.values())
			spans.push({ thread: this.steps[from].thread, object: this.steps[from].object, from, to: this.steps.length });
		return spans;
	}

	build(about) {
		const columns = ORDER_WIDTH + "px repeat(" + this.threads.length + ", " + this.laneWidth + "px)";
		const names = element("div", { class: "names", style: { gridTemplateColumns: columns } },
			element("div", { text: "step" }), ...this.threads.map(text => element("div", { text })));
		this.body = element("div", { class: "body", style: { width: ORDER_WIDTH + this.threads.length * this.laneWidth + "px" } });
		this.frame = element("div", { class: "lanes", tabindex: "0", role: "group",
			"aria-label": "Interleaving: " + this.steps.length + " steps of " + this.threads.length + " threads" }, names, this.body);
		const smaller = element("button", { type: "button", text: "\u2212", "aria-label": "smaller" });
		const larger = element("button", { type: "button", text: "+", "aria-label": "larger" });
		const next = element("button", { type: "button", text: "next preemption" });
		const previous = element("button", { type: "button", text: "previous" });
		smaller.onclick = () => this.zoom(1 / 1.5);
		larger.onclick = () => this.zoom(1.5);
		next.onclick = () => this.showPreemption(1);
		previous.onclick = () => this.showPreemption(-1);
		this.frame.onscroll = () => this.drawSoon();
		this.frame.addEventListener("wheel", event => {
			if (!event.ctrlKey) return;
			event.preventDefault();
			this.zoom(event.deltaY > 0 ? 1 / 1.2 : 1.2);
		}, { passive: false });
		this.frame.onkeydown = event => {
			if (event.key === "+") this.zoom(1.5);
			else if (event.key === "-") this.zoom(1 / 1.5);
			else if (event.key === "n") this.showPreemption(1);
			else if (event.key === "p") this.showPreemption(-1);
		};
		this.node = element("div", {}, element("div", { class: "bar" }, smaller, larger, next, previous,
			element("span", { text: about })), this.frame);
	}

	zoom(factor) {
		const middle = (this.frame.scrollTop + this.frame.clientHeight / 2) / this.rowHeight;
		this.rowHeight = Math.min(40, Math.max(2, this.rowHeight * factor));
		this.frame.scrollTop = middle * this.rowHeight - this.frame.clientHeight / 2;
		this.draw();
	}

	/* The next one down (1) or up (-1), and behind the last the first again. */
	showPreemption(direction) {
		const rows = this.steps.map((step, at) => step.is_preemption ? at : -1).filter(row => row >= 0);
		const shown = this.shown === undefined ? -direction / 2 : this.shown;
		const next = direction > 0 ? rows.find(row => row > shown) : rows.findLast(row => row < shown);
		this.shown = next === undefined ? rows[direction > 0 ? 0 : rows.length - 1] : next;
		if (this.shown !== undefined) this.frame.scrollTop = (this.shown - 1) * this.rowHeight;
		this.draw();
	}

	/* Once for all scrolling before the next picture. */
	drawSoon() {
		if (this.isDue) return;
		this.isDue = true;
		requestAnimationFrame(() => { this.isDue = false; this.draw(); });
	}

	/* Only what is in view is in the page: thousands of steps stay fluid. */
	draw() {
		const height = this.rowHeight, view = this.frame.clientHeight || 560;
		const first = Math.max(0, Math.floor(this.frame.scrollTop / height) - ROWS_AROUND);
		const end = Math.min(this.steps.length, Math.ceil((this.frame.scrollTop + view) / height) + ROWS_AROUND);
		const parts = this.threads.map(thread => element("div", { class: "lane", style: { left: this.left(thread) + "px" } }));
		for (const span of this.spans)
			if (span.to >= first && span.from < end)
				parts.push(this.spanNode(span));
		for (let row = first; row < end; row++)
			this.addRow(parts, row);
		this.body.style.height = this.steps.length * height + "px";
		this.body.replaceChildren(...parts);
	}

	spanNode(span) {
		return element("div", { class: "held", title: words(span.object) + " is held", style: {
			left: this.left(span.thread) + 2 + "px", top: (span.from + 0.5) * this.rowHeight + "px",
			height: Math.max(2, (span.to - span.from) * this.rowHeight) + "px" } });
	}

	addRow(parts, row) {
		const step = this.steps[row], top = row * this.rowHeight + "px", height = this.rowHeight + "px";
		const text = step.verb + (step.object ? " " + words(step.object) : "");
		const isDense = this.rowHeight < 14;
		if (!isDense)
			parts.push(element("div", { class: "order", text: step.step, style: { top, lineHeight: height } }));
		if (row && step.is_switch)
			parts.push(this.switchNode(row, step, isDense));
		parts.push(element("div", { class: (isDense ? "step dense" : "step") + (row === this.shown ? " shown" : ""),
			title: words(step.thread) + " " + text + (place(step.where) ? " at " + place(step.where) : ""),
			style: { left: this.left(step.thread) + "px", top, height: isDense ? Math.max(1, this.rowHeight - 1) + "px" : height,
				lineHeight: height, width: this.laneWidth + "px" } },
			...(isDense ? [] : [document.createTextNode(text), element("span", { class: "place", text: this.shortPlace(step.where) })])));
	}

	switchNode(row, step, isDense) {
		const from = this.left(this.steps[row - 1].thread), to = this.left(step.thread);
		const node = element("div", { class: step.is_preemption ? "switch preempts" : "switch", style: {
			left: Math.min(from, to) + "px", width: Math.abs(from - to) + 20 + "px", top: row * this.rowHeight + "px" } });
		if (step.is_preemption && !isDense)
			node.append(element("span", { text: words(step.thread) + " preempts" }));
		return node;
	}
}

/* ---- a finding ---- */

function races(finding) {
	if (!finding.race) return null;
	const pair = element("div", { class: "pair" });
	for (const access of finding.race.accesses)
		pair.append(whereItIs(words(access.thread) + " " + words(access.verb) + " it" +
			(access.held ? ", holding " + words(access.held) : ""), access.at));
	return section("The two accesses of " + words(finding.race.variable) + ", which nothing orders", pair);
}

function stacks(finding) {
	const pair = element("div", { class: "pair" });
	if (finding.race) return null;
	if (finding.waits && finding.waits.length)
		pair.append(...finding.waits.map(wait => whereItIs(words(wait.thread) + " " + words(wait.verb) + " " + words(wait.object), wait.at)).filter(Boolean));
	else if (finding.at && finding.at.length)
		pair.append(whereItIs((finding.failing_thread ? words(finding.failing_thread) : "the failing thread") + " stands here", finding.at));
	return pair.childNodes.length ? section("Where the threads stand", pair) : null;
}

const LEGEND = "Solid lines with a name: that thread moves though another could have gone on. Dashed: it could not. Bars: a lock is held. " +
	"Keys: + and \u2212 zoom, n and p go to the next and previous such line, arrows scroll.";

function leftOut(number) {
	return Number(number || 0) ? count(number) + " earlier steps are left out. " : "";
}

/* The failing run, beside one that passed where there is one. */
function interleaving(finding) {
	if (!finding.steps || !finding.steps.length) return null;
	const passing = finding.passing && finding.passing.steps && finding.passing.steps.length ? finding.passing : null;
	const threads = new Set([...finding.steps, ...(passing ? passing.steps : [])].map(step => words(step.thread))).size;
	const width = passing ? Math.max(NARROW_LANE_WIDTH, Math.min(LANE_WIDTH, (HALF_WIDTH - ORDER_WIDTH) / threads)) : LANE_WIDTH;
	const lanes = [new Lanes(finding.steps, leftOut(finding.steps_left_out) + (passing ? "" : LEGEND), width)];
	if (!passing)
		return { lanes, node: section("The interleaving", lanes[0].node) };
	lanes.push(new Lanes(passing.steps, leftOut(passing.steps_left_out), width));
	return { lanes, node: section("The interleaving that fails, and one that passes", element("p", { class: "legend", text: LEGEND }),
		element("div", { class: "pair runs" }, element("div", {}, element("h3", { text: "fails" }), lanes[0].node),
			element("div", {}, element("h3", { text: "passes" }), lanes[1].node))) };
}

function findingNode(finding, isOpen) {
	const runs = interleaving(finding);
	const node = element("details", { class: "finding", id: words(finding.id) },
		element("summary", {}, element("h2", {}, element("span", { class: "kind", text: words(finding.id) + " " }),
			document.createTextNode(words(finding.title)))),
		finding.detail ? element("p", { class: "detail", text: words(finding.detail) }) : null,
		facts([["Repeats", finding.replays ? finding.replays_failed_again + " of " + finding.replays + " replays" : ""],
			["Context switches", finding.switches], ["of them preemptions", finding.preemptions],
			["Depth", finding.depth || ""], ["Found by", finding.strategy]]),
		section("See it again", element("pre", { tabindex: "0", text: "raddle replay " + words(finding.id) + "\nraddle replay " + words(finding.id) + " --gdb" })),
		waitsTable(finding), races(finding),
		runs ? runs.node : null,
		stacks(finding),
		finding.output ? section("What the run printed last", element("pre", { tabindex: "0", text: words(finding.output) })) : null,
		section("The schedule", element("pre", { tabindex: "0", text: words(finding.schedule) })));
	node.ontoggle = () => { if (node.open && runs) runs.lanes.forEach(lanes => lanes.draw()); };
	node.open = isOpen;
	return node;
}

function listNode() {
	const list = element("ul");
	for (const finding of data.findings) {
		const link = element("a", { href: "#" + words(finding.id) },
			element("span", { class: "kind", text: words(finding.id) + " " }), document.createTextNode(words(finding.title)));
		link.onclick = () => { document.getElementById(words(finding.id)).open = true; };
		list.append(element("li", {}, link));
	}
	return list;
}

document.getElementById("command").textContent = data.campaign ? words(data.campaign.command)
	: data.findings.length ? (data.findings[0].argv || []).map(words).join(" ") : "";
document.getElementById("summary").append(...[summary(), charts()].filter(Boolean));
if (data.findings.length > 1) document.getElementById("list").append(listNode());
document.getElementById("findings").append(...data.findings.map((finding, at) => findingNode(finding, at === 0)));
document.documentElement.dataset.ready = "yes";
