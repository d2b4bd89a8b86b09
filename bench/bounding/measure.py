#!/usr/bin/env python3
"""The four tables of Bindal, Bansal and Lal 2012 beside the paper's figures, and dpor. See bounding.md."""
import argparse
import glob
import itertools
import json
import math
import os
import random
import re
import resource
import subprocess

CFLAGS = ["-g", "-UNDEBUG", "-Wall", "-Wextra", "-Werror", "-pthread"]


class Bench:
    def __init__(self, options):
        self.options = options
        self.full = options.full != "0"
        self.clang = os.environ.get("RADDLE_CLANG", "clang-19")

    def build(self, name, source, defines, how):
        """`how`: raddle-cc -O1, or native -O2. The program's path."""
        out = os.path.join(self.options.work, name + "_" + how)
        compiler = [os.path.join(self.options.build, "bin/raddle-cc"), "-O1"]
        if how == "sites":
            compiler[1] = "-O2"
        if how == "native":
            compiler = [self.clang, "-O2"]
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


def schedules(result, is_wanted_failure=True):
    if result is None:
        return None
    if is_wanted_failure and not result["failures"]:
        return None
    return result["schedules"]


def shown(number, result):
    if number is not None:
        return number
    return ">%d" % result["schedules"] if result else "-"


def table_1(bench):
    print("Table 1: schedules until the bug; threads as in the paper")
    line("program", "threads", "c,v,t", "found at", "bounded", "icb", "the paper")
    total, paper_total, fewer, beaten, count = 0, 0, 0, [], 0
    for subject in subjects(bench.options, "TABLE"):
        program = bench.build(subject["paper"], subject["source"], subject["defines"], "raddle")
        result, said = bench.explore(program, "--strategy", "bounded", *bench.limit("10s", "60s"))
        icb, _ = bench.explore(program, "--strategy", "icb", *bench.limit("3s", "60s"))
        own, other, paper = schedules(result), schedules(icb), int(subject["fields"]["schedules"])
        threads = re.search(r"up to (\d+) threads", said)
        at = re.search(r"bounded[^:]*: (c=\d+,v=\d+,t=\d+)", json.dumps(result["findings"]) if result else "")
        line(subject["paper"], threads.group(1) if threads else "-", subject["bounds"], at.group(1) if at else "-",
             shown(own, result), shown(other, icb), paper)
        if other is not None and (own is None or own >= other):
            beaten.append(subject["paper"])
        if subject["paper"] == "RegionOwnership":
            continue
        count += 1
        total += own if own is not None else result["schedules"] if result else 0
        paper_total += paper
        fewer += own is not None and own < paper
    line("sum", "", "", "", total, "", paper_total)
    print("fewer than the paper on %d of %d; not fewer than icb on: %s" % (fewer, count, ", ".join(beaten) or "none"))


def processor_time(program):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def variables_of(bench, program):
    """Names of globals and allocation sites, without their parts."""
    said = subprocess.run([bench.options.raddle, "cc", "--points-to", program], capture_output=True, text=True,
                          check=True).stdout
    names = {re.split(r"[.\[+]", name)[0] for name in said.splitlines()[:-1]
             if name and name[0].isalpha() or name.startswith("(")}
    return sorted(name for name in names if re.fullmatch(r"[\w$]+", name))


def time_per_run(bench, program, *arguments):
    """Processor time in seconds, of runs behind the first few, which learn."""
    spent = []
    for count in (4, 8):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result, _ = bench.explore(program, "--strategy", "round_robin", "--schedules", str(count), "--time", "20s",
                                  *arguments)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if result is None or result["schedules"] < count:
            return None
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return max(spent[1] - spent[0], 1e-6) / 4


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def table_2(bench):
    print("\nTable 2: processor time of a run, seconds; in brackets: times native")
    line("program", "threads", "native", "v=1", "v=2", "v=3", "all", "the paper: native", "v=1", "v=2", "v=3", "all")
    ratios = {"v=1": [], "all": []}
    for subject in subjects(bench.options, "TIMES"):
        source = subject["source"].replace("/buggy/", "/correct/")
        native = bench.build(subject["paper"], source, subject["defines"], "native")
        program = bench.build(subject["paper"], source, subject["defines"], "sites")
        base = min(processor_time(native) for _ in range(3))
        names, chance = variables_of(bench, program), random.Random(1)
        times = []
        for size in (1, 2, 3):
            sets = list(itertools.combinations(names, min(size, len(names))))
            sets = chance.sample(sets, min(len(sets), 12 if bench.full else 3))
            times.append(mean(time_per_run(bench, program, "--variables", ",".join(chosen)) for chosen in sets))
        times.append(time_per_run(bench, program))
        if times[0]:
            ratios["v=1"].append(times[0] / base)
        if times[3]:
            ratios["all"].append(times[3] / base)
        line(subject["paper"], subject["fields"]["threads"], "%.3f" % base,
             *("%.3f (%.1f)" % (value, value / base) if value else "-" for value in times),
             *subject["fields"]["paper"].split("/"))
    for name, values in ratios.items():
        print("%s: %.2f times native in the geometric mean, %.2f at most" %
              (name, math.exp(mean([math.log(value) for value in values])), max(values)))


