#!/usr/bin/env python3
"""measure.py BUILD SOURCES [SUBJECT...]: tables 1 to 3 of Huang and Rauchwerger (ESEC/FSE 2015); see branches.md."""
import glob
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

build, sources = sys.argv[1:3]
chosen = sys.argv[3:] or os.environ.get("SUBJECTS", "").split()
raddle = os.path.join(build, "bin", "raddle")
IS_FULL = os.environ.get("BENCH_FULL") == "1"
kept = os.path.join(build, "bench", "branches", "measured" if IS_FULL else "measured-short")
SAMPLES = os.environ.get("SAMPLES", "60" if IS_FULL else "20")
TIME = os.environ.get("TIME", "45s" if IS_FULL else "5s")
JOBS = os.environ.get("JOBS", "2")
# Large subjects, with their -D options. None: the options stand in the EXPECT-TIMES line of the subject's header.
LARGE = {
    "hash_set": None,
    "tree_set": None,
    "lru_cache": None,
    "blocking_queue": "-DCAPACITY=4096 -DELEMENTS=4000",
    "molecular_dynamics": None,
    "monte_carlo": "-DTHREADS=4 -DWALKS=300 -DSTEPS=2000",
    "relaxation": "-DTHREADS=5 -DROWS=60 -DCOLUMNS=60 -DROUNDS=60",
    "traveling_salesman": "-DTHREADS=5 -DROUNDS=2000",
}


def source_of(name):
    for kind in ("buggy", "sensitive"):
        for path in glob.glob(os.path.join(sources, "subjects", kind, name, name + ".c*")):
            return path
    sys.exit("no subject %s" % name)


def small_subjects():
    names = []
    for path in glob.glob(os.path.join(sources, "subjects", "*", "*", "*.c*")):
        if " * EXPECT-BRANCH: " in open(path).read():
            names.append(os.path.basename(os.path.dirname(path)))
    return sorted(names)


def compile_subject(name, options):
    program = os.path.join(kept, name + ("_large" if options is not None else ""))
    path = source_of(name)
    compiler = "raddle-c++" if path.endswith(".cc") else "raddle-cc"
    subprocess.run([os.path.join(build, "bin", compiler), "-O1", "-g", "-UNDEBUG", "-pthread",
                    "-I" + os.path.join(sources, "include"), *shlex.split(options or ""), path, "-o", program],
                   check=True)
    return program


def large_options(name):
    if LARGE[name] is not None:
        return LARGE[name]
    return re.search(r" \* EXPECT-TIMES: .* paper=\S+ (-D.*)$", open(source_of(name)).read(), re.M).group(1)


def native_processor_seconds(program, cpus):
    """Returns the processor time of all threads of the program on these processors.

    Starts the program by posix_spawn, because the time of a fork of Python would count.
    """
    times, own = [], os.sched_getaffinity(0)
    nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    os.sched_setaffinity(0, cpus)
    for _ in range(7):
        usage = os.wait4(os.posix_spawn(program, [program], os.environ, file_actions=nowhere), 0)[2]
        times.append(usage.ru_utime + usage.ru_stime)
    os.sched_setaffinity(0, own)
    return sorted(times)[3]


def native_seconds(program):
    times = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return sorted(times)[2]


def branches(command, *options):
    """Returns the JSON result of raddle branches, with the time and peak memory of the command."""
    with tempfile.TemporaryDirectory() as folder:
        said, errors = (open(os.path.join(folder, name), "w+") for name in ("said", "errors"))
        start = time.perf_counter()
        child = subprocess.Popen([raddle, "branches", "--json", "--store", folder, *options, "--", *command],
                                 stdin=subprocess.DEVNULL, stdout=said, stderr=errors)
        status, usage = os.wait4(child.pid, 0)[1:]
        child.returncode = os.waitstatus_to_exitcode(status)
        took = time.perf_counter() - start
        for file in (said, errors):
            file.seek(0)
        if child.returncode not in (0, 1):
            sys.exit("raddle branches on %s: %s" % (command[0], errors.read()))
        result = json.load(said)
    result["seconds"] = took
    result["peak_kb"] = usage.ru_maxrss
    return result


