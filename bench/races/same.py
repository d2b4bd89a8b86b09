"""Compares the races that ThreadSanitizer and raddle find in the subjects; see races.md."""
import argparse
import json
import os
import re
import subprocess
import sys

OPTIONS = ["-O1", "-g", "-UNDEBUG", "-pthread"]
SECONDS = 20  # time limit of a campaign


def compile_both(subject, options, work):
    name, source, sizes = subject
    cxx = source.endswith(".cc")
    flags = OPTIONS + ["-I" + options.include] + (["-DN=" + sizes[0]] if sizes else [])
    programs = []
    for suffix, command in (
        (".tsan", [options.clang.replace("clang", "clang++") if cxx else options.clang, "-fsanitize=thread"]),
        (".sites", [os.path.join(options.build, "bin/raddle-c++" if cxx else "bin/raddle-cc")]),
    ):
        program = os.path.join(work, name + suffix)
        subprocess.run(command + flags + [source, "-o", program, "-lm"], check=True, stderr=subprocess.DEVNULL)
        programs.append(program)
    return programs


def line_of(stack, source):
    """Returns the line of the innermost frame in the subject's source; None: no frame is in the source."""
    for line in stack:
        found = re.search(re.escape(os.path.basename(source)) + r":(\d+)", line)
        if found:
            return int(found.group(1))
    return None


def by_tsan(program, source, runs):
    pairs = set()
    environment = dict(os.environ, TSAN_OPTIONS="exitcode=0 history_size=7 report_signal_unsafe=0")
    for _ in range(runs):
        try:
            run = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=10, check=False)
            output = run.stderr
        except subprocess.TimeoutExpired as late:
            output = (late.stderr or b"").decode()
        for report in re.split(r"={18}", output):
            if "WARNING: ThreadSanitizer: data race" not in report:
                continue
            stacks = re.findall(
                r"(?:[Rr]ead|[Ww]rite) of size [^\n]*\n((?:\s+#\d[^\n]*\n)+)", report)
            lines = [line_of(stack.split("\n"), source) for stack in stacks[:2]]
            if len(lines) == 2 and None not in lines:
                pairs.add(tuple(sorted(lines)))
    return pairs


def by_raddle(raddle, program, source, schedules, work):
    pairs = set()
    run = subprocess.run(
        [raddle, "run", "-k", "--fail-on", "race", "--schedules", str(schedules), "--time", f"{SECONDS}s",
         "--store", os.path.join(work, "store"), "--json", "--", program],
        capture_output=True, text=True, timeout=SECONDS * 10, check=False)
    if run.returncode > 1:
        sys.exit(f"{program}: {run.stderr}")
    for finding in json.loads(run.stdout)["findings"]:
        if finding["kind"] != "race":
            continue
        lines = []
        for access in finding["race"]["accesses"]:
            stack = [f"{os.path.basename(frame['file'] or '')}:{frame['line']}" for frame in access["at"]]
            lines.append(line_of(stack, source))
        if None not in lines:
            pairs.add(tuple(sorted(lines)))
    return pairs


def subjects(folder, wanted):
    for name in sorted(os.listdir(folder)):
        for ending in (".c", ".cc"):
            source = os.path.join(folder, name, name + ending)
            if os.path.exists(source) and (not wanted or name in wanted):
                with open(source, encoding="utf-8") as file:
                    sizes = re.search(r" sizes=([0-9,]+)", file.readline())
                yield name, source, sizes.group(1).split(",") if sizes else None


def compared(subject, options):
    """Returns the races of both tools: measured now, or stored by a run with the same raddle, source and settings."""
    raddle = os.path.join(options.build, "bin/raddle")
    times = [os.stat(path).st_mtime_ns for path in (raddle, subject[1])]
    settings = [options.runs, options.schedules, times]
    folder = os.path.join(options.build, "bench", "races", "rows")
    path = os.path.join(folder, subject[0] + ".json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
        if kept["settings"] == settings:
            return [{tuple(pair) for pair in pairs} for pairs in kept["pairs"]]
    tsan_program, program = compile_both(subject, options, options.work)
    pairs = [by_tsan(tsan_program, subject[1], options.runs),
             by_raddle(raddle, program, subject[1], options.schedules, options.work)]
    os.makedirs(folder, exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump({"settings": settings, "pairs": [sorted(each) for each in pairs]}, file)
    os.rename(path + ".new", path)
    return pairs


def words(pairs):
    return " ".join(f"{first}-{second}" for first, second in sorted(pairs)) or "none"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("work")
    parser.add_argument("table")
    parser.add_argument("--clang", default="clang-19")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--schedules", type=int, default=1000)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))
    os.makedirs(os.path.join(options.work, "store"), exist_ok=True)
    options.include = os.path.join(here, "../../include")
    count = racy = both = only_tsan = only_raddle = 0
    rows = []
    for subject in subjects(os.path.join(here, "../../subjects/buggy"), options.names):
        theirs, ours = compared(subject, options)
        count += 1
        if not theirs and not ours:
            continue
        racy += 1
        both += len(theirs & ours)
        only_tsan += len(theirs - ours)
        only_raddle += len(ours - theirs)
        missed = "" if theirs <= ours else " missed: " + words(theirs - ours)
        rows.append(f"{subject[0]}\t{len(ours)}\tThreadSanitizer {len(theirs)}{missed}\tall of its")
        print(f"{subject[0]}: raddle {words(ours)}; ThreadSanitizer {words(theirs)}", file=sys.stderr, flush=True)
    with open(options.table, "a", encoding="utf-8") as table:
        table.write("races: pairs of racing lines in the subjects\n")
        table.write("\n".join(rows) + "\n")
        table.write(f"{racy} of {count} subjects have races\t{both + only_raddle}\t"
                    f"ThreadSanitizer {both + only_tsan}, of them also by raddle {both}\t \n")


if __name__ == "__main__":
    main()
