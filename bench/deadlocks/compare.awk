# Fields: subject, k of all events, k of acquisitions, n, d, guarantees (pct, rpro twice), failures in
# `runs` runs (pct, rpro twice, rpro's grid). Where pct found nothing, the improvement is that over one
# failure in all runs: a lower bound of what one run more could have shown. Where neither found any,
# nothing is known.
function gain(failures, pct) {
	return failures + pct == 0 ? 0 : (failures - (pct > 0 ? pct : 1)) / (pct > 0 ? pct : 1)
}
function improvement(failures, pct) {
	if (failures + pct == 0)
		return "-"
	ratio = gain(failures, pct)
	return sprintf("%s%.1f%s", pct > 0 ? "" : ">=", ratio, ratio > 0 ? " up" : (ratio < 0 ? " down" : " ="))
}
BEGIN {
	printf("deadlocks: probability per run, measured over %d runs each; improvement = (rpro - pct) / pct\n", runs)
	printf("benchmark\tk all\tk acq.\tn\td\tguaranteed pct\trpro %d\trpro %d\tmeasured pct\trpro %d\trpro %d\timprov. %d\timprov. %d\trpro grid\tgrid / pct\n", a, b, a, b, a, b)
}
{
	base = $9 > 0 ? $9 : 1
	printf("%s\t%d\t%d\t%d\t%d\t%.1e\t%.1e\t%.1e\t%.5f\t%.5f\t%.5f\t%s\t%s\t%.5f\t%s%.1f\n", $1, $2, $3, $4, $5, $6, $7, $8, $9 / runs, $10 / runs, $11 / runs, improvement($10, $9), improvement($11, $9), $12 / runs, $9 > 0 ? "" : ">=", $12 / base)
	first += gain($10, $9)
	second += gain($11, $9)
	grid += $12 / base
	logs += $12 > 0 ? log($12 / base) : 0
	if ($12 == 0)
		missed++
}
END {
	printf("average\t \t \t \t \t \t \t \t \t \t \t%.1f\t%.1f\t \t%.1f (geometric %.1f)\n", first / NR, second / NR, grid / NR, exp(logs / NR))
	printf("The grid found %d of %d within %d runs.\n", NR - missed, NR, runs)
}