def measured(name, what, make):
    """Returns the stored result of this raddle, else stores and returns the result of make()."""
    path = os.path.join(kept, "%s.%s.json" % (name, what))
    built = max(map(os.path.getmtime, [raddle, *glob.glob(os.path.join(build, "lib", "raddle", "*.so"))]))
    if os.path.exists(path) and os.path.getmtime(path) > built:
        return json.load(open(path))
    print("branches: %s, %s" % (name, what), file=sys.stderr)
    result = make()
    with open(path + ".new", "w") as file:
        json.dump(result, file)
    os.rename(path + ".new", path)
    return result


def measure_small(name):
    program = compile_subject(name, None)
    result = branches([program], "--sample", SAMPLES)
    result["native"] = native_seconds(program)
    return result


def measure_large(name):
    program = compile_subject(name, large_options(name))
    cpus = os.sched_getaffinity(0)
    result = {"native": native_seconds(program), "processor": native_processor_seconds(program, cpus),
              "processor_of_one": native_processor_seconds(program, {max(cpus)})}
    for way, options in (("distributed", []), ("window", ["--global-window"])):
        result[way] = branches([program], "-j", JOBS, "--time", TIME, "--queries", "40", "--query-time", "2s",
                               "--continuations", "5", *options)
    result["walks"] = walked(program)
    return result


WALKS = 5


def walked(program):
    """Returns the figures of a walk without solver queries. Of several walks, takes the one with the median time."""
    figures = [branches([program], "--queries", "0", "--time", "1ms", "--continuations", "0")["figures"]
               for _ in range(WALKS)]
    return sorted(figures, key=lambda one: one["walk_ns"] / max(1, one["instructions"]))[WALKS // 2]


def harmful(result):
    return sum(branch["class"] == "bug" for branch in result["branches"])


def size(value):
    for unit in ("", "k", "M", "G"):
        if value < 1000:
            return ("%d%s" if unit == "" else "%.3g%s") % (value, unit)
        value /= 1000
    return "%.3gT" % value


def seconds(value):
    return "%.0f ms" % (value * 1e3) if value < 1 else "%.1f s" % value


def print_table(heads, rows):
    widths = [max(len(str(row[i])) for row in [heads] + rows) for i in range(len(heads))]
    for row in [heads] + rows:
        print("  ".join(str(cell).ljust(width) if i == 0 else str(cell).rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))).rstrip())
    print()


def listed_in(lines):
    """Counts the EXPECT-BRANCH entries of the header by their source text."""
    texts = {}
    for line in lines:
        match = re.match(r" \* EXPECT-BRANCH: (.*) \[[a-z |]+\]( behind)?$", line)
        if match:
            texts[match.group(1)] = texts.get(match.group(1), 0) + 1
    return texts


def figures_row(name, native, result):
    figures = result["figures"]
    return [name, figures["threads"], size(figures["events"]), size(figures["critical_events"]),
            size(figures["branches"]), seconds(native), seconds(figures["run_ns"] / 1e9),
            size(figures["constraint_terms"] / max(1, figures["chunks"])),
            seconds(figures["solve_ns"] / 1e9), len(result["branches"]), harmful(result)]


HEADS = ["subject", "threads", "events", "critical", "branches", "native", "recording", "constraints", "solving",
         "sensitive", "harmful"]


def table_one(names):
    rows, table_three, missed, seen, found, lost = [], [], 0, 0, 0, 0
    listed, listed_found, others = 0, 0, 0
    for name in names:
        result = measured(name, "small", lambda: measure_small(name))
        rows.append(figures_row(name, result["native"], result))
        lines = open(source_of(name)).read().split("\n")
        samples = result["samples"]["branches"]
        wanted = listed_in(lines)
        listed += sum(wanted.values())
        for branch in result["branches"]:
            text = open(branch["path"]).read().split("\n")[branch["line"] - 1]
            text = re.sub(r"[ \t]*/\*.*$", "", text).strip()
            listed_found += wanted.get(text, 0) > 0
            others += not wanted.get(text, 0)
            wanted[text] = wanted.get(text, 0) - 1
        places = {(item["file"], item["line"]) for item in samples}
        missed += sum(not item["found"] for item in samples)
        seen += sum((branch["file"], branch["line"]) in places for branch in result["branches"])
        found += len(result["branches"])
        lost += len(result["unproven"]) + result["samples"]["lost"]
        for branch in result["branches"]:
            text = open(branch["path"]).read().split("\n")[branch["line"] - 1]
            text = re.sub(r"[ \t]*/\*.*$", "", text).strip()
            table_three.append([name, branch["function"], branch["line"], text[:60], branch["class"]])
    if not rows:
        return
    print("Table 1: small subjects, one chunk each\n")
    print_table(HEADS, rows)
    print("%d of the %d branches that headers list were found, and %d others; each was shown by a run\n"
          % (listed_found, listed, others))
    print("%s random runs of each subject: %d of %d branches are what a run did first, %d were shown by runs and "
          "missed by solving; answers that no run showed, and runs that could not be followed: %d\n"
          % (SAMPLES, seen, found, missed, lost))
    print("Table 3: what they are\n")
    print_table(["subject", "function", "line", "condition", "class"], table_three)


