"""add-tour.py PAGE: prints the page with a script that follows every link, opens every entry, and reports problems."""
import sys

SCRIPT = """
(async () => {
	const problems = [], links = [...document.querySelectorAll("a")], entries = [...document.querySelectorAll("details")];
	window.requestAnimationFrame = draw => setTimeout(draw, 10);
	const wait = () => new Promise(resolve => setTimeout(resolve, 30));
	const ids = [...document.querySelectorAll("[id]")].map(node => node.id);
	if (new Set(ids).size !== ids.length) problems.push("an id stands for two things");
	for (const entry of entries) entry.open = false;
	for (const link of links) {
		link.click();
		await wait();
		const named = document.getElementById(decodeURIComponent(link.hash.slice(1)));
		if (!named || !named.open) problems.push("the link " + link.textContent + " opens nothing");
		else named.open = false;
	}
	for (const entry of entries) entry.open = true;
	await wait();
	for (const lanes of document.querySelectorAll(".lanes")) {
		lanes.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown" }));
		if (!lanes.querySelector(".step")) problems.push("lanes without a step");
		if (!lanes.querySelector(".item.chosen .detail-of-step, .item.chosen.fold")) problems.push("a chosen step shows no more");
	}
	for (const button of document.querySelectorAll("button")) button.click();
	await wait();
	/* A lane belongs to a thread until this thread has ended. */
	for (const lanes of document.querySelectorAll(".lanes")) {
		const last = new Map();
		if ([...lanes.querySelectorAll(".chunk")].some(chunk => !chunk.children.length)) continue;
		for (const item of lanes.querySelectorAll(".item:not(.fold)")) {
			const circle = item.querySelector(".graph circle"), who = item.querySelector(".who");
			if (!circle || !who) continue;
			const x = circle.getAttribute("cx"), before = last.get(x), text = item.querySelector(".what").textContent;
			if (before && before.who !== who.textContent && !/ ends/.test(before.text))
				problems.push(who.textContent + " is in the lane of " + before.who);
			last.set(x, { who: who.textContent, text });
		}
	}
	for (const node of document.querySelectorAll("button, a"))
		if (!node.textContent.trim()) problems.push("a button or link without words");
	document.documentElement.dataset.toured = problems.length ? problems.join("; ")
		: "passed: " + links.length + " links, " + entries.length + " that open, " + document.querySelectorAll(".lanes").length + " lanes";
})();
"""
page = open(sys.argv[1], encoding="utf-8").read()
sys.stdout.write(page.replace("</body>", "<script>" + SCRIPT + "</script></body>"))
