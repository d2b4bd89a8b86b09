"""add-ruler.py PAGE: prints the page with a script that measures its layout.

The script checks that nothing is wider than the window or cut off, and that the decisive step is in view. The page runs
in a frame, because no window of a headless browser is as narrow as a phone's; the script sends its result to the parent.
"""
import sys

SCRIPT = """
(async () => {
	const problems = [], wait = () => new Promise(resolve => setTimeout(resolve, 30));
	window.requestAnimationFrame = draw => setTimeout(draw, 10);
	for (const entry of document.querySelectorAll("details")) entry.open = true;
	await wait();
	if (document.documentElement.scrollWidth > innerWidth) problems.push("the page is " + document.documentElement.scrollWidth + " pixels wide in a window of " + innerWidth);
	for (const node of document.querySelectorAll("h2, h3, h4, p, li, td, dd, .what, .order, .legend, .badge, button"))
		if (node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).display !== "inline") problems.push(node.className + " " + node.tagName + " is cut off: " + node.textContent.slice(0, 60));
	for (const frame of document.querySelectorAll(".lanes")) {
		const items = [...frame.querySelectorAll(".item")], view = frame.getBoundingClientRect(), graph = frame.querySelector(".graph").getBoundingClientRect();
		const isInView = node => { const box = node.getBoundingClientRect(); return box.bottom > view.top && box.top < view.bottom; };
		if (frame.scrollWidth > frame.clientWidth) problems.push("lanes scroll sideways");
		if (graph.width > 0.42 * view.width) problems.push("the graph takes " + Math.round(graph.width) + " of " + Math.round(view.width) + " pixels");
		if (items.length > 60) problems.push(items.length + " rows are shown");
		if (!items.some(node => node.classList.contains("decisive") && isInView(node))) problems.push("the decisive step is not in view");
	}
	const result = problems.length ? problems.slice(0, 5).join("; ") : "passed: " + document.querySelectorAll(".lanes").length + " lanes at " + innerWidth;
	parent.postMessage([result, document.title, document.body.textContent], "*");
})();
"""
page = open(sys.argv[1], encoding="utf-8").read()
sys.stdout.write(page.replace("</body>", "<script>" + SCRIPT + "</script></body>"))
