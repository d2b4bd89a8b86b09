"""make-long.py PAGE STEPS: prints the page with an interleaving of STEPS steps, and a script that tries it."""
import json
import re
import sys

STEPS, THREADS = int(sys.argv[2]), 8
page = open(sys.argv[1], encoding="utf-8").read()
before, text, after = re.split(r'(?<=<script id="data" type="application/json">)(.*?)(?=</script>)', page, maxsplit=1, flags=re.S)
data = json.loads(text)
model = data["findings"][0]["steps"][0]
steps = []
for at in range(STEPS):
    turn, place = divmod(at, 10)
    verb = "locks" if place % 4 == 0 else "unlocks" if place % 4 == 2 else "reads"
    steps.append(dict(model, step=at, thread=f"main.{turn * 7 % THREADS}", verb=verb, object=f"mutex {place // 4}",
                      is_switch=place == 0, is_preemption=place == 0 and turn % 3 == 0))
data["findings"][0]["steps"] = steps
data["findings"][0].pop("passing", None)
data["findings"] = data["findings"][:1]

# The folded interleaving is short. Unfolded, the page draws only steps near the visible ones, after each key and scroll.
script = """
(async () => {
	const STEPS = %d, frame = document.querySelector(".lanes"), problems = [];
	/* A browser that only dumps does not tell of scrolling, either. */
	const next = () => { frame.dispatchEvent(new Event("scroll")); return new Promise(resolve => setTimeout(resolve, 25)); };
	const items = () => [...frame.querySelectorAll(".item")];
	const press = key => frame.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
	const button = text => [...document.querySelectorAll(".bar button")].find(node => node.textContent.startsWith(text));
	const chosen = () => { const node = frame.querySelector(".item.chosen .order .step"); return node ? Number(node.textContent) : -1; };
	const isInView = node => { const box = node.getBoundingClientRect(), view = frame.getBoundingClientRect(); return box.bottom > view.top && box.top < view.bottom; };
	let most = 0, slowest = 0;
	const look = what => {
		most = Math.max(most, frame.querySelectorAll("*").length);
		const view = frame.getBoundingClientRect(), middle = view.top + view.height / 2;
		if (!items().some(node => { const box = node.getBoundingClientRect(); return box.top <= middle && box.bottom >= middle; })) problems.push(what + " shows nothing");
	};
	const choose = (key, step) => {
		press(key);
		look("the key " + key);
		if (chosen() !== step) problems.push("the key " + key + " chose " + chosen() + ", not " + step);
		else if (!isInView(frame.querySelector(".item.chosen"))) problems.push("the key " + key + " chose what is not in view");
	};
	if (items().length > 60) problems.push(items().length + " rows though steps are folded");
	if (!frame.querySelector(".item.fold")) problems.push("nothing is folded");
	if (!items().some(node => node.classList.contains("preempts") && isInView(node))) problems.push("no preemption is in view at first");
	frame.querySelector(".item.fold").click();
	if (items().length < 40 && STEPS > 1000) problems.push("a click on a fold does not unfold it");
	if (chosen() < 0) problems.push("what was unfolded is not chosen");
	button("all").click();
	for (let part = 0; part <= 40; part++) {
		frame.scrollTop = part / 40 * (frame.scrollHeight - frame.clientHeight);
		const begun = performance.now();
		await next();
		slowest = Math.max(slowest, performance.now() - begun);
		look("scrolling to " + part + "/40");
	}
	choose("Home", 0);
	choose("n", 30);
	choose("n", 60);
	choose("p", 30);
	if (!frame.querySelector(".item.chosen.preempts")) problems.push("the preemption is not marked");
	choose("ArrowDown", 31);
	choose("ArrowUp", 30);
	choose("Home", 0);
	press("End");
	look("the key End");
	if (!frame.querySelector(".item.chosen.blocked")) problems.push("the key End does not choose the blocked thread");
	if (!frame.querySelector(".item.chosen .source")) problems.push("a chosen step shows no source");
	press("Escape");
	if (frame.querySelector(".item.chosen")) problems.push("Escape leaves a step chosen");
	press("Home");
	await next();
	const fifth = items()[5];
	fifth.querySelector(".what").click();
	if (chosen() !== 5) problems.push("a click on step 5 chose " + chosen());
	frame.querySelector(".item.chosen .what").click();
	if (chosen() !== -1) problems.push("a second click leaves the step chosen");
	button("fold").click();
	if (items().length > 60) problems.push("steps are not folded again");
	frame.focus();
	if (document.activeElement !== frame) problems.push("the lanes cannot be reached by keyboard");
	if (most > 12000) problems.push(most + " elements at a time");
	if (document.documentElement.scrollWidth > innerWidth) problems.push("the page is wider than the window");
	document.documentElement.dataset.tried = problems.length ? problems.join("; ") : "passed, at most " + most + " elements at a time, " + Math.round(slowest) + " ms at most for a picture";
})();
""" % STEPS
# A headless browser with --dump-dom draws no frames, so requestAnimationFrame never fires. A timer replaces it.
clock = "<script>window.requestAnimationFrame = draw => setTimeout(draw, 10);</script>"
head, mark, tail = before.rpartition('<script id="data"')
before = head + clock + mark + tail
sys.stdout.write(before + json.dumps(data).replace("<", "\\u003c") + after.replace("</body>", "<script>" + script + "</script></body>"))
