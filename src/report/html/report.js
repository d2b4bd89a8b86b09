/* The page itself: what is in it, and that links and the address open what they name. */

function listed(id, sort, title) {
	const link = element("a", { href: "#" + id }, element("span", { class: "id", text: id }), sort, element("span", { class: "title", text: words(title) }));
	return element("li", {}, link);
}

function listNode() {
	const list = element("ul");
	for (const finding of data.findings)
		list.append(listed(words(finding.id), badge(words(finding.kind), finding.kind === "violation" ? "" : "bad"), titleWords(finding)));
	(data.predictions || []).forEach((predictions, all) => predictions.candidates.forEach(candidate =>
		list.append(listed(predictionId(candidate, all), badge(...stateOf(candidate)), candidate.title))));
	(data.branches || []).forEach((document, all) => document.branches.forEach((branch, at) =>
		list.append(listed(branchId(at, all), badge(words(branch.class) || "sensitive", branch.class === "bug" ? "bad" : "seen"), branchTitle(branch)))));
	return list.childNodes.length > 1 ? list : null;
}

/* What the address names is opened and brought into view. */
function openNamed() {
	const node = document.getElementById(decodeURIComponent(location.hash.slice(1)));
	if (!node || node.tagName !== "DETAILS") return;
	node.open = true;
	node.scrollIntoView();
	node.querySelector("summary").focus({ preventScroll: true });
}

/* The window's title: program and finding. */
function titleOf(program) {
	const [first, ...others] = data.findings, what = first ? words(first.id) + " " + words(first.title) : "";
	return [baseName(program.split(" ")[0]), what + (others.length ? " and " + counted(others.length, "more finding") : "")].filter(Boolean).join(": ") || "raddle report";
}

function fill() {
	const shown = (id, ...nodes) => document.getElementById(id).append(...nodes.filter(Boolean));
	const [first] = data.findings;
	const program = data.campaign ? words(data.campaign.command) : first ? (first.argv || []).map(words).join(" ") : words(data.command || "");
	document.getElementById("command").textContent = program;
	document.title = titleOf(program);
	shown("summary", ...summary());
	shown("list", listNode());
	shown("findings", ...data.findings.map((finding, at) => findingNode(finding, at === 0)));
	shown("predictions", ...(data.predictions || []).map(predictionsNode));
	shown("branches", ...(data.branches || []).map(branchesNode));
	/* Also where the address is already that of the link. */
	document.addEventListener("click", event => {
		const link = event.target.closest && event.target.closest("a[href^='#']");
		if (link && link.hash === location.hash) openNamed();
	});
	addEventListener("hashchange", openNamed);
	openNamed();
	document.documentElement.dataset.ready = "yes";
}

fill();
