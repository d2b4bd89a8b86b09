#!/usr/bin/env python3
"""The four tables of Bindal, Bansal and Lal 2012 beside the paper's figures, and dpor. See bounding.md."""
import argparse
import glob
import hashlib
import itertools
import json
import math
import os
import random
import re
import resource
import subprocess
import sys
import time

CFLAGS = ["-g", "-UNDEBUG", "-Wall", "-Wextra", "-Werror", "-pthread"]


class Bench:
    """Runs programs under raddle, and keeps each row that has been measured."""

    def __init__(self, options):
        self.options = options
        self.full = options.full != "0"
        self.clang = os.environ.get("RADDLE_CLANG", "clang-19")
        self.only = os.environ.get("SUBJECTS", "").split()
        os.makedirs(options.keep, exist_ok=True)

    def identify(self, program):
        """A row is kept for one build of raddle, one way of measuring, and one program (its source, or itself)."""
        digest = hashlib.sha256(b"full" if self.full else b"short")
        for path in (self.options.raddle, os.path.join(self.options.build, "lib/raddle/libraddle.so"), __file__, program):
            with open(path, "rb") as file:
                digest.update(file.read())
        return digest.hexdigest()

    def row(self, table, name, program, measure):
        """The row as it was measured before, or measured now; None: it was not asked for."""
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
        """`how`: raddle-cc -O1 or -O2, or native -O2. The program's path."""
        out = os.path.join(self.options.work, name + "_" + how)
        compiler = {"raddle": [os.path.join(self.options.build, "bin/raddle-cc"), "-O1"],
                    "sites": [os.path.join(self.options.build, "bin/raddle-cc"), "-O2"],
                    "native": [self.clang, "-O2"]}[how]
        subprocess.run(compiler + CFLAGS + defines + [source, "-o", out], check=True)
        return out

    def explore(self, program, *arguments):
        """What `raddle run --json` says, and what it says besides."""
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
    """Those with a line EXPECT-<key>: paper's name, fields of the line, -D options, bounds; in the table's order."""
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
    """Until the bug showed; None: it did not."""
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
    threads = re.search(r"up to (\d+) threads", said)
    at = re.search(r"bounded[^:]*: (c=\d+,v=\d+,t=\d+)", json.dumps(result["findings"]) if result else "")
    return {"threads": threads.group(1) if threads else "-", "at": at.group(1) if at else "-",
            "own": schedules(result), "own_shown": shown(schedules(result), result),
            "spent": result["schedules"] if result else 0,
            "icb": schedules(icb), "icb_shown": shown(schedules(icb), icb)}


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
        if row["icb"] is not None and (row["own"] is None or row["own"] >= row["icb"]):
            beaten.append(subject["paper"])
        if subject["paper"] == "RegionOwnership": # table 3
            continue
        count += 1
        total += row["spent"]
        paper_total += paper
        fewer += row["own"] is not None and row["own"] < paper
    line("sum", "", "", "", total, "", paper_total)
    print("fewer than the paper on %d of %d; not fewer than icb on: %s" % (fewer, count, ", ".join(beaten) or "none"))


# ---- table 2 ----

def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def variables_of(bench, program):
    """Names of globals and allocation sites, with their fields: what --variables takes."""
    said = subprocess.run([bench.options.raddle, "cc", "--points-to", program], capture_output=True, text=True,
                          check=True).stdout
    names = {re.split(r"[\[+]", name)[0] for name in said.splitlines()[:-1] if name and not name[0].isspace()}
    return sorted(name for name in names if re.fullmatch(r"[\w$.]+", name) and not name.startswith("__"))


def time_per_run(bench, program, *arguments):
    """Processor time in seconds, of runs behind the first few, which learn."""
    spent = []
    for count in (4, 8):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result, _ = bench.explore(program, "--strategy", "round_robin", "--schedules", str(count), "--time", "60s",
                                  *arguments)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if result is None or result["schedules"] < count:
            return None
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return max(spent[1] - spent[0], 1e-6) / 4


def times(bench, subject):
    source = subject["source"].replace("/buggy/", "/correct/")
    native = bench.build(subject["paper"], source, subject["defines"], "native")
    program = bench.build(subject["paper"], source, subject["defines"], "sites")
    base = min(processor_time([native]) for _ in range(5))
    names, chance = variables_of(bench, program), random.Random(1)
    row = {"native": base, "names": names}
    for size in (1, 2, 3):
        sets = list(itertools.combinations(names, min(size, len(names))))
        sets = chance.sample(sets, min(len(sets), 12 if bench.full else 4))
        row["v=%d" % size] = mean(time_per_run(bench, program, "--variables", ",".join(chosen)) for chosen in sets)
    row["all"] = time_per_run(bench, program)
    return row


def table_2(bench):
    print("\nTable 2: processor time of a run, seconds; in brackets: times native")
    line("program", "threads", "native", "v=1", "v=2", "v=3", "all", "the paper: native", "v=1", "v=2", "v=3", "all")
    ratios = {"v=1": [], "all": []}
    for subject in subjects(bench.options, "TIMES"):
        row = bench.row("2", subject["paper"], subject["source"], lambda: times(bench, subject))
        if not row:
            continue
        base = row["native"]
        for name, values in ratios.items():
            if row[name]:
                values.append(row[name] / base)
        line(subject["paper"], subject["fields"]["threads"], "%.3f" % base,
             *("%.3f (%.1f)" % (row[name], row[name] / base) if row[name] else "-"
               for name in ("v=1", "v=2", "v=3", "all")),
             *subject["fields"]["paper"].split("/"))
    for name, values in ratios.items():
        if values:
            print("%s: %.2f times native in the geometric mean, %.2f at most" %
                  (name, geometric_mean(values), max(values)))


