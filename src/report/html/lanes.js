/*
 * An interleaving as swim lanes: a row for each step, a lane for each thread. Only the rows in view are in the page,
 * so tens of thousands of steps stay fluid; the strip beside them shows the whole run.
 */

const GUTTER = 68, LIFELINE = 14, TEXT_AT = 40, LANE_LEAST = 76, LANE_MOST = 280, SPARE = 200, ROWS_AROUND = 16;
const ROW_STANDARD = 24, ROW_LEAST = 2, ROW_MOST = 44, ROW_DENSE = 14, HELD_LEVELS = 4, DRAG_LEAST = 4;
const STRIP_WIDTH = 56;

class Lanes {
	/* options: about, marks (a function of a step: its mark or ""), differsAt (row) */
	constructor(steps, options) {
		this.steps = steps;
		this.marks = options.marks || (() => "");
		this.differsAt = options.differsAt;
		this.threads = [...new Set(steps.map(step => words(step.thread)))]
			.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
		this.lanes = new Map(this.threads.map((thread, at) => [thread, at]));
		this.files = new Set(steps.map(step => baseName(stepFrame(step).file)).filter(Boolean));
		this.preemptions = steps.map((step, at) => step.is_preemption ? at : -1).filter(row => row > 0);
		this.rowHeight = ROW_STANDARD;
		this.laneWidth = LANE_LEAST;
		this.spans = this.heldSpans();
		this.build(options.about);
	}

	left(thread) {
		return GUTTER + this.lanes.get(words(thread)) * this.laneWidth;
	}

	/* Where all are of one file, the line alone. */
	shortPlace(frame) {
		return this.files.size === 1 && frame.line ? ":" + frame.line : place(frame);
	}

	text(step) {
		const value = step.value === null || step.value === undefined ? "" : " = " + words(step.value);
		return words(step.verb) + (step.object ? " " + words(step.object) : "") + value;
	}

	/* From each op that takes a lock to the one that gives it back, by the words of the ops; inner ones further in. */
	heldSpans() {
		const open = new Map(), depth = new Map(), spans = [];
		const end = (span, row) => {
			span.to = row;
			depth.set(span.thread, depth.get(span.thread) - 1);
		};
		this.steps.forEach((step, row) => {
			const thread = words(step.thread), key = thread + "\n" + words(step.object);
			if (/^(read-|write-)?locks$|^tries to lock$|^gets back$/.test(step.verb)) {
				if (open.has(key)) return;
				const level = depth.get(thread) || 0;
				depth.set(thread, level + 1);
				open.set(key, { thread, object: words(step.object), from: row, to: this.steps.length, level: Math.min(level, HELD_LEVELS - 1) });
				spans.push(open.get(key));
			} else if (/^unlocks$|^waits on$/.test(step.verb) && open.has(key)) {
				end(open.get(key), row);
				open.delete(key);
			}
		});
		return spans;
	}

	/* ---- what stays ---- */

	build(about) {
		this.names = element("div", { class: "names" });
		this.body = element("div", { class: "body" });
		this.frame = element("div", { class: "lanes", tabindex: "0", role: "group",
			"aria-label": "Interleaving: " + counted(this.steps.length, "step") + " of " + counted(this.threads.length, "thread") }, this.names, this.body);
		this.frame.style.height = "min(" + (this.steps.length * ROW_STANDARD + 40) + "px, 560px, 72vh)";
		this.strip = element("canvas", { class: "strip", "aria-hidden": "true", title: "the whole run" });
		this.detail = element("div", { class: "detail-of-step", "aria-live": "polite" });
		this.node = element("div", { class: "lanes-box" }, this.bar(about), element("div", { class: "stage" }, this.frame, this.strip), this.detail);
		this.listen();
		/* Later: drawing changes sizes itself. */
		new ResizeObserver(() => setTimeout(() => { if (this.frame.clientWidth && this.frame.clientWidth !== this.laidOutFor) this.draw(); })).observe(this.frame);
	}

