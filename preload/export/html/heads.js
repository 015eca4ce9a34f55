/* heads.js - what was recorded, how well, at what cost: as the report's head says it. */

function headTitle(head) {
	const who = head.program !== "" ? head.program + (head.pid > 0 ? `[${head.pid}]` : "") : head.file;
	const when = head.time_ms > 0 ? "  " + new Date(head.time_ms).toISOString().replace("T", " ").slice(0, 19) + " UTC" : "";
	const processes = head.processes > 1 ? ` (${head.processes} processes)` : "";

	const more = [...(head.duration_ns > 0 ? [seconds(head.duration_ns)] : []), ...head.engines];

	return [who + processes + when, ...more].join(", ");
}

function clockText(head) {
	return head.clock + (head.clock_why !== "" ? ` (${head.clock_why})` : "") +
		(head.stacks !== "" ? `; stacks: ${head.stacks}` : "");
}

function rateText(head) {
	const delivered = head.signals > 0 && head.process_cpu_ns > 0
		? `, ${(head.signals * 1e9 / head.process_cpu_ns).toFixed(1)} Hz of the process's CPU time delivered` : "";

	return `${count(head.requested_hz)} Hz asked for${delivered}`;
}

function lostText(head) {
	const reasons = head.lost_by.map(([reason, number]) => `${reason} ${count(number)}`).join(", ");

	return `${count(head.lost)} (${percent(head.lost, head.lost + head.samples)})` + (reasons !== "" ? ": " + reasons : "");
}

function errorText(head) {
	const [low, high] = interval(0.1, Math.max(head.samples, 1));

	return head.samples < 30 ? "too few samples to tell shares"
		: `a share of 10 % of all samples is ${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)} % (95 %)`;
}

function headRows(head) {
	const samples = `${count(head.samples)} in ${seconds(head.cpu_ns)} of CPU time, ` +
		`unnamed ${percent(head.unnamed, head.samples)}, truncated ${percent(head.truncated, head.samples)}`;
	const rows = [["samples", samples], ["error", errorText(head)]];

	if (head.is_ours)
		rows.unshift(["clock", clockText(head)], ["rate", rateText(head)]);
	if (head.wall_ns > 0)
		rows.push(["waiting", seconds(head.wall_ns)]);
	if (head.is_ours)
		rows.push(["lost", lostText(head)]);
	if (head.process_cpu_ns > 0)
		rows.push(["own cost", `${percent(head.own_cpu_ns, head.process_cpu_ns)} of the process's CPU time`]);
	if (head.filter !== "")
		rows.push(["only", head.filter]);
	return rows;
}

function headWarnings(head) {
	const warnings = [];

	if (head.is_torn)
		warnings.push("The file is torn: what follows its last whole row is left out.");
	else if (head.is_ours && !head.has_ended)
		warnings.push("Not ended: the process was killed or still ran; its last second may be missing.");
	if (head.lost > head.samples / 20)
		warnings.push(`${percent(head.lost, head.lost + head.samples)} of the samples were lost.`);
	return warnings;
}

function drawHeads() {
	const title = data.isChange ? data.heads.map(headTitle).join("  \u2192  ") : headTitle(data.heads[0]);
	const warnings = data.heads.flatMap(headWarnings), warning = document.getElementById("warning");

	document.title = "guestprof: " + title;
	document.getElementById("title").textContent = title;
	warning.hidden = warnings.length === 0;
	warning.textContent = warnings.join(" ");
	document.getElementById("heads").replaceChildren(...data.heads.map((head, side) => {
		const list = element("dl");
		if (data.isChange)
			list.append(element("h2", side === 0 ? "before" : "after"));
		for (const [name, text] of headRows(head))
			list.append(element("dt", name), element("dd", text));
		return list;
	}));
}
