#!/usr/bin/env python3
"""measure.py BUILD [COMMAND...]: measures the time from SIGINT to the end of each command, and how far --time is exceeded.

See interrupts.md.
"""
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
build = os.path.abspath(sys.argv[1])
chosen = sys.argv[2:]
raddle = os.path.join(build, "bin/raddle")
is_full = os.environ.get("BENCH_FULL") == "1"
# The short table takes less than ten minutes on an idle machine: 52 commands and programs of some seven seconds each.
moments = int(os.environ.get("MOMENTS", "40" if is_full else "3"))
budgets = (1, 2, 4, 8) if is_full else (1, 3)
# A command that does not end is killed after this many seconds.
GIVE_UP = 60
# SIGINT arrives within this time, even if the command would run for longer.
LATEST = 6.0 if is_full else 3.0


def compile_programs(folder):
    """Builds each program twice: by gcc, and by raddle-cc, which instruments its memory accesses."""
    found = {}
    for name in ("fast", "waits", "computes", "threads"):
        source = os.path.join(here, name + ".c")
        for kind, compiler in (("plain", ["gcc", "-O1", "-g", "-pthread"]),
                               ("visible", [os.path.join(build, "bin/raddle-cc"), "-O1", "-g", "-pthread"])):
            program = os.path.join(folder, name + "-" + kind)
            subprocess.run(compiler + [source, "-o", program], check=True)
            found[name, kind] = (program, kind == "visible")
    return found


def start(command, folder):
    return subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL,
                            stdout=open(os.path.join(folder, "out"), "w"),
                            stderr=open(os.path.join(folder, "err"), "w"), start_new_session=True)


def wait(process):
    """Returns the exit status; None if the command did not end and was killed."""
    try:
        return process.wait(GIVE_UP)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def duration(command, folder):
    begun = time.monotonic()
    process = start(command, folder)
    try:
        process.wait(LATEST)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        wait(process)
    return time.monotonic() - begun


def latencies(command, folder):
    """Returns the seconds from SIGINT to the command's end, with SIGINT sent at times spread over its duration."""
    whole = min(duration(command, folder), LATEST)
    found = []
    for number in range(moments):
        process = start(command, folder)
        moment = whole * (number + 0.5) / moments
        try:
            process.wait(moment)
            continue  # the command ended before SIGINT
        except subprocess.TimeoutExpired:
            pass
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        status = wait(process)
        found.append((time.monotonic() - sent, moment, status))
    return found


def row(what, measured, compared=""):
    line = "%s\t%s\t%s\t " % (what, measured, compared)
    if os.environ.get("BENCH_TABLE"):
        with open(os.environ["BENCH_TABLE"], "a") as table:
            table.write(line + "\n")
    print("%-44s %-40s %s" % (what, measured, compared), flush=True)


def with_time(command, budget):
    """Returns the command with its --time replaced by this budget."""
    words = list(command)
    if "--time" in words:
        at = words.index("--time")
        del words[at:at + 2]
    return words[:2] + ["--time", "%ds" % budget] + words[2:]


def measure(what, command, folder, budget_option):
    found = latencies(command, folder)
    if found:
        times = sorted(one[0] for one in found)
        slowest = max(found)
        row(what, "median %.2f, longest %.2f s" % (statistics.median(times), times[-1]),
            "%d moments, longest at %.2f s%s" % (len(times), slowest[1],
            "" if slowest[2] is not None else ", killed"))
    for budget in budgets if budget_option else ():
        begun = time.monotonic()
        process = start(with_time(command, budget), folder)
        status = wait(process)
        used = time.monotonic() - begun
        row("%s --time %ds" % (what, budget), "%.2f s" % used,
            "%.2f of the budget, status %s" % (used / budget, status))


COMMANDS = {  # words, whether --time is measured, whether the program is built by raddle-cc
    "run": (["run", "--time", "0"], True, False),
    "run-exec": (["run", "--time", "0", "--restart", "exec"], False, False),
    "run-dpor": (["run", "--time", "0", "--strategy", "dpor"], False, False),
    "follow": (["run", "--time", "0", "--follow-children"], False, False),
    "predict": (["predict"], True, True),
    "predict-deadlocks": (["predict", "--deadlocks"], True, False),
    "branches": (["branches"], True, True),
    "explain": (["explain", "F1"], True, True),
    "replay": (["replay", "F1"], False, True),
    "report": (["report", "--html"], False, True),
    "merge": (["merge", ".", "other"], False, True),
    "list": (["list", "findings"], False, True),
}
OF_FINDINGS = ("explain", "replay", "report", "merge", "list")


def record(program, folder):
    """Makes a store with the findings of a campaign of five seconds. Each command that reads findings gets a copy."""
    os.makedirs(folder)
    wait(start([raddle, "run", "--time", "5s", "--", program], folder))
    return folder


def main():
    # A shell starts background jobs with SIGINT ignored, and programs keep that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    top = tempfile.mkdtemp(prefix="raddle-interrupts.")
    try:
        recorded = {}
        for name, (program, visible) in compile_programs(top).items():
            for command, (words, has_time, wants_visible) in COMMANDS.items():
                if (chosen and command not in chosen and name[0] not in chosen) or visible != wants_visible:
                    continue
                folder = tempfile.mkdtemp(dir=top)
                words = [raddle] + words
                if command in OF_FINDINGS:
                    if program not in recorded:
                        recorded[program] = record(program, program + ".found")
                    if not os.path.exists(os.path.join(recorded[program], ".raddle", "findings", "F1")):
                        continue
                    for store in (folder, os.path.join(folder, "other")):
                        shutil.copytree(recorded[program], store, dirs_exist_ok=True)
                else:
                    words += ["--", program]
                measure("%s %s" % (command, name[0]), words, folder, has_time)
    finally:
        shutil.rmtree(top, ignore_errors=True)


main()