	bar(about) {
		const button = (text, label, action) => {
			const made = element("button", { type: "button", text, "aria-label": label, title: label });
			made.onclick = action;
			return made;
		};
		const bar = element("div", { class: "bar" }, button("\u2212", "smaller", () => this.zoom(1 / 1.5)), button("+", "larger", () => this.zoom(1.5)));
		if (this.preemptions.length)
			bar.append(button("\u2191", "previous preemption", () => this.showPreemption(-1)), button("\u2193", "next preemption", () => this.showPreemption(1)),
				element("span", { text: counted(this.preemptions.length, "preemption") }));
		if (this.differsAt !== undefined) {
			const first = button("they differ from step " + this.steps[this.differsAt].step + " on", "to the first step that differs", () => this.select(this.differsAt));
			first.classList.add("first-difference");
			bar.append(first);
		}
		bar.append(element("span", { text: about || "" }));
		return bar;
	}

	listen() {
		this.frame.onscroll = () => this.drawSoon();
		this.frame.addEventListener("wheel", event => {
			if (!event.ctrlKey) return;
			event.preventDefault();
			this.zoom(event.deltaY > 0 ? 1 / 1.2 : 1.2, event.clientY - this.frame.getBoundingClientRect().top);
		}, { passive: false });
		this.frame.onkeydown = event => {
			const keys = { "+": () => this.zoom(1.5), "=": () => this.zoom(1.5), "-": () => this.zoom(1 / 1.5), "0": () => this.zoom(ROW_STANDARD / this.rowHeight),
				n: () => this.showPreemption(1), p: () => this.showPreemption(-1), ArrowDown: () => this.move(1), ArrowUp: () => this.move(-1),
				Home: () => this.select(0), End: () => this.select(this.steps.length - 1), Escape: () => this.select(undefined) };
			if (!Object.hasOwn(keys, event.key) || event.ctrlKey || event.altKey || event.metaKey) return;
			event.preventDefault();
			keys[event.key]();
		};
		this.listenToMouse();
		this.strip.onpointerdown = this.strip.onpointermove = event => {
			if (!(event.buttons & 1)) return;
			const share = event.offsetY / this.strip.clientHeight;
			this.frame.scrollTop = share * this.steps.length * this.rowHeight - this.frame.clientHeight / 2;
		};
	}

	/* Drawn to a side the view moves; a click chooses a step. */
	listenToMouse() {
		let from = null, isDrawn = false;
		this.frame.onpointerdown = event => {
			if (event.button || event.pointerType === "touch" || event.offsetX > this.frame.clientWidth && event.target === this.frame) return;
			from = { x: event.clientX, y: event.clientY, left: this.frame.scrollLeft, top: this.frame.scrollTop };
			isDrawn = false;
		};
		this.frame.onpointermove = event => {
			if (!from || !(event.buttons & 1)) return;
			if (!isDrawn && Math.hypot(event.clientX - from.x, event.clientY - from.y) < DRAG_LEAST) return;
			isDrawn = true;
			this.frame.classList.add("drawn");
			this.frame.scrollLeft = from.left - (event.clientX - from.x);
			this.frame.scrollTop = from.top - (event.clientY - from.y);
		};
		this.frame.onpointerup = this.frame.onpointerleave = () => {
			from = null;
			this.frame.classList.remove("drawn");
		};
		this.frame.onclick = event => {
			const top = this.body.getBoundingClientRect().top, row = Math.floor((event.clientY - top) / this.rowHeight);
			if (!isDrawn && event.clientY >= this.names.getBoundingClientRect().bottom && row >= 0 && row < this.steps.length) this.select(row, true);
		};
	}

	/* ---- moving about ---- */

	viewHeight() {
		return Math.max(ROW_STANDARD, (this.frame.clientHeight || 560) - this.names.offsetHeight);
	}

