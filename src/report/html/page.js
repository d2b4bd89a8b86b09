"use strict";
/*
 * Draws the report from the JSON in the page. Every text of the program goes through textContent: nothing of it
 * is ever read as markup. This file: what the others are built of.
 */
const data = JSON.parse(document.getElementById("data").textContent);

function element(name, options, ...children) {
	const made = document.createElement(name);
	for (const [key, value] of Object.entries(options || {})) {
		if (value === null || value === undefined) continue;
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

function count(number) {
	return Number(number).toLocaleString("en-US");
}

/* "1 finding", "2 findings" */
function counted(number, what) {
	return count(number) + " " + what + (number === 1 ? "" : /(s|ch)$/.test(what) ? "es" : "s");
}

function baseName(path) {
	return words(path).replace(/^.*\//, "");
}

function sourceLocation(frame) {
	return frame && frame.file && frame.line ? baseName(frame.file) + ":" + frame.line : "";
}

/* Steps of findings have a frame, those of explanations a file and a line. */
function stepFrame(step) {
	return step.where || step;
}

function facts(rows) {
	const list = element("dl", { class: "facts" });
	for (const [name, value] of rows)
		if (value !== "" && value !== null && value !== undefined)
			list.append(element("div", {}, element("dt", { text: name }), element("dd", { text: words(value) })));
	return list.childNodes.length ? list : null;
}

function section(title, ...parts) {
	return element("section", { "aria-label": title }, element("h3", { text: title }), ...parts.filter(Boolean));
}

function table(headings, rows) {
	const body = element("tbody");
	for (const row of rows)
		body.append(element("tr", {}, ...row.map((cell, at) => element("td", { "data-label": headings[at] }, cell instanceof Node ? cell : cell === "" ? null : breakable(words(cell))))));
	return element("div", { class: "scrolls", tabindex: "0", role: "group", "aria-label": "Table" },
		element("table", {}, element("thead", {}, element("tr", {}, ...headings.map(text => element("th", { text, scope: "col" })))), body));
}

/* ---- source ---- */

const LINES_AROUND = 3;

/* Maps a location to the source lines that its document (finding, explanation, prediction or branch) keeps. */
const sourcesOf = new WeakMap();

function noteSources(value, sources) {
	if (value === null || typeof value !== "object") return;
	if (value.line) sourcesOf.set(value, sources);
	for (const part of Object.values(value)) noteSources(part, sources);
}

for (const part of [data.findings, data.explanations, data.predictions, data.branches].flat())
	if (part) noteSources(part, part.sources || part.sources_now || {});

/* The kept lines of a file by number; null: none are kept. */
function fileOf(frame) {
	const path = words(frame && (frame.path || frame.file)), sources = frame && sourcesOf.get(frame);
	return path && sources && Object.hasOwn(sources, path) ? sources[path].lines : null;
}

/* A note where the shown lines differ from the present files, or none were kept; null: no note. */
function sourcesNote(part) {
	const changed = (part.sources_changed || []).map(baseName);
	const text = changed.length ? changed.join(", ") + " changed since this was stored; the lines are those of that time"
		: part.sources_now && Object.keys(part.sources_now).length ? "Source lines come from the present files, because none were stored" : "";
	return text ? element("p", { class: "note", text: text + "." }) : null;
}

/* The line itself, where the report could read it. */
function sourceLine(frame) {
	const file = fileOf(frame);
	return file && frame.line in file ? words(file[frame.line]).trim() : "";
}

/* Lines around the frame; null where the report could not read them. */
function excerpt(frame) {
	const file = fileOf(frame);
	if (!file || !frame.line) return null;
	const shown = element("pre", { tabindex: "0", class: "source" });
	for (let line = frame.line - LINES_AROUND; line <= frame.line + LINES_AROUND; line++) {
		if (!(line in file)) continue;
		const isHere = line === frame.line;
		shown.append(element("span", { class: isHere ? "line here" : "line" },
			element("span", { class: "number", text: String(line).padStart(5) + (isHere ? " \u25b8 " : "   ") }),
			document.createTextNode(words(file[line]).replaceAll("\t", "    ") || " ")));
	}
	return shown.childNodes.length ? shown : null;
}

/* The innermost frame of the program's code; short functions that only pass a call on are skipped. */
function userFrame(stack) {
	const frames = stack || [];
	return frames.find(frame => !frame.is_system && !frame.is_wrapper && frame.line) || frames.find(frame => !frame.is_system && frame.line) || frames.find(frame => !frame.is_system) || frames[0];
}

function stackTable(stack) {
	const rows = (stack || []).filter(frame => !frame.is_system).map(frame => [frame.function || frame.module || "?", sourceLocation(frame)]);
	return rows.length ? table(["Function", "Location"], rows) : null;
}

function whereItIs(title, stack, mark) {
	const frame = userFrame(stack);
	if (!frame) return null;
	return element("div", {}, element("h4", {}, mark ? element("span", { class: "chip mark", text: mark }) : null, document.createTextNode(title)), excerpt(frame), stackTable(stack));
}

/* A command that can be taken with one key or click. */
function command(...lines) {
	const text = lines.join("\n");
	const copy = element("button", { type: "button", class: "copy", text: "copy" });
	copy.onclick = async () => {
		try {
			await navigator.clipboard.writeText(text);
			copy.textContent = "copied";
		} catch {
			getSelection().selectAllChildren(shown);
			copy.textContent = "selected";
		}
	};
	const shown = element("pre", { tabindex: "0", text });
	return element("div", { class: "command" }, shown, copy);
}

/* A link to a finding, prediction or branch of this page, or its name where it is not in here. */
function linkTo(id) {
	const name = words(id);
	const isHere = data.findings.some(finding => words(finding.id) === name);
	return isHere ? element("a", { href: "#" + name, text: name }) : element("span", { text: name });
}

/* Something that opens. `draw` is called when it is open, as often as that happens. */
function entry(id, kind, badge, title, isOpen, draw, ...parts) {
	const node = element("details", { class: "entry " + kind, id },
		element("summary", {}, element("h2", {}, element("span", { class: "id", text: id }), badge, element("span", { class: "title" }, breakable(title)))),
		...parts);
	node.ontoggle = () => { if (node.open && draw) draw(); };
	node.open = isOpen;
	return node;
}

function badge(text, sort) {
	return element("span", { class: "badge " + (sort || ""), text });
}
