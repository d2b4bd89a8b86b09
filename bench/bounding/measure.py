#!/usr/bin/env python3
"""Measures the four tables of Bindal, Bansal and Lal 2012, prints the paper's figures beside, and adds dpor.

See bounding.md.
"""
import argparse
import glob
import hashlib
import json
import math
import os
import re
import resource
import statistics
import subprocess
import sys
import time

CFLAGS = ["-g", "-UNDEBUG", "-Wall", "-Wextra", "-Werror", "-pthread"]


class Bench:
    """Runs programs under raddle, and stores each measured row on disk."""

    def __init__(self, options):
        self.options = options
        self.full = options.full != "0"
        self.clang = os.environ.get("RADDLE_CLANG", "clang-19")
        self.only = os.environ.get("SUBJECTS", "").split()
        os.makedirs(options.keep, exist_ok=True)

    def identify(self, program):
        """Returns the key of a stored row: a digest of raddle's build, this script, its mode and the program or source."""
        digest = hashlib.sha256(b"full" if self.full else b"short")
        for path in (self.options.raddle, os.path.join(self.options.build, "lib/raddle/libraddle.so"), __file__, program):
            with open(path, "rb") as file:
                digest.update(file.read())
        return digest.hexdigest()

    def row(self, table, name, program, measure):
        """Returns the stored row, else measures and stores it. None: SUBJECTS excludes the row."""
        identity = self.identify(program)
        path = os.path.join(self.options.keep, "%s-%s.json" % (table, re.sub(r"\W+", "_", name)))
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                kept = json.load(file)
            if kept["identity"] == identity:
                return kept["row"]
        if self.only and name not in self.only:
            return None
        begun = time.monotonic()
        row = measure()
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump({"identity": identity, "row": row}, file)
        os.rename(path + ".new", path)
        print("bounding: table %s, %s: %.0f s" % (table, name, time.monotonic() - begun), file=sys.stderr, flush=True)
        return row

    def build(self, name, source, defines, how):
        """Compiles; returns the program's path. `how`: raddle (raddle-cc -O1), sites (raddle-cc -O2), native (clang -O2)."""
        out = os.path.join(self.options.work, name + "_" + how)
        compiler = {"raddle": [os.path.join(self.options.build, "bin/raddle-cc"), "-O1"],
                    "sites": [os.path.join(self.options.build, "bin/raddle-cc"), "-O2"],
                    "native": [self.clang, "-O2"]}[how]
        subprocess.run(compiler + CFLAGS + defines + [source, "-o", out, "-lm"], check=True)
        return out

    def explore(self, program, *arguments):
        """Returns the JSON result of `raddle run --json` (None: it failed), and its standard error."""
        store = os.path.join(self.options.work, "store")
        os.makedirs(store, exist_ok=True)
        done = subprocess.run([self.options.raddle, "run", "--json", "--no-minimise", "--store", store, *arguments, "--",
                               program], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        subprocess.run(["rm", "-rf", store], check=True)
        if done.returncode not in (0, 1):
            return None, done.stderr
        return json.loads(done.stdout), done.stderr

    def limit(self, short, full):
        return ["--time", full if self.full else short]


def line(*fields):
    print("\t".join(str(field) for field in fields), flush=True)


def subjects(options, key):
    """Returns the subjects with a line EXPECT-<key>: paper's name, fields of the line, -D options, bounds."""
    found = []
    for source in sorted(glob.glob(options.subjects + "/buggy/*/*.c")):
        with open(source, encoding="utf-8") as file:
            text = file.read()
        match = re.search(r"EXPECT-%s: (\w+) (.*)" % key, text)
        if not match:
            continue
        words = match.group(2).split()
        bounds = re.search(r"EXPECT-BOUNDS: (c=\d+ v=\d+ t=\d+)", text)
        found.append({"paper": match.group(1), "source": source,
                      "fields": dict(word.split("=") for word in words if not word.startswith("-")),
                      "defines": [word for word in words if word.startswith("-D")],
                      "bounds": bounds.group(1).replace(" ", ",") if bounds else "-"})
    return found


def schedules(result):
    """Returns the number of schedules up to the bug; None: no schedule showed the bug."""
    return result["schedules"] if result and result["failures"] else None


def shown(number, result):
    if number is not None:
        return number
    return ">%d" % result["schedules"] if result else "-"


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def geometric_mean(values):
    return math.exp(mean([math.log(value) for value in values]))


# ---- table 1 ----

def search(bench, subject):
    program = bench.build(subject["paper"], subject["source"], subject["defines"], "raddle")
    result, said = bench.explore(program, "--strategy", "bounded", *bench.limit("10s", "60s"))
    icb, _ = bench.explore(program, "--strategy", "icb", *bench.limit("3s", "60s"))
    if schedules(result) and icb and not icb["failures"] and icb["schedules"] < schedules(result):
        # icb reached its time limit with fewer schedules than bounded needed: gives icb as many.
        icb, _ = bench.explore(program, "--strategy", "icb", "--schedules", str(schedules(result)), "--time", "120s")
    threads = re.search(r"up to (\d+) threads", said)
    at = re.search(r"bounded[^:]*: (c=\d+,v=\d+,t=\d+)", json.dumps(result["findings"]) if result else "")
    return {"threads": threads.group(1) if threads else "-", "at": at.group(1) if at else "-",
            "own": schedules(result), "own_shown": shown(schedules(result), result),
            "spent": result["schedules"] if result else 0,
            "icb": schedules(icb), "icb_shown": shown(schedules(icb), icb), "icb_made": icb["schedules"] if icb else 0}


def table_1(bench):
    print("Table 1: schedules until the bug; threads as in the paper")
    line("program", "threads", "c,v,t", "found at", "bounded", "icb", "the paper")
    total, paper_total, fewer, beaten, count = 0, 0, 0, [], 0
    for subject in subjects(bench.options, "TABLE"):
        row = bench.row("1", subject["paper"], subject["source"], lambda: search(bench, subject))
        paper = int(subject["fields"]["schedules"])
        if not row:
            continue
        line(subject["paper"], row["threads"], subject["bounds"], row["at"], row["own_shown"], row["icb_shown"], paper)
        # If icb has made as many schedules without the bug, icb needs more than bounded.
        if row["own"] is None or row["own"] >= (row["icb"] or row["icb_made"] + 1):
            beaten.append(subject["paper"])
        if subject["paper"] == "RegionOwnership": # counted in table 3
            continue
        count += 1
        total += row["spent"]
        paper_total += paper
        fewer += row["own"] is not None and row["own"] < paper
    line("sum", "", "", "", total, "", paper_total)
    print("fewer than the paper on %d of %d; not fewer than icb on: %s" % (fewer, count, ", ".join(beaten) or "none"))


# ---- table 2 ----

# The paper's seconds: native, v=1, v=2, v=3, all variables.
PROGRAMS_2 = [("BlockingQueue", "blocking_queue", 3, "0.17/0.18/0.194/0.202/1.39"),
              ("HashSet", "hash_set", 200, "0.07/0.078/0.090/0.098/0.269"),
              ("Cache4j", "cache4j", 12, "0.34/0.47/1.23/2.76/26.4"),
              ("Moldyn", "moldyn", 8, "0.39/3.15/11.6/19.9/1240"),
              ("Montecarlo", "montecarlo", 8, "0.48/1.94/4.74/5.21/323"),
              ("SOR", "sor", 6, "0.07/0.25/0.249/0.348/0.392"),
              ("TSP", "tsp", 18, "4.2/4.23/32.6/110/1180"),
              ("TreeSet", "tree_set", 200, "0.69/0.078/0.089/0.09/0.259")]


def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


# Profiling runs have all sites on: the first runs, and runs 11, 21, 41, ... if the round before learnt something new.
# The measurement uses the other runs from run LEARNT on. Each run prints the processor's clock at its end
# (programs/run_time.h).
LEARNT, USUAL, OF_ALL = 32, 64, 40
PROFILES = {10 << doubling for doubling in range(20)}


def clock_rate(program):
    """Returns the ticks of the processor's clock per second."""
    ends = []
    for _ in range(2):
        ticks = int(subprocess.run([program], check=True, capture_output=True, text=True).stdout)
        ends.append((time.monotonic(), ticks))
        time.sleep(0.5)
    return (ends[1][1] - ends[0][1]) / (ends[1][0] - ends[0][0])


def times_of_runs(bench, program, rate, first, last, *arguments):
    """Returns the seconds of each run, measured from the end of the run before. None: a run printed no end."""
    store = os.path.join(bench.options.work, "store")
    os.makedirs(store, exist_ok=True)
    done = subprocess.run([bench.options.raddle, "run", "--output", "show", "--no-minimise", "--store", store, "-j1", "--time", "600s",
                           "--max-steps", "1000000000", "--schedules", str(last), *arguments, "--", program],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    subprocess.run(["rm", "-rf", store], check=True)
    ends = [int(line) for line in done.stdout.split() if line.isdigit()]
    if len(ends) != last:
        print("bounding: %s: %s" % (program, done.stderr.strip().splitlines()[-1:]), file=sys.stderr)
        return None
    return [(ends[run] - ends[run - 1]) / rate for run in range(first, last) if run not in PROFILES]


def time_per_run(bench, program, rate, first, last, *arguments, average=mean):
    """Returns the average of the runs' seconds; with --full, the smaller average of two campaigns."""
    measured = [times_of_runs(bench, program, rate, first, last, *arguments) for _ in range(2 if bench.full else 1)]
    return None if None in measured else min(average(times) for times in measured)


def mean_of_draws(bench, program, rate, *arguments):
    """Returns the mean seconds over several seeds, because each seed selects other variables."""
    seeds = 6 if bench.full else 3
    measured = [time_per_run(bench, program, rate, LEARNT, USUAL, "--seed", str(seed + 1), *arguments) for seed in range(seeds)]
    return mean(measured) if None not in measured else None


def elapsed_time(command):
    begun = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begun


def times(bench, name, source):
    scale = ["-DSCALE=%d" % (5 if bench.full else 1)]
    native = bench.build(name, source, scale, "native")
    program = bench.build(name, source, scale, "sites")
    rate = clock_rate(native)
    row = {"native": min(processor_time([native]) for _ in range(7)),
           "elapsed": min(elapsed_time([native]) for _ in range(7)),
           "off": min(processor_time([program]) for _ in range(7)),
           "none": time_per_run(bench, program, rate, LEARNT, USUAL, "--strategy", "round_robin", "--memory", "none")}
    for size in (1, 2, 3):
        row["v=%d" % size] = mean_of_draws(bench, program, rate, "--strategy",
                                           "pctvb,depth=2,variables=%d" % size, "--focus", "always")
    row["all"] = time_per_run(bench, program, rate, OF_ALL // 2, OF_ALL, "--strategy", "pct,depth=2",
                              average=statistics.median)
    return row


def table_2(bench):
    print("\nTable 2: processor time of a run, seconds; in brackets: times native")
    columns = ("off", "none", "v=1", "v=2", "v=3", "all")
    line("program", "threads", "native", "elapsed", "sites off", "no access", *columns[2:],
         "the paper: native", "v=1", "v=2", "v=3", "all")
    ratios = {name: [] for name in columns}
    for name, file, threads, paper in PROGRAMS_2:
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", file + ".c")
        row = bench.row("2", name, source, lambda: times(bench, name, source))
        if not row:
            continue
        for column, values in ratios.items():
            if row[column]:
                values.append(row[column] / row["native"])
        line(name, threads, "%.3f" % row["native"], "%.3f" % row["elapsed"],
             *("%.3f (%.1f)" % (row[column], row[column] / row["native"]) if row[column] else "-" for column in columns),
             *paper.split("/"))
    for column, values in ratios.items():
        if values:
            print("%s: %.2f times native in the geometric mean of %d, %.2f at most" %
                  (column, geometric_mean(values), len(values), max(values)))


# ---- table 3 ----

BOUNDS_3 = [("icb, c=3", "icb,preemptions=3", "yes\t132507\t6897"),
            ("vt, c=3, v=2", "vt,preemptions=3,variables=2", "yes\t47248\t1224"),
            ("vt, c=3, v=1", "vt,preemptions=3,variables=1", "no\t30437\t581"),
            ("bounded, c=3, v=3, t=2", "bounded,preemptions=3,variables=3,threads=2,runs=1048576", "-\t-\t-"),
            ("bounded, c=3, v=2, t=2", "bounded,preemptions=3,variables=2,threads=2,runs=1048576", "-\t-\t-"),
            ("bounded, c=3, v=1, t=2", "bounded,preemptions=3,variables=1,threads=2,runs=1048576", "-\t-\t-")]


def explore_region(bench, source, defines, strategy):
    """Explores like CHESS: atomic accesses are scheduling points; raddle searches for races among the others."""
    program = bench.build("RegionOwnership", source, defines, "raddle")
    result, said = bench.explore(program, "--strategy", strategy, "--memory", "races", "--fail-on", "race",
                                 *bench.limit("120s", "600s"))
    return {"found": bool(result and result["failures"]), "schedules": result["schedules"] if result else 0,
            "all": "no failure in any schedule" in said and "and more ran" not in said,
            "seconds": result["seconds"] if result else None}


def compare_gain(rows, what, without, with_two):
    """Prints the gain of v=2 over no bound on variables, if both searches found the bug or completed."""
    ends = [rows[name] for name in (without, with_two) if name in rows and (rows[name]["found"] or rows[name]["all"])]
    if len(ends) == 2:
        print("%s: %.1f times fewer schedules with v=2 (the paper: 2.8), %.1f times less time (5.6)" %
              (what, ends[0]["schedules"] / max(ends[1]["schedules"], 1),
               ends[0]["seconds"] / max(ends[1]["seconds"], 1e-3)))


def table_3(bench):
    print("\nTable 3: Region Ownership, three preemptions")
    line("bounds", "found", "schedules", "seconds", "the paper: found", "schedules", "seconds")
    subject = [one for one in subjects(bench.options, "TABLE") if one["paper"] == "RegionOwnership"][0]
    corrected = subject["source"].replace("/buggy/", "/correct/")
    rows = {}
    for source, prefix in ((subject["source"], ""), (corrected, "all of ")):
        for name, strategy, paper in BOUNDS_3:
            name = prefix + name
            row = bench.row("3", name, source,
                            lambda: explore_region(bench, source, subject["defines"], strategy))
            if not row:
                continue
            rows[name] = row
            ended = row["found"] or row["all"]
            line(name, "yes" if row["found"] else "no", ("%d" if ended else ">%d") % row["schedules"],
                 "%.1f" % row["seconds"] if row["seconds"] is not None else "-", "-\t-\t-" if prefix else paper)
    for prefix, until in (("", "until the bug"), ("all of ", "all there are")):
        compare_gain(rows, "vt against icb, " + until, prefix + "icb, c=3", prefix + "vt, c=3, v=2")
        compare_gain(rows, "bounded against icb, " + until, prefix + "icb, c=3", prefix + "bounded, c=3, v=2, t=2")
        compare_gain(rows, "bounded against itself without v, " + until, prefix + "bounded, c=3, v=3, t=2",
                     prefix + "bounded, c=3, v=2, t=2")


# ---- table 4 ----

PAPER_4 = {12: "3.1\t2.7", 13: "3.7\t3.5", 14: "4.9\t3.8", 22: "1636\tno", 23: "4889\tno", 24: "28121\tno"}
STOPS_4 = {12: 1, 13: 1, 14: 1, 22: 3, 23: 2, 24: 2, 32: 5, 33: 4, 34: 3}


def promised_runs(result):
    """Returns the largest mean number of runs that the campaign's printed guarantee (with its n, k, m) allows."""
    promise = (result or {}).get("guarantee")
    return "%.0f" % (1 / promise["probability"]) if promise and promise["probability"] else "-"


def runs_until(bench, program, strategy):
    """Returns the mean runs until the bug as text and as a number, and the largest bound that a campaign printed.

    The number is None if a seed did not find the bug.
    """
    runs, missed, seeds, promised = [], 0, 20 if bench.full else 3, []
    for seed in range(seeds):
        result, _ = bench.explore(program, "--strategy", strategy, "--seed", str(seed + 1), "--schedules", "2000000",
                                  *bench.limit("4s", "30s"))
        missed += schedules(result) is None
        runs.append(result["schedules"] if result else 0)
        promised.append(promised_runs(result))
    most = max(promised, key=lambda text: float(text) if text != "-" else 0)
    if missed:
        return ">%.0f (%d of %d not found)" % (mean(runs), missed, seeds), None, most
    return "%.1f" % mean(runs), mean(runs), most


def compare_random(bench, program, size):
    depth = STOPS_4[size] + 1
    return [runs_until(bench, program, "pctvb,depth=%d,variables=%d,threads=%d" % (depth, *divmod(size, 10))),
            runs_until(bench, program, "pct,depth=%d" % depth)]


def table_4(bench):
    print("\nTable 4: schedules until a bug of v variables and t threads shows, in the mean")
    line("v,t", "depth", "pctvb", "at most, by its bound", "pct", "at most, by its bound", "the paper: with", "without")
    for size, stops in STOPS_4.items():
        program = os.path.join(bench.options.build, "subjects/buggy/bounds_grid_%d" % size)
        row = bench.row("4", str(size), program, lambda: compare_random(bench, program, size))
        if row:
            line("%d,%d" % divmod(size, 10), stops + 1, row[0][0], row[0][2], row[1][0], row[1][2],
                 PAPER_4.get(size, "-\t-"))


# ---- dpor ----

def compare_dpor(bench, program):
    """Returns the runs of dpor, icb and bounded; an empty list if dpor does not finish."""
    result, said = bench.explore(program, "--strategy", "dpor", *bench.limit("500ms", "20s"))
    if not result or "these are all schedules" not in said:
        return []
    row = [result["schedules"]]
    for arguments in (["--strategy", "icb"], ["--bounds", "c=2,v=2,t=3"]):
        result, said = bench.explore(program, *arguments, *bench.limit("1s", "20s"))
        is_all = "these are all schedules" in said or "no failure in any schedule" in said
        is_all &= "and more ran" not in said
        row.append("-" if not result else result["schedules"] if is_all else ">%d" % result["schedules"])
    return row


def table_dpor(bench):
    print("\ndpor: runs until all is explored, of the corrected programs that it finishes")
    line("program", "dpor", "icb", "bounded c=2,v=2,t=3")
    for program in sorted(glob.glob(bench.options.build + "/subjects/correct/*")):
        if not os.access(program, os.X_OK) or os.path.isdir(program):
            continue
        row = bench.row("dpor", os.path.basename(program), program, lambda: compare_dpor(bench, program))
        if row:
            line(os.path.basename(program), *row)


def main():
    parser = argparse.ArgumentParser()
    for name in ("raddle", "build", "work", "full", "subjects", "tables", "keep"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    bench = Bench(options)
    tables = {"1": table_1, "2": table_2, "3": table_3, "4": table_4, "dpor": table_dpor}
    for name in options.tables.split():
        tables[name](bench)


if __name__ == "__main__":
    main()