	zoom(factor, at) {
		const anchor = at === undefined ? this.viewHeight() / 2 : Math.max(0, at - this.names.offsetHeight);
		const row = (this.frame.scrollTop + anchor) / this.rowHeight;
		this.rowHeight = Math.min(ROW_MOST, Math.max(ROW_LEAST, this.rowHeight * factor));
		this.body.style.height = this.steps.length * this.rowHeight + "px";
		this.frame.scrollTop = row * this.rowHeight - anchor;
		this.draw();
	}

	/* The next one down (1) or up (-1), and behind the last the first again. */
	showPreemption(direction) {
		const rows = this.preemptions, now = this.selected === undefined ? -direction / 2 : this.selected;
		const next = direction > 0 ? rows.find(row => row > now) : rows.findLast(row => row < now);
		const row = next === undefined ? rows[direction > 0 ? 0 : rows.length - 1] : next;
		if (row !== undefined) this.select(row);
	}

	move(by) {
		const first = Math.ceil(this.frame.scrollTop / this.rowHeight);
		this.select(this.selected === undefined ? Math.min(first, this.steps.length - 1) : Math.min(this.steps.length - 1, Math.max(0, this.selected + by)));
	}

	/* Chooses a step, brings it into view and tells of it. */
	select(row, isSeen) {
		this.selected = row;
		if (row !== undefined && !isSeen) {
			const top = row * this.rowHeight, view = this.viewHeight();
			if (top < this.frame.scrollTop + this.rowHeight) this.frame.scrollTop = top - 3 * this.rowHeight;
			else if (top + 2 * this.rowHeight > this.frame.scrollTop + view) this.frame.scrollTop = top - view + 4 * this.rowHeight;
		}
		this.tell();
		this.draw();
	}

	tell() {
		const step = this.steps[this.selected];
		if (!step) {
			this.detail.replaceChildren();
			return;
		}
		const frame = stepFrame(step), held = this.spans.filter(span => span.from < this.selected && span.to >= this.selected);
		const where = place(frame) + (frame.function ? (place(frame) ? " in " : "in ") + words(frame.function) : "");
		this.detail.replaceChildren(
			element("p", {}, element("strong", { text: "step " + step.step + "  " + words(step.thread) + " " + this.text(step) }),
				document.createTextNode(where ? ", " + where : "")),
			...[held.length ? element("p", { class: "faint", text: "held: " + held.map(span => span.object + " by " + span.thread).join(", ") }) : null,
				excerpt(frame)].filter(Boolean));
	}

	/* Once for all scrolling before the next picture. */
	drawSoon() {
		if (this.isDue) return;
		this.isDue = true;
		requestAnimationFrame(() => { this.isDue = false; this.draw(); });
	}

	/* ---- drawing ---- */

	layOut() {
		const width = this.frame.clientWidth || 900, count = Math.max(1, this.threads.length);
		if (width === this.laidOutFor) return;
		this.laidOutFor = width;
		this.laneWidth = Math.floor(Math.min(LANE_MOST, Math.max(LANE_LEAST, (width - GUTTER - SPARE - TEXT_AT) / Math.max(1, count - 1))));
		this.width = Math.max(width, GUTTER + (count - 1) * this.laneWidth + SPARE + TEXT_AT);
		this.names.style.width = this.body.style.width = this.width + "px";
		this.names.replaceChildren(element("div", { class: "name", text: "step", style: { left: "0", width: GUTTER + "px", textAlign: "right" } }),
			...this.threads.map((text, at) => element("div", { class: "name", text, title: text,
				style: { left: GUTTER + at * this.laneWidth + "px", width: (at + 1 < count ? this.laneWidth : SPARE) + "px" } })));
	}

	/* Where something happens: before the first difference, or the first preemption, else at the end. */
	showBeginning() {
		const row = this.differsAt ?? this.preemptions[0] ?? this.steps.length;
		this.hasBegun = true;
		this.body.style.height = this.steps.length * this.rowHeight + "px";
		if (this.steps.length * this.rowHeight > this.viewHeight()) this.frame.scrollTop = (row - 8) * this.rowHeight;
	}

