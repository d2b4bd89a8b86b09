# Rows of four fields (what, measured, compared, wanted) to columns; a row of one field is a heading.
{
	row[NR] = $0
	for (i = 1; i <= NF; i++)
		if (NF > 1 && length($i) > width[i])
			width[i] = length($i)
}
END {
	for (n = 1; n <= NR; n++) {
		count = split(row[n], field, "\t")
		if (count == 1) {
			printf "%s%s\n", (n > 1 ? "\n" : ""), field[1]
			continue
		}
		line = "  "
		for (i = 1; i <= count; i++)
			line = line sprintf("%-" width[i] "s  ", field[i])
		sub(/ +$/, "", line)
		print line
	}
}
