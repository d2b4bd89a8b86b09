/*
 * Draws an interleaving as a graph of narrow lanes beside one column of text. Each live thread has a lane, and
 * unimportant steps are folded. The page holds only the chunks of items near the view, so that tens of thousands of steps
 * scroll smoothly.
 */

const DOT = 12, CHUNK = 50, CHUNKS_KEPT = 8, ITEM_HEIGHT = 24, VIEW_AROUND = 400, COLOURS = 8;
const LANE_WIDE = 18, LANE_NARROW = 2, GRAPH_SHARE = 0.3, GRAPH_PADDING = 6;

/* Links of weak memory: a field of a step names the other step, which comes earlier. `shift`: distance from the graph's right edge. */
const STORE_LINKS = [
	{ field: "reads_from", sort: "reads", shift: 2, end: "m4 -3l-4 3l4 3", meaning: "reads the store of", legend: "reads or makes visible that store" },
	{ field: "makes_visible", sort: "reads", shift: 2, end: "m4 -3l-4 3l4 3", meaning: "makes visible the store of", legend: "reads or makes visible that store" },
	{ field: "misses", sort: "misses", shift: -2, end: "m3 -4v8", meaning: "does not see the store of", legend: "misses that store" },
];

/* The row of the step with this number. A buffered store has the number of the step before it: the object decides. */
function storeRow(steps, step, number) {
	if (!number) return -1;
	const row = steps.findIndex(each => each.step === number && each.object === step.object);
	return row >= 0 ? row : steps.findIndex(each => each.step === number);
}

class Lanes {
	/* options: about, marks (maps a step to its mark or ""), differsAt (row), waits, failing, like (Lanes of a run with the same prefix) */
	constructor(steps, options) {
		this.steps = steps;
		this.options = Object.assign({ marks: () => "", waits: [] }, options);
		this.options.spans = heldSpans(steps);
		this.threads = [...new Set([...steps, ...this.options.waits].map(each => words(each.thread)))]
			.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
		this.colours = new Map(this.threads.map((thread, at) => [thread, at % COLOURS]));
		this.preemptions = steps.map((step, at) => step.is_preemption ? at : -1).filter(row => row > 0);
		this.isOneFile = new Set(steps.map(stepFrame).filter(frame => !frame.is_system).map(frame => words(frame.file)).filter(Boolean)).size === 1;
		this.decisive = decisiveRow(steps, this.options);
		this.keepRows();
		this.layOut();
		this.build();
	}

	/* A run that shares a prefix with another one folds that prefix in the same way, so that the two can be compared. */
	keepRows() {
		const { like, differsAt } = this.options;
		this.kept = rowsKept(this.steps, this.options);
		if (!like || differsAt === undefined) return;
		for (let row = 0; row < differsAt; row++)
			if (like.kept.has(row)) this.kept.add(row);
			else this.kept.delete(row);
	}

	/* ---- items and lanes ---- */

	layOut() {
		this.items = itemsOf(this.steps, this.kept, this.options.waits, row => this.isCall(row));
		this.itemOfRow = new Array(this.steps.length);
		this.items.forEach((item, at) => {
			for (let row = item.row; row <= item.last; row++) this.itemOfRow[row] = at;
			for (let row = item.from; row < item.to; row++) this.itemOfRow[row] = at;
		});
		this.life = this.lifetimes();
		this.assignLanes();
		this.spans = this.options.spans.map(span => Object.assign({}, span, { first: this.itemOfRow[span.from], last: this.itemOfRow[span.to] ?? this.items.length }))
			.filter(span => span.first < span.last && this.life.has(span.thread));
		this.links = STORE_LINKS.flatMap(link => this.steps.map((step, row) => [step, row, storeRow(this.steps, step, step[link.field])]).filter(([, , store]) => store >= 0)
			.map(([step, row, store]) => Object.assign({ from: words(this.steps[store].thread), to: words(step.thread), first: this.itemOfRow[store], last: this.itemOfRow[row] }, link)))
			.filter(link => link.first < link.last && this.lanes.has(link.from) && this.lanes.has(link.to));
	}

	isCall(row) {
		const step = this.steps[row];
		return step && step.library_call && !this.isWhole && !this.options.marks(step);
	}