	draw() {
		this.layOut();
		if (!this.hasBegun && this.frame.clientWidth) this.showBeginning();
		const height = this.rowHeight, view = this.viewHeight(), parts = [];
		const first = Math.max(0, Math.floor(this.frame.scrollTop / height) - ROWS_AROUND);
		const end = Math.min(this.steps.length, Math.ceil((this.frame.scrollTop + view) / height) + ROWS_AROUND);
		const spans = this.spans.filter(span => span.to >= first && span.from < end);
		for (const thread of this.threads)
			parts.push(element("div", { class: "lane", style: { left: this.left(thread) + LIFELINE + "px" } }));
		for (const span of spans)
			parts.push(this.spanNode(span));
		for (let row = first; row < end; row++)
			this.addRow(parts, row);
		if (this.differsAt >= first && this.differsAt < end)
			parts.push(element("div", { class: "differs", style: { top: this.differsAt * height + "px" } }));
		this.body.style.height = this.steps.length * height + "px";
		this.body.replaceChildren(...parts);
		this.drawStrip();
	}

	spanNode(span) {
		return element("div", { class: "held", title: span.object + " is held by " + span.thread, style: {
			left: this.left(span.thread) + LIFELINE - 3 + span.level * 6 + "px", top: (span.from + 0.5) * this.rowHeight + "px",
			height: Math.max(2, (span.to - span.from) * this.rowHeight) + "px" } });
	}

	addRow(parts, row) {
		const step = this.steps[row], top = row * this.rowHeight, left = this.left(step.thread), mark = this.marks(step);
		const isDense = this.rowHeight < ROW_DENSE, isSwitch = row > 0 && step.is_switch;
		const sort = (step.is_preemption ? " preempts" : "") + (mark ? " marked" : "") + (row === this.selected ? " chosen" : "");
		if (row === this.selected)
			parts.push(element("div", { class: "chosen-row", style: { top: top + "px", height: this.rowHeight + "px" } }));
		if (isSwitch) parts.push(this.switchNode(row, step));
		parts.push(element("div", { class: "dot" + sort, style: { left: left + LIFELINE + "px", top: top + this.rowHeight / 2 + "px" } }));
		if (isDense) {
			parts.push(element("div", { class: "step dense" + sort, title: words(step.thread) + " " + this.text(step), style: {
				left: left + LIFELINE + 8 + "px", top: top + "px", height: Math.max(1, this.rowHeight - 1) + "px" } }));
			return;
		}
		const lineHeight = this.rowHeight + "px", before = row > 0 ? words(this.steps[row - 1].thread) : "";
		parts.push(element("div", { class: "order" + sort, text: step.step, style: { top: top + "px", lineHeight } },
			element("span", { class: "sign", text: step.is_preemption ? "!" : isSwitch ? ">" : "" })));
		parts.push(element("div", { class: "step" + sort, title: words(step.thread) + " " + this.text(step) + (place(stepFrame(step)) ? " at " + place(stepFrame(step)) : ""),
			style: { left: left + TEXT_AT + "px", top: top + "px", height: lineHeight, lineHeight, maxWidth: this.width - left - TEXT_AT - 4 + "px" } },
			mark ? element("span", { class: "chip mark", text: mark }) : null, document.createTextNode(this.text(step)),
			element("span", { class: "place", text: this.shortPlace(stepFrame(step)) }),
			step.is_preemption && before ? element("span", { class: "chip", text: "preempts " + before }) : null));
	}

	/* An arrow to the thread that moves next. */
	switchNode(row, step) {
		const from = this.left(this.steps[row - 1].thread), to = this.left(step.thread);
		return element("div", { class: "switch" + (step.is_preemption ? " preempts" : "") + (to > from ? " right" : " left"), style: {
			left: Math.min(from, to) + LIFELINE + "px", width: Math.abs(from - to) + "px", top: row * this.rowHeight + "px" } });
	}