def table_3(bench):
    print("\nTable 3: Region Ownership, three preemptions")
    line("bounds", "found", "schedules", "seconds", "the paper: found", "schedules", "seconds")
    program = bench.build("RegionOwnership", bench.options.subjects + "/buggy/region_ownership/region_ownership.c", [],
                          "raddle")
    rows = [("icb, c=3", "icb,preemptions=3", "yes\t132507\t6897"), ("vt, c=3, v=2", "vt,preemptions=3,variables=2",
                                                                   "yes\t47248\t1224"),
            ("vt, c=3, v=1", "vt,preemptions=3,variables=1", "no\t30437\t581"),
            ("bounded, c=3, v=2, t=2", "bounded,preemptions=3,variables=2,threads=2", "-\t-\t-"),
            ("bounded, c=3, v=1, t=2", "bounded,preemptions=3,variables=1,threads=2", "-\t-\t-")]
    counts = {}
    for name, strategy, paper in rows:
        result, _ = bench.explore(program, "--strategy", strategy, "--time", "60s")
        counts[name] = result["schedules"] if result else 0
        line(name, "yes" if result and result["failures"] else "no", counts[name],
             "%.1f" % result["seconds"] if result else "-", paper)
    print("v=2 against none: %.1f times fewer by vt, %.0f times by bounded (the paper: 2.8)" %
          (counts["icb, c=3"] / counts["vt, c=3, v=2"], counts["icb, c=3"] / counts["bounded, c=3, v=2, t=2"]))


PAPER_4 = {12: "3.1\t2.7", 13: "3.7\t3.5", 14: "4.9\t3.8", 22: "1636\tno", 23: "4889\tno", 24: "28121\tno"}


def table_4(bench):
    print("\nTable 4: schedules until a bug of v variables and t threads shows, in the mean")
    line("v,t", "depth", "pctvb", "pct", "the paper: with", "without")
    seeds = 20 if bench.full else 3
    changes = {12: 1, 13: 1, 14: 1, 22: 3, 23: 2, 24: 2, 32: 5, 33: 4, 34: 3}
    for size, stops in changes.items():
        program = os.path.join(bench.options.build, "subjects/buggy/bounds_grid_%d" % size)
        row = []
        for strategy in ("pctvb,depth=%d,variables=%d" % (stops + 1, size // 10),
                         "pct,depth=%d" % (stops + 1)):
            runs, missed = [], 0
            for seed in range(seeds):
                result, _ = bench.explore(program, "--strategy", strategy, "--seed", str(seed + 1), "--schedules",
                                          "2000000", *bench.limit("2s", "30s"))
                missed += not (result and result["failures"])
                runs.append(result["schedules"] if result else 0)
            row.append(("%.1f" % mean(runs)) if not missed else ">%.0f (%d of %d not found)" % (mean(runs), missed, seeds))
        line("%d,%d" % divmod(size, 10), stops + 1, *row, PAPER_4.get(size, "-\t-"))


def table_dpor(bench):
    print("\ndpor: runs until all is explored, of the corrected programs that it finishes")
    line("program", "dpor", "icb", "bounded c=2,v=2,t=3")
    for program in sorted(glob.glob(bench.options.build + "/subjects/correct/*")):
        if not os.access(program, os.X_OK) or os.path.isdir(program):
            continue
        result, said = bench.explore(program, "--strategy", "dpor", *bench.limit("500ms", "20s"))
        if not result or "these are all schedules" not in said:
            continue
        row = [result["schedules"]]
        for arguments in (["--strategy", "icb"], ["--bounds", "c=2,v=2,t=3"]):
            result, said = bench.explore(program, *arguments, *bench.limit("1s", "20s"))
            is_all = "these are all schedules" in said or "no failure in any schedule" in said
            is_all &= "and more were run" not in said
            row.append("-" if not result else result["schedules"] if is_all else ">%d" % result["schedules"])
        line(os.path.basename(program), *row)


def main():
    parser = argparse.ArgumentParser()
    for name in ("raddle", "build", "work", "full", "subjects", "tables"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    bench = Bench(options)
    tables = {"1": table_1, "2": table_2, "3": table_3, "4": table_4, "dpor": table_dpor}
    for name in options.tables.split():
        tables[name](bench)


if __name__ == "__main__":
    main()
