/* The numbers of the campaign, and its course. */

/* A handful of runs has no course worth a curve. */
const CHART_WIDTH = 280, CHART_HEIGHT = 84, RUNS_FOR_CHARTS = 50;

function summary() {
	const campaign = data.campaign;
	const branches = (data.branches || []).reduce((sum, document) => sum + document.branches.length, 0);
	const found = data.findings.length ? counted(data.findings.length, "finding") : branches ? "no failure, " + counted(branches, "branch") + " whose outcome depends on the schedule" : "nothing found";
	const result = element("p", { class: "result " + (data.findings.length ? "bad" : "good") },
		element("span", { "aria-hidden": "true", text: data.findings.length ? "\u2716 " : "\u2714 " }), document.createTextNode(found));
	if (!campaign)
		return [result];
	const rate = campaign.seconds > 0 ? campaign.runs / campaign.seconds : 0, curves = charts();
	const share = campaign.runs ? " (" + Number((100 * campaign.failures / campaign.runs).toPrecision(2)) + " %)" : "";
	result.append(element("small", { text: count(campaign.failures) + " of " + counted(campaign.runs, "schedule") + " failed" + share + ", " + campaign.seconds.toFixed(1) + " s" }));
	return [result, element("details", { class: "more campaign" }, element("summary", { text: "The campaign" }), facts([
		["Schedules per second", rate ? count(Math.round(rate)) : ""],
		["Steps", count(campaign.steps)],
		["Strategy", campaign.strategy],
		["Seed", campaign.seed],
		["Restart", campaign.restart],
		["Conflicting pairs in both orders", pairs()],
		["State", campaign.state],
		["Began", campaign.started ? new Date(campaign.started * 1000).toISOString().replace("T", " ").slice(0, 16) + " UTC" : ""],
	]), curves, curves && element("p", { class: "small", text: COVERAGE }))];
}

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
	const y = value => (CHART_HEIGHT - 2 - (most ? value / most * (CHART_HEIGHT - 8) : 0)).toFixed(1);
	const path = points.map(([seconds, value], at) => at === 0 ? "M" + x(seconds) + " " + y(value)
		: (isStepped ? "H" + x(seconds) + "V" + y(value) : "L" + x(seconds) + " " + y(value))).join("");
	const area = path + "V" + CHART_HEIGHT + "H" + x(points[0][0]) + "Z";
	const isLower = Math.round(most) !== Math.round(last);
	const text = title + ": " + count(Math.round(last)) + " at the end" + (isLower ? ", " + count(Math.round(most)) + " at most" : "");
	const picture = drawn("svg", { viewBox: "0 0 " + CHART_WIDTH + " " + CHART_HEIGHT, preserveAspectRatio: "none", role: "img",
		"aria-label": text + ", after " + end.toFixed(1) + " s" },
		drawn("path", { d: "M0 " + (CHART_HEIGHT / 2) + "H" + CHART_WIDTH, class: "grid" }),
		drawn("path", { d: area, class: "area" }), drawn("path", { d: path, class: "curve" }));
	return element("figure", { class: "chart" },
		element("figcaption", {}, element("span", { text: title }), element("strong", { text: count(Math.round(last)) }),
			element("small", { text: isLower ? count(Math.round(most)) + " at most" : "" })),
		picture, element("div", { class: "ends" }, element("span", { text: "0 s" }), element("span", { text: end.toFixed(1) + " s" })));
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
	if (course.length < 3 || !(end > 0) || data.campaign.runs < RUNS_FOR_CHARTS) return null;
	const of = name => course.map(moment => [moment.seconds, moment[name]]);
	return element("section", { class: "charts", "aria-label": "Over time" },
		chart("Schedules", of("runs"), false, end), chart("Schedules per second", rates(course), false, end),
		chart("Distinct findings", of("findings"), true, end), chart("Orders of conflicting pairs", of("covered"), true, end));
}

/* Each pair counts once in `pairs`, and once for each order in `covered`. */
function pairs() {
	const course = data.campaign && Array.isArray(data.campaign.course) ? data.campaign.course : [], last = course[course.length - 1];
	return last && last.pairs ? count(last.covered - last.pairs) + " of " + count(last.pairs) : "";
}

const COVERAGE = "A conflicting pair is two locations in the code that two threads could execute next, on one object and at least one of them not only reading.";
