# Functions for all benchmarks: measuring commands, medians over interleaved rounds, rows of the table.
# Sourced by bench/<name>/run, which bench/run starts with BENCH_BUILD, BENCH_FULL, BENCH_WORK, BENCH_TABLE.
set -eu
raddle=$BENCH_BUILD/bin/raddle
programs=$BENCH_BUILD/bench
name=$(basename "$(dirname "$0")")
work=$BENCH_WORK/$name
mkdir -p "$work"
cd "$work"
cpu=$(taskset -pc $$ | sed 's/.*[^0-9]//') # the last permitted processor: the first is often the busiest
rounds=3
[ "$BENCH_FULL" = 0 ] || rounds=7

calculate() { awk "BEGIN { printf \"$1\", $2 }"; }

# measure SERIES COMMAND...: runs the command on one processor, and appends its elapsed and processor time (µs, with all
# children) to the series. Standard output goes to $output, standard error to $work/errors.
output=/dev/null
measure() {
	local series=$1 status=0
	shift
	"$programs/support/measure" "$work/times" taskset -c "$cpu" "$@" > "$output" 2> "$work/errors" || status=$?
	if [ "$status" -ne 0 ]; then
		echo "$name: status $status of: $*" >&2
		tail -n 5 "$work/errors" >&2
		return 1
	fi
	read -r wall_us cpu_us peak_kb < "$work/times"
	echo "$wall_us" >> "$work/$series.wall"
	echo "$cpu_us" >> "$work/$series.cpu"
	echo "$peak_kb" >> "$work/$series.peak"
}

# note SERIES VALUE: appends a value that a program measured itself.
note() { echo "$2" >> "$work/$1.value"; }

# median FILE
median() { sort -g "$work/$1" | awk '{ v[NR] = $1 } END { m = int((NR + 1) / 2); print NR % 2 ? v[m] : (v[m] + v[m + 1]) / 2 }'; }

thousands() {
	awk -v n="$1" 'BEGIN { s = sprintf("%d", n + 0.5); while (match(s, /[0-9][0-9][0-9][0-9](,|$)/)) s = substr(s, 1, RSTART) "," substr(s, RSTART + 1); print s }'
}

heading() { printf '%s\n' "$1" >> "$BENCH_TABLE"; }
# row WHAT MEASURED COMPARED WANTED
row() { printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "${4:- }" >> "$BENCH_TABLE"; }

# subject_source PROGRAM: the folder of a buggy subject's source. A subject that is built in several sizes has the size
# behind its name; the names of others may end in numbers, too.
subject_source() {
	local subjects=$BENCH_SOURCE/../subjects/buggy
	if [ -d "$subjects/$1" ]; then echo "$subjects/$1"; else echo "$subjects/${1%_[0-9]*}"; fi
}

# explore SERIES RUNS RADDLE-OPTIONS... -- PROGRAM...: measures one campaign, which must find nothing.
explore() {
	local series=$1 runs=$2
	shift 2
	measure "$series" "$raddle" run --quiet --schedules "$runs" --time 0 "$@"
}

# per_run SERIES-SHORT RUNS-SHORT SERIES-LONG RUNS-LONG: prints the processor time per run (µs), without start-up.
per_run() {
	calculate %.3f "($(median "$3.cpu") - $(median "$1.cpu")) / ($4 - $2)"
}