	/* For each thread with an item of its own, its first and last item. A thread that has not ended lives until the last item. */
	lifetimes() {
		const life = new Map(), own = new Set(this.items.filter(item => item.wait).map(item => words(item.wait.thread)));
		this.items.forEach(item => {
			if (item.row !== undefined) own.add(words(this.steps[item.row].thread));
			else if (item.threads && item.threads.size === 1) own.add([...item.threads][0]);
		});
		const extend = (thread, at) => {
			if (!own.has(thread)) return;
			if (life.has(thread)) life.get(thread).last = at;
			else life.set(thread, { first: at, last: at });
		};
		this.items.forEach((item, at) => {
			if (item.row !== undefined) extend(words(this.steps[item.row].thread), at);
			else if (item.threads) item.threads.forEach(thread => extend(thread, at));
		});
		this.items.forEach((item, at) => {
			for (const wait of item.sameWaits || []) {
				const thread = words(wait.thread), lived = life.get(thread);
				if (own.has(thread)) life.set(thread, { first: lived ? lived.first : at, last: at, blockedFrom: lived ? lived.last : at });
			}
		});
		const last = lastRows(this.steps);
		for (const [thread, lived] of life)
			if (last.has(thread) && this.steps[last.get(thread)].verb !== "ends") lived.last = this.items.length - 1;
		return life;
	}

	/* A thread reuses the lane of a thread that has ended. */
	assignLanes() {
		const ends = [];
		this.lanes = new Map();
		for (const [thread, { first, last }] of [...this.life].sort((a, b) => a[1].first - b[1].first)) {
			let lane = ends.findIndex(end => end < first);
			if (lane < 0) lane = ends.length;
			ends[lane] = last;
			this.lanes.set(thread, lane);
		}
		this.laneCount = Math.max(1, ends.length);
	}

	/* The x of a thread's lane. A fold of several threads that comes before all other items uses the first lane. */
	x(thread) {
		return GRAPH_PADDING + ((this.lanes.get(thread) ?? 0) + 0.5) * this.laneWidth;
	}

	/* ---- what stays ---- */

	build() {
		this.body = element("div", { class: "body" });
		this.frame = element("div", { class: "lanes", tabindex: "0", role: "group",
			"aria-label": "Interleaving: " + counted(this.steps.length, "step") + " of " + counted(this.threads.length, "thread") }, this.body);
		this.node = element("div", { class: "lanes-box" }, this.bar(), this.frame);
		this.fillBody();
		this.frame.onscroll = () => this.drawSoon();
		this.frame.onkeydown = event => this.onKey(event);
		this.body.onclick = event => {
			const node = event.target.closest(".item");
			if (node && !event.target.closest("pre, button") && !getSelection().toString()) this.selectItem(Number(node.dataset.item), true);
		};
		/* Later: drawing changes sizes itself. */
		new ResizeObserver(() => setTimeout(() => { if (this.frame.clientWidth && this.frame.clientWidth !== this.laidOutFor) this.draw(); })).observe(this.frame);
	}

	bar() {
		const button = (text, label, action) => {
			const made = element("button", { type: "button", text, title: label });
			made.onclick = action;
			return made;
		};
		const bar = element("div", { class: "bar" });
		if (this.preemptions.length)
			bar.append(button("\u2191", "previous preemption", () => this.showPreemption(-1)), button("\u2193", "next preemption", () => this.showPreemption(1)),
				element("span", { text: counted(this.preemptions.length, "preemption") }));
		if (this.options.differsAt !== undefined)
			bar.append(button("differs from step " + this.steps[this.options.differsAt].step, "the first step in which the two runs differ", () => this.select(this.options.differsAt)));
		if (this.items.some(item => item.threads)) {
			this.folding = button("all " + counted(this.steps.length, "step"), "shows folded steps one by one", () => this.foldAll());
			bar.append(this.folding);
		}
		if (this.options.about) bar.append(element("span", { text: this.options.about }));
		if (this.isOneFile) bar.append(element("span", { text: "in " + baseName(stepFrame(this.steps.find(step => !stepFrame(step).is_system && stepFrame(step).file)).file) }));
		return bar;
	}

	fillBody() {
		this.chunks = [];
		for (let first = 0; first < this.items.length; first += CHUNK) {
			const end = Math.min(first + CHUNK, this.items.length), node = element("div", { class: "chunk" });
			this.chunks.push({ first, end, node, isDrawn: false, height: (end - first) * ITEM_HEIGHT });
		}
		this.body.replaceChildren(...this.chunks.map(chunk => chunk.node));
	}

	onKey(event) {
		const keys = { n: () => this.showPreemption(1), p: () => this.showPreemption(-1), ArrowDown: () => this.move(1), ArrowUp: () => this.move(-1),
			Home: () => this.selectItem(0), End: () => this.selectItem(this.items.length - 1), Escape: () => this.selectItem(undefined), Enter: () => this.unfold(this.selected) };
		if (!Object.hasOwn(keys, event.key) || event.ctrlKey || event.altKey || event.metaKey) return;
		event.preventDefault();
		keys[event.key]();
	}