def table_two(names):
    rows, costs = [], []
    for name in names:
        result = measured(name, "large", lambda: measure_large(name))
        both = result["distributed"]
        figures, walks = both["figures"], result["walks"]
        rows.append(figures_row(name, result["native"], both))
        recorded = figures["run_processor_ns"] / 1e9
        costs.append([name, size(figures["instructions"]), "%.1fx" % (figures["run_ns"] / 1e9 / result["native"]),
                      "%.1fx" % (recorded / result["processor"]), "%.1fx" % (recorded / result["processor_of_one"]),
                      "%.3f" % (figures["record_bytes"] / max(1, figures["instructions"])),
                      size(3 * walks["instructions"] / (walks["walk_ns"] / 1e9)),
                      size(2 * walks["instructions"] / ((walks["walk_ns"] - walks["events_ns"]) / 1e9)),
                      "%.0f ns" % (walks["events_ns"] / max(1, walks["events"])),
                      len(both["branches"]), seconds(both["seconds"]), figures["unasked"],
                      len(result["window"]["branches"]), seconds(result["window"]["seconds"]),
                      result["window"]["figures"]["unasked"], size(both["peak_kb"] * 1024) + "B"])
    if not rows:
        return
    print("Table 2: large subjects, distributed partition\n")
    print_table(HEADS, rows)
    print("Distributed partition against the plain window, each with %s\n" % TIME)
    print_table(["subject", "instructions", "elapsed", "processor", "of one", "B/instr.", "walk/s", "plain/s", "event",
                 "distributed", "time", "unasked",
                 "window", "time", "unasked", "memory"], costs)


def text_for_pigz(lines):
    """Returns the same compressible text as tools/real-projects writes."""
    return "".join("%d line %d %d\n" % (i * 7919 % 1000003, i % 97, i) for i in range(1, lines + 1))


def measure_pigz(program):
    path = os.path.join(kept, "pigz.text")
    with open(path, "w") as file:
        file.write(text_for_pigz(3000))
    command = [program, "-n", "-k", "-f", "-p3", "-b32", "-c", path]
    result = branches(command, "--sample", SAMPLES, "--time", "5m" if IS_FULL else TIME)
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    result["native"] = time.perf_counter() - start
    return result


def table_four():
    """Measures pigz as built by tools/real-projects from Debian's source package."""
    program = os.path.join(build, "real-projects", "pigz", "source", "pigz")
    if not os.path.exists(program):
        print("Table 4: pigz was not measured: first tools/real-projects %s pigz\n" % build)
        return
    result = measured("pigz", "real", lambda: measure_pigz(program))
    samples = result["samples"]
    print("Table 4: pigz (Debian), 3000 lines in blocks of 32 kB by three threads\n")
    print_table(HEADS, [figures_row("pigz", result["native"], result)])
    rows = []
    for branch in result["branches"]:
        text = open(branch["path"]).read().split("\n")[branch["line"] - 1].strip()
        rows.append(["%s:%d" % (branch["file"], branch["line"]), branch["function"], text[:50], branch["variables"],
                     branch["class"]])
    print_table(["place", "function", "condition", "depends on", "class"], rows)
    print("Each was shown by a run; answers that no run showed: %d. %d random runs took %d branches another way first, "
          "%d of which solving missed.\n" % (len(result["unproven"]), samples["runs"], len(samples["branches"]),
                                            sum(not item["found"] for item in samples["branches"])))


os.makedirs(kept, exist_ok=True)
table_one([name for name in small_subjects() if not chosen or name in chosen])
table_two([name for name in LARGE if not chosen or name in chosen or "large" in chosen])
if not chosen or "pigz" in chosen:
    table_four()