	/* The whole run, a column for each thread; what is in view is framed. */
	drawStrip() {
		const view = this.viewHeight(), all = this.steps.length * this.rowHeight;
		this.strip.hidden = all <= view + 1;
		if (this.strip.hidden) return;
		const height = this.frame.clientHeight || 560, scale = globalThis.devicePixelRatio || 1, style = getComputedStyle(this.frame);
		const isNew = this.strip.height !== Math.round(height * scale) || this.stripPaper !== style.backgroundColor;
		if (isNew) this.paintStrip(height, scale, style);
		const box = this.strip.getContext("2d");
		box.putImageData(this.stripImage, 0, 0);
		box.strokeStyle = style.getPropertyValue("--switch");
		box.lineWidth = 2 * scale;
		const top = this.frame.scrollTop / all * height * scale, shown = Math.max(4, Math.min(1, view / all) * height) * scale;
		box.strokeRect(scale, Math.min(top + scale, height * scale - shown - scale), this.strip.width - 2 * scale, shown);
	}

	paintStrip(height, scale, style) {
		this.strip.width = STRIP_WIDTH * scale;
		this.strip.height = Math.round(height * scale);
		this.stripPaper = style.backgroundColor;
		const box = this.strip.getContext("2d", { willReadFrequently: true }), column = (this.strip.width - 8 * scale) / this.threads.length;
		const row = this.strip.height / this.steps.length;
		box.fillStyle = style.getPropertyValue("--panel");
		box.fillRect(0, 0, this.strip.width, this.strip.height);
		box.fillStyle = style.getPropertyValue("--faint");
		this.steps.forEach((step, at) => box.fillRect(this.lanes.get(words(step.thread)) * column, at * row, Math.max(1, column - 1), Math.max(1, row)));
		box.fillStyle = style.getPropertyValue("--switch");
		for (const at of this.preemptions)
			box.fillRect(this.strip.width - 7 * scale, at * row, 7 * scale, Math.max(1.5 * scale, row));
		this.stripImage = box.getImageData(0, 0, this.strip.width, this.strip.height);
	}
}

const LEGEND = "An arrow leads to the thread that moves next: dashed where the one before could not go on, solid (and ! before the step) where it was " +
	"preempted. Bars on a lane: a lock is held. A dotted line: from there on the two runs differ. Click a step, or go with \u2191 and \u2193, to see its source; + and \u2212 (or Ctrl and the wheel) zoom, " +
	"0 takes the zoom back, n and p go to the next and the previous preemption, drawing with the mouse moves the view.";

function leftOut(earlier, later) {
	const some = (number, which) => Number(number || 0) ? [count(number) + which + " steps are left out"] : [];
	return [...some(earlier, " earlier"), ...some(later, " later")].join("; ");
}

/* The first row that is not alike; undefined: there is none in both. */
function firstDifference(a, b) {
	const same = (x, y) => x.step === y.step && words(x.thread) === words(y.thread) && x.verb === y.verb && words(x.object) === words(y.object) && x.value === y.value;
	const row = a.findIndex((step, at) => at >= b.length || !same(step, b[at]));
	return row > 0 && row < b.length ? row : undefined;
}

/* Runs beside each other: [{title, steps, leftOut, leftOutLater, marks}]; with one of them it has all the room. */
function interleavings(title, runs) {
	const shown = runs.filter(run => run && run.steps && run.steps.length);
	if (!shown.length) return null;
	const differsAt = shown.length === 2 ? firstDifference(shown[0].steps, shown[1].steps) : undefined;
	const lanes = shown.map(run => new Lanes(run.steps, { about: leftOut(run.leftOut, run.leftOutLater), marks: run.marks, differsAt }));
	const pair = element("div", { class: shown.length === 2 ? "pair runs" : "" },
		...shown.map((run, at) => element("div", {}, run.title ? element("h4", { text: run.title }) : null, lanes[at].node)));
	return { draw: () => lanes.forEach(each => each.draw()), node: section(title, pair, element("p", { class: "legend", text: LEGEND })) };
}