	/* ---- folding ---- */

	relayOut() {
		this.layOut();
		this.fillBody();
		this.laidOutFor = undefined;
		this.draw();
	}

	unfold(at) {
		const item = this.items[at];
		if (!item || !item.threads) return;
		for (let row = item.from; row < item.to; row++) this.kept.add(row);
		this.relayOut();
		this.select(item.from);
	}

	foldAll() {
		const row = this.items[this.selected] && this.items[this.selected].row;
		this.isWhole = !this.isWhole;
		if (this.isWhole) this.kept = new Set(this.steps.keys());
		else this.keepRows();
		this.folding.textContent = this.isWhole ? "fold" : "all " + counted(this.steps.length, "step");
		this.selected = undefined;
		this.relayOut();
		this.scrollToItem(this.itemOfRow[row ?? this.decisive]);
	}

	/* ---- moving about ---- */

	/* The next one down (1) or up (-1), and behind the last the first again. */
	showPreemption(direction) {
		const item = this.items[this.selected], now = item ? item.row ?? item.from ?? this.steps.length : -direction / 2;
		const rows = this.preemptions, next = direction > 0 ? rows.find(row => row > now) : rows.findLast(row => row < now);
		const row = next === undefined ? rows[direction > 0 ? 0 : rows.length - 1] : next;
		if (row !== undefined) this.select(row);
	}

	move(by) {
		this.selectItem(this.selected === undefined ? this.itemOfRow[this.decisive] : Math.min(this.items.length - 1, Math.max(0, this.selected + by)));
	}

	select(row) {
		this.selectItem(this.itemOfRow[row]);
	}

	/* Selects an item, shows its details, and scrolls to it unless `isSeen`. Selecting folded steps again unfolds them. */
	selectItem(at, isSeen) {
		const before = this.selected, item = this.items[at];
		if (isSeen && item && item.threads) {
			this.unfold(at);
			return;
		}
		this.selected = isSeen && before === at ? undefined : at;
		for (const each of [before, at])
			if (each !== undefined && this.chunks[Math.floor(each / CHUNK)]) this.clearChunk(this.chunks[Math.floor(each / CHUNK)]);
		this.draw();
		if (at !== undefined && !isSeen) this.scrollToItem(at);
	}

	/* Scrolls the item into the upper third of the view, unless it is in view and not `isForced`. */
	scrollToItem(at, isForced) {
		const chunk = this.chunks[Math.floor(at / CHUNK)], view = this.frame.clientHeight;
		if (!chunk || !view) return;
		this.drawChunk(chunk);
		const node = chunk.node.children[at - chunk.first], top = node.offsetTop + chunk.node.offsetTop;
		if (isForced || top < this.frame.scrollTop + ITEM_HEIGHT || top + node.offsetHeight + ITEM_HEIGHT > this.frame.scrollTop + view)
			this.frame.scrollTop = Math.max(0, top - view / 3);
		this.draw();
	}

	/* ---- drawing ---- */

	/* Once for all scrolling before the next picture. */
	drawSoon() {
		if (this.isDue) return;
		this.isDue = true;
		requestAnimationFrame(() => { this.isDue = false; this.draw(); });
	}

	draw() {
		const width = this.frame.clientWidth;
		if (!width) return;
		const isNew = width !== this.laidOutFor;
		if (isNew) {
			this.laidOutFor = width;
			this.laneWidth = Math.max(LANE_NARROW, Math.min(LANE_WIDE, (width * GRAPH_SHARE - 2 * GRAPH_PADDING) / this.laneCount));
			this.frame.style.setProperty("--graph", 2 * GRAPH_PADDING + this.laneCount * this.laneWidth + "px");
			this.chunks.forEach(chunk => this.clearChunk(chunk));
		}
		this.drawVisible();
		if (isNew) this.scrollToItem(this.selected ?? this.itemOfRow[this.decisive], true);
	}

	drawVisible() {
		const top = this.frame.scrollTop - VIEW_AROUND, bottom = this.frame.scrollTop + (this.frame.clientHeight || 560) + VIEW_AROUND;
		let at = 0;
		for (const chunk of this.chunks) {
			const height = chunk.height;
			if (at + height >= top && at <= bottom) this.drawChunk(chunk);
			else if (chunk.isDrawn && this.chunks.length > CHUNKS_KEPT) this.clearChunk(chunk);
			at += height;
		}
	}

