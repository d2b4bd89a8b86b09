"""make-long.py PAGE STEPS: the page with an interleaving of so many steps, and a script that uses it and says how that went."""
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
data["findings"] = data["findings"][:1]

# Of the steps, what is drawn is near what is seen; so it is after each key, each drag and at every zoom.
script = """
(async () => {
	const STEPS = %d, frame = document.querySelector(".lanes"), strip = document.querySelector(".strip"), problems = [];
	/* A browser that only dumps does not tell of scrolling, either. */
	const next = () => { frame.dispatchEvent(new Event("scroll")); return new Promise(resolve => setTimeout(resolve, 25)); };
	const shown = () => [...frame.querySelectorAll(".order")].map(node => Number(node.textContent.replace(/[^0-9]/g, "")));
	const press = (key, options) => frame.dispatchEvent(new KeyboardEvent("keydown", Object.assign({ key, cancelable: true }, options)));
	const mouse = (where, type, x, y, buttons) => where.dispatchEvent(new PointerEvent(type, { clientX: x, clientY: y, buttons, bubbles: true, pointerType: "mouse" }));
	let most = 0, slowest = 0;
	const look = (what, row) => {
		most = Math.max(most, frame.querySelectorAll("*").length);
		if (row !== undefined && !shown().includes(row)) problems.push(what + " does not show step " + row);
	};
	const chosen = () => { const node = frame.querySelector(".order.chosen"); return node ? Number(node.textContent.replace(/[^0-9]/g, "")) : -1; };
	for (let part = 0; part <= 40; part++) {
		frame.scrollTop = part / 40 * (frame.scrollHeight - frame.clientHeight);
		const begun = performance.now();
		await next();
		slowest = Math.max(slowest, performance.now() - begun);
		const row = Math.min(STEPS - 1, Math.round(part / 40 * (STEPS - 25)) + 5);
		look("scrolling to " + part + "/40", row);
	}
	frame.scrollTop = 0;
	press("n");
	look("the first key n", 30);
	press("n");
	look("the second key n", 60);
	press("p");
	look("the key p", 30);
	if (!frame.querySelector(".step.chosen.preempts")) problems.push("the preemption is not marked");
	if (!document.querySelector(".detail-of-step strong").textContent.includes("step 30")) problems.push("the chosen step is not told");
	press("ArrowDown");
	if (chosen() !== 31) problems.push("arrow down is at " + chosen());
	press("End");
	if (chosen() !== STEPS - 1) problems.push("the key End is at " + chosen());
	press("Home");
	if (chosen() !== 0) problems.push("the key Home is at " + chosen());
	for (let i = 0; i < 12; i++) press("-");
	await next();
	look("zooming out");
	if (frame.querySelectorAll(".step").length < 150) problems.push("zoomed out there are few steps");
	for (let i = 0; i < 12; i++) press("+");
	press("0");
	await next();
	look("zooming in");
	const tall = frame.querySelector(".step").offsetHeight;
	frame.dispatchEvent(new WheelEvent("wheel", { deltaY: 100, ctrlKey: true, cancelable: true }));
	if (frame.querySelector(".step").offsetHeight >= tall) problems.push("Ctrl and the wheel do not zoom out");
	press("0");
	frame.scrollTop = 2400;
	await next();
	mouse(frame, "pointerdown", 300, 400, 1);
	mouse(frame, "pointermove", 300, 160, 1);
	mouse(frame, "pointerup", 300, 160, 0);
	if (Math.abs(frame.scrollTop - 2640) > 2) problems.push("drawing with the mouse moved the view to " + frame.scrollTop);
	await next();
	const body = frame.querySelector(".body").getBoundingClientRect();
	frame.dispatchEvent(new MouseEvent("click", { clientX: 200, clientY: body.top + 115.5 * 24, bubbles: true }));
	mouse(frame, "pointerdown", 200, 300, 1);
	mouse(frame, "pointerup", 200, 300, 0);
	frame.dispatchEvent(new MouseEvent("click", { clientX: 200, clientY: body.top + 115.5 * 24, bubbles: true }));
	if (chosen() !== 115) problems.push("a click on step 115 chose " + chosen());
	if (strip.hidden || !strip.width || !strip.height) problems.push("there is no strip of the whole run");
	frame.focus();
	if (document.activeElement !== frame) problems.push("the lanes cannot be reached by keyboard");
	if (most > 3000) problems.push(most + " elements at a time");
	document.documentElement.dataset.tried = problems.length ? problems.join("; ") : "passed, at most " + most + " elements at a time, " + Math.round(slowest) + " ms at most for a picture";
})();
""" % STEPS
# A browser that only dumps makes no pictures, so it never asks for the next one: there is a clock instead, before the page's own script.
clock = "<script>window.requestAnimationFrame = draw => setTimeout(draw, 10);</script>"
head, mark, tail = before.rpartition('<script id="data"')
before = head + clock + mark + tail
sys.stdout.write(before + json.dumps(data).replace("<", "\\u003c") + after.replace("</body>", "<script>" + script + "</script></body>"))