# ---- table 3 ----

TABLE_3 = [("icb, c=3", "icb,preemptions=3", "yes\t132507\t6897"),
           ("vt, c=3, v=2", "vt,preemptions=3,variables=2", "yes\t47248\t1224"),
           ("vt, c=3, v=1", "vt,preemptions=3,variables=1", "no\t30437\t581"),
           ("bounded, c=3, v=2, t=2", "bounded,preemptions=3,variables=2,threads=2", "-\t-\t-"),
           ("bounded, c=3, v=1, t=2", "bounded,preemptions=3,variables=1,threads=2", "-\t-\t-")]


def explore_region(bench, subject, strategy):
    """As CHESS: accesses are points where they are atomic; for others races are looked for."""
    program = bench.build("RegionOwnership", subject["source"], subject["defines"], "raddle")
    result, _ = bench.explore(program, "--strategy", strategy, "--memory", "races", "--fail-on", "race",
                              *bench.limit("40s", "600s"))
    return {"found": bool(result and result["failures"]), "schedules": result["schedules"] if result else 0,
            "seconds": result["seconds"] if result else None}


def table_3(bench):
    print("\nTable 3: Region Ownership, three preemptions")
    line("bounds", "found", "schedules", "seconds", "the paper: found", "schedules", "seconds")
    subject = [one for one in subjects(bench.options, "TABLE") if one["paper"] == "RegionOwnership"][0]
    rows = {}
    for name, strategy, paper in TABLE_3:
        row = bench.row("3", name, subject["source"], lambda: explore_region(bench, subject, strategy))
        if not row:
            continue
        rows[name] = row
        line(name, "yes" if row["found"] else "no", row["schedules"],
             "%.1f" % row["seconds"] if row["seconds"] is not None else "-", paper)
    if len(rows) == len(TABLE_3):
        none, vt, bounded = (rows[TABLE_3[i][0]] for i in (0, 1, 3))
        print("v=2 against none: %.1f times fewer schedules by vt, %.0f by bounded (the paper: 2.8); %.1f and %.0f times "
              "less time (5.6)" % (none["schedules"] / vt["schedules"], none["schedules"] / bounded["schedules"],
                                   none["seconds"] / max(vt["seconds"], 1e-3),
                                   none["seconds"] / max(bounded["seconds"], 1e-3)))


# ---- table 4 ----

PAPER_4 = {12: "3.1\t2.7", 13: "3.7\t3.5", 14: "4.9\t3.8", 22: "1636\tno", 23: "4889\tno", 24: "28121\tno"}
STOPS_4 = {12: 1, 13: 1, 14: 1, 22: 3, 23: 2, 24: 2, 32: 5, 33: 4, 34: 3}


def runs_until(bench, program, strategy):
    """As text, and the mean, None where a seed did not find it."""
    runs, missed, seeds = [], 0, 20 if bench.full else 3
    for seed in range(seeds):
        result, _ = bench.explore(program, "--strategy", strategy, "--seed", str(seed + 1), "--schedules", "2000000",
                                  *bench.limit("2s", "30s"))
        missed += schedules(result) is None
        runs.append(result["schedules"] if result else 0)
    if missed:
        return ">%.0f (%d of %d not found)" % (mean(runs), missed, seeds), None
    return "%.1f" % mean(runs), mean(runs)


def compare_random(bench, program, size):
    depth = STOPS_4[size] + 1
    return [runs_until(bench, program, "pctvb,depth=%d,variables=%d,threads=%d" % (depth, *divmod(size, 10))),
            runs_until(bench, program, "pct,depth=%d" % depth)]


def table_4(bench):
    print("\nTable 4: schedules until a bug of v variables and t threads shows, in the mean")
    line("v,t", "depth", "pctvb", "pct", "the paper: with", "without")
    for size, stops in STOPS_4.items():
        program = os.path.join(bench.options.build, "subjects/buggy/bounds_grid_%d" % size)
        row = bench.row("4", str(size), program, lambda: compare_random(bench, program, size))
        if row:
            line("%d,%d" % divmod(size, 10), stops + 1, row[0][0], row[1][0], PAPER_4.get(size, "-\t-"))


# ---- dpor ----

def compare_dpor(bench, program):
    """Runs of dpor, icb and bounded; empty: dpor does not finish."""
    result, said = bench.explore(program, "--strategy", "dpor", *bench.limit("500ms", "20s"))
    if not result or "these are all schedules" not in said:
        return []
    row = [result["schedules"]]
    for arguments in (["--strategy", "icb"], ["--bounds", "c=2,v=2,t=3"]):
        result, said = bench.explore(program, *arguments, *bench.limit("1s", "20s"))
        is_all = "these are all schedules" in said or "no failure in any schedule" in said
        is_all &= "and more were run" not in said
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