	drawChunk(chunk) {
		if (chunk.isDrawn) return;
		const spans = this.spans.filter(span => span.last >= chunk.first && span.first < chunk.end);
		chunk.node.style.height = "";
		chunk.node.replaceChildren(...this.items.slice(chunk.first, chunk.end).map((item, at) => this.itemNode(item, chunk.first + at, spans)));
		chunk.isDrawn = true;
		chunk.height = chunk.node.offsetHeight || chunk.height;
	}

	clearChunk(chunk) {
		chunk.isDrawn = false;
		chunk.node.replaceChildren();
		chunk.node.style.height = chunk.height + "px";
	}

	itemNode(item, at, spans) {
		const step = this.steps[item.row], mark = step ? this.options.marks(step) : "";
		const sort = (step && step.is_preemption && at ? " preempts" : "") + (mark ? " marked" : "") + (item.wait || (step && step.is_failure) ? " blocked" : "") + (item.threads ? " fold" : "") +
			(at === this.selected ? " chosen" : "") + (item.row !== undefined && item.row === this.options.differsAt ? " differs" : "") + (item.row === this.decisive ? " decisive" : "");
		const sign = step ? step.is_failure ? "\u2716" : step.is_preemption && item.row ? "!" : item.row && step.is_switch ? ">" : "" : item.wait ? "\u2716" : "";
		const number = step ? step.step : item.threads ? this.steps[item.from].step + "\u2026" : "";
		return element("div", { class: "item" + sort, "data-item": at },
			element("div", { class: "order" }, element("span", { class: "sign", text: sign }), element("span", { class: "step", text: number })),
			this.graph(item, at, mark, spans), element("div", { class: "what" }, ...this.textOf(item, mark), at === this.selected ? this.detail(item) : null));
	}

	who(thread) {
		return element("strong", { class: "who t" + this.colours.get(thread) }, breakable(thread));
	}

	textOf(item, mark) {
		if (item.threads)
			return [item.threads.size === 1 ? this.who([...item.threads][0]) : element("strong", { text: threadRange(item.threads) }), document.createTextNode(": "), breakable(foldWords(this.steps, item))];
		if (item.wait) {
			const who = item.sameWaits.length === 1 ? this.who(words(item.wait.thread)) : element("strong", { text: threadRange(item.sameWaits.map(each => words(each.thread))) });
			return [who, document.createTextNode(" "), ...waitWords(item.wait, item.sameWaits.length), locationNode(userFrame(item.wait.at), this.isOneFile)];
		}
		const step = this.steps[item.row], before = item.row ? words(this.steps[item.row - 1].thread) : "";
		return [mark ? element("span", { class: "chip mark", text: mark }) : null, this.who(words(step.thread)), document.createTextNode(" "), breakable(stepWords(step, this.isCall(item.row))),
			locationNode(stepFrame(step), this.isOneFile), step.is_preemption && before ? element("span", { class: "chip", text: "preempts " + before }) : null];
	}

	/* The details that a selected item shows. */
	detail(item) {
		if (item.threads) return element("p", { class: "faint", text: "Enter or a click unfolds these steps." });
		const frame = item.wait ? userFrame(item.wait.at) : stepFrame(this.steps[item.row]), row = item.wait ? this.steps.length : item.row;
		const held = this.options.spans.filter(span => span.from < row && span.to >= row);
		const object = words(item.wait ? item.wait.object : this.steps[item.row].object);
		return element("div", { class: "detail-of-step" },
			frame && frame.function ? element("p", {}, document.createTextNode("in "), breakable(words(frame.function)), document.createTextNode(sourceLocation(frame) ? ", " + sourceLocation(frame) : "")) : null,
			...this.callChain(this.steps[item.row]),
			object !== shortName(object) ? element("p", { class: "faint" }, breakable(object)) : null,
			held.length ? element("p", { class: "faint" }, breakable("held: " + held.map(span => shortName(span.object) + " by " + span.thread).join(", "))) : null, excerpt(frame));
	}

	/* The wrapper that contains the step, and the callers of the step's location. */
	callChain(step) {
		const inner = step && step.inner ? ["inside " + shortFunction(step.inner.function) + (sourceLocation(step.inner) ? ", " + sourceLocation(step.inner) : "")] : [];
		const callers = ((step && step.callers) || []).map(frame => "called by " + shortFunction(frame.function) + (sourceLocation(frame) ? ", " + sourceLocation(frame) : ""));
		return [...inner, ...callers].map(text => element("p", { class: "faint" }, breakable(text)));
	}

	/* ---- the graph ---- */

