# Probability of rpro by radius (fields: radius, probability) as an SVG, in the manner of the paper's
# figure: thin what was measured, thick its moving average, dashed pct, and the peak of the average
# marked, for that of single measurements is mostly chance. Prints a row of the second table.
{
	r[NR] = $1
	p[NR] = $2
}
function x(radius) { return 60 + radius / r[NR] * 520 }
function y(probability) { return 250 - probability / top * 210 }
END {
	reach = 7
	for (i = 1; i <= NR; i++) {
		width = i - 1 < NR - i ? i - 1 : NR - i # narrower at the ends
		width = width < reach ? width : reach
		sum = 0
		for (j = i - width; j <= i + width; j++)
			sum += p[j]
		mean[i] = sum / (2 * width + 1)
		if (p[i] > top)
			top = p[i]
		if (!best || mean[i] > mean[best])
			best = i
	}
	top = top > pct ? top : pct
	top = top > 0 ? top * 1.1 : 1
	printf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 620 300\" font-family=\"sans-serif\" font-size=\"12\">\n") > svg
	printf("<rect width=\"620\" height=\"300\" fill=\"white\"/>\n<text x=\"60\" y=\"20\" font-size=\"14\">%s: k = %d, n = %d, d = %d</text>\n", name, k, n, d) > svg
	printf("<path d=\"M60 40V250H580\" fill=\"none\" stroke=\"black\"/>\n") > svg
	for (i = 0; i <= 5; i++) {
		printf("<text x=\"%.0f\" y=\"266\" text-anchor=\"middle\">%.0f</text>\n", 60 + i * 104, r[NR] * i / 5) > svg
		printf("<text x=\"56\" y=\"%.0f\" text-anchor=\"end\">%.4f</text>\n", 254 - i * 42, top * i / 5) > svg
	}
	printf("<text x=\"320\" y=\"288\" text-anchor=\"middle\">radius r (probability per run, %d runs each)</text>\n", runs) > svg
	printf("<path fill=\"none\" stroke=\"#9bbcdc\" stroke-width=\"1\" d=\"") > svg
	for (i = 1; i <= NR; i++)
		printf("%s%.1f %.1f", i > 1 ? "L" : "M", x(r[i]), y(p[i])) > svg
	printf("\"/>\n<path fill=\"none\" stroke=\"#1f5f9f\" stroke-width=\"2\" d=\"") > svg
	for (i = 1; i <= NR; i++)
		printf("%s%.1f %.1f", i > 1 ? "L" : "M", x(r[i]), y(mean[i])) > svg
	printf("\"/>\n<path fill=\"none\" stroke=\"#b03030\" stroke-dasharray=\"6 4\" d=\"M60 %.1fH580\"/>\n", y(pct)) > svg
	printf("<text x=\"578\" y=\"%.1f\" text-anchor=\"end\" fill=\"#b03030\">pct %.5f</text>\n", y(pct) - 4, pct) > svg
	if (mean[best] > 0) {
		printf("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"#b03030\"/>\n", x(r[best]), y(mean[best])) > svg
		printf("<text x=\"%.1f\" y=\"%.1f\">r = %d, p = %.4f</text>\n", x(r[best]) + 8, y(mean[best]) - 8, r[best], mean[best]) > svg
	}
	printf("</svg>\n") > svg
	sub(/^deadlock_/, "", name)
	printf "%s\t%d\t%d\t%d\t%d\t%s\t%.5f\n", name, k, n, d, r[best], (k > 200 ? sprintf("%.1f %%", 100 * r[best] / k) : "-"), mean[best]
}
