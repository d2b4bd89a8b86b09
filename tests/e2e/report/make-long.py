"""make-long.py PAGE: the page with an interleaving of 10,000 steps, and a script that uses it and says how that went."""
import json
import re
import sys

STEPS, THREADS = 10000, 8
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

# Of the steps, what is drawn is near what is seen; so it is after each key and at every zoom.
script = """
(async () => {
	const frame = document.querySelector(".lanes"), problems = [];
	/* A browser that only dumps makes no pictures: it neither asks for the next one nor tells of scrolling. */
	window.requestAnimationFrame = draw => setTimeout(draw, 10);
	const next = () => { frame.dispatchEvent(new Event("scroll")); return new Promise(resolve => setTimeout(resolve, 25)); };
	const shown = () => [...frame.querySelectorAll(".order")].map(node => Number(node.textContent));
	const press = key => frame.dispatchEvent(new KeyboardEvent("keydown", { key }));
	let most = 0;
	const look = (what, row) => {
		most = Math.max(most, frame.querySelectorAll("*").length);
		if (row !== undefined && !shown().includes(row)) problems.push(what + " does not show step " + row);
	};
	for (let part = 0; part <= 40; part++) {
		frame.scrollTop = part / 40 * (frame.scrollHeight - frame.clientHeight);
		await next();
		look("scrolling to " + part + "/40", Math.min(9999, Math.round(part / 40 * 9975) + 5));
	}
	frame.scrollTop = 0;
	press("n");
	look("the first key n", 30);
	press("n");
	look("the second key n", 60);
	press("p");
	look("the key p", 30);
	if (!frame.querySelector(".step.shown")) problems.push("the preemption is not marked");
	for (let i = 0; i < 12; i++) press("-");
	await next();
	look("zooming out");
	if (frame.querySelectorAll(".step").length < 200) problems.push("zoomed out there are few steps");
	for (let i = 0; i < 12; i++) press("+");
	await next();
	look("zooming in");
	frame.focus();
	if (document.activeElement !== frame) problems.push("the lanes cannot be reached by keyboard");
	if (most > 3000) problems.push(most + " elements at a time");
	document.documentElement.dataset.tried = problems.length ? problems.join("; ") : "passed, at most " + most + " elements at a time";
})();
"""
sys.stdout.write(before + json.dumps(data).replace("<", "\\u003c") + after.replace("</body>", "<script>" + script + "</script></body>"))