	graph(item, at, mark, spans) {
		const svg = drawn("svg", { class: this.laneWidth < 6 ? "graph dense" : "graph", "aria-hidden": "true" }), line = (x, from, to, sort) => svg.append(drawn("line", { x1: x, x2: x, y1: from, y2: to, class: sort }));
		for (const [thread, { first, last, blockedFrom }] of this.life) {
			if (at < first || at > last) continue;
			const isBlocked = blockedFrom !== undefined && at >= blockedFrom, top = at === first ? DOT : 0;
			if (isBlocked && at === blockedFrom && top < DOT) line(this.x(thread), top, DOT, "life");
			line(this.x(thread), isBlocked && at === blockedFrom ? DOT : top, at === last ? DOT : "100%", isBlocked ? "life waits" : "life");
		}
		for (const span of spans) {
			if (at < span.first || at > span.last) continue;
			const bar = drawn("line", { x1: this.x(span.thread), x2: this.x(span.thread), y1: at === span.first ? DOT : 0, y2: at === span.last ? DOT : "100%", class: "held" }, drawn("title", { text: shortName(span.object) + " is held by " + span.thread }));
			bar.style.strokeWidth = Math.min(this.laneWidth - 1, 5 + 3 * span.level);
			svg.append(bar);
		}
		this.addPath(svg, item, at);
		this.addLinks(svg, at);
		this.addSign(svg, item, at, mark);
		return svg;
	}

	/* The thread that runs after this item; "" before the first item, and for a thread without a lane. */
	threadBehind(at) {
		for (; at >= 0; at--) {
			const item = this.items[at], thread = item.row !== undefined ? words(this.steps[item.row].thread) : item.threads && item.threads.size === 1 ? [...item.threads][0] : "";
			if (this.lanes.has(thread)) return thread;
		}
		return "";
	}

	addPath(svg, item, at) {
		if (item.wait || !this.threadBehind(at)) return;
		const here = this.threadBehind(at), before = this.threadBehind(at - 1), colour = " t" + this.colours.get(here);
		const to = this.x(here), isLast = !this.items[at + 1] || this.items[at + 1].wait;
		if (before && before !== here) {
			const from = this.x(before), step = this.steps[item.row ?? item.from];
			svg.append(drawn("path", { d: "M" + from + " 0C" + from + " 8," + to + " 2," + to + " " + DOT, class: "path switch" + (step.is_preemption ? " preempts" : "") }));
		} else if (before) svg.append(drawn("line", { x1: to, x2: to, y1: 0, y2: DOT, class: "path" + colour }));
		if (!isLast) svg.append(drawn("line", { x1: to, x2: to, y1: DOT, y2: "100%", class: "path" + colour }));
	}

	/* Arrows, at the right edge of the graph, between stores and the steps of other threads that see or miss them. */
	addLinks(svg, at) {
		for (const { from, to, first, last, sort, end, meaning, shift } of this.links) {
			if (at < first || at > last) continue;
			const edge = GRAPH_PADDING + this.laneCount * this.laneWidth + shift;
			const part = at === first ? "M" + this.x(from) + " " + DOT + "H" + edge + "V999" : at < last ? "M" + edge + " 0V999"
				: "M" + edge + " 0V" + DOT + "H" + (this.x(to) + 6) + end;
			svg.append(drawn("path", { d: part, class: sort }, drawn("title", { text: to + " " + meaning + " " + from })));
		}
	}

	signSize() {
		return Math.max(2, Math.min(4, this.laneWidth / 2.5));
	}

	addCross(svg, thread) {
		const x = this.x(thread), size = this.signSize();
		svg.append(drawn("path", { d: "M" + (x - size) + " " + (DOT - size) + "l" + 2 * size + " " + 2 * size + "m0 " + -2 * size + "l" + -2 * size + " " + 2 * size, class: "cross" }));
	}

	addSign(svg, item, at, mark) {
		if (item.sameWaits) {
			item.sameWaits.map(wait => words(wait.thread)).filter(thread => this.lanes.has(thread)).forEach(thread => this.addCross(svg, thread));
			return;
		}
		const thread = item.row !== undefined ? words(this.steps[item.row].thread) : this.threadBehind(at);
		const x = this.x(thread), size = this.signSize(), colour = "t" + this.colours.get(thread);
		if (item.threads) svg.append(drawn("rect", { x: x - size, y: DOT - 5, width: 2 * size, height: 10, rx: 2, class: "folded" }));
		else if (mark) svg.append(drawn("path", { d: "M" + x + " " + (DOT - 6) + "l6 6l-6 6l-6-6z", class: "mark" }));
		else if (item.row !== undefined && this.steps[item.row].is_failure) this.addCross(svg, thread);
		else svg.append(drawn("circle", { cx: x, cy: DOT, r: size, class: colour }));
	}
}
