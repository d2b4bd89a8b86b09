"""Runs raddle explain on every subject whose header names the true pattern, and ranks that pattern; see explain.md."""
import argparse
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

RUNS = [10, 20, 50, 100, 200, 500, 1000]
WINDOWS = [2, 3, 4, 5, 7, 10, 20, 50]
COST_LIMIT = 1.5
FAILED_LEAST = 5  # failing runs among 100; with fewer, raddle chooses the number of runs


class Subject:
    """A program with its true patterns, each a kind and lines. Any of the patterns is a right answer."""

    def __init__(self, build, source, program):
        self.program = program
        self.name = os.path.basename(program)
        self.options = []
        self.patterns = []
        with open(source, encoding="utf-8") as file:
            lines = file.read().split("\n")
        options = re.search(r" options=(\S+)", lines[0])
        if options:
            self.options = options.group(1).split(",")
        anchors = {}
        for number, line in enumerate(lines, 1):
            # Anchors are defined in the code, each in a comment that contains only anchors. The header refers to them.
            for anchor in re.findall(r"/\*\s*((?:@\w+\s*)+)\*/", line):
                for name in anchor.split():
                    anchors.setdefault(name[1:], number)
        for line in lines:
            found = re.search(r"EXPECT-PATTERN:\s*(\S+)\s+(.*?)\s*(?:\*/)?$", line)
            if found:
                places = re.findall(r"@(\w+)", found.group(2))
                missing = [place for place in places if place not in anchors]
                if missing:
                    sys.exit(f"{source}: no line is marked @{missing[0]}")
                self.patterns.append((found.group(1), [anchors[place] for place in places]))

    def is_true(self, pattern):
        lines = [access["line"] for access in pattern["accesses"]]
        return any(kind == pattern["pattern"] and lines == wanted for kind, wanted in self.patterns)


def find_subjects(build, wanted):
    folder = os.path.join(os.path.dirname(__file__), "../../subjects/buggy")
    subjects = []
    for name in sorted(os.listdir(folder)):
        for ending in (".c", ".cc"):
            source = os.path.join(folder, name, name + ending)
            program = os.path.join(build, "subjects/buggy", name)
            if not os.path.exists(source) or not os.path.exists(program):
                continue
            subject = Subject(build, source, program)
            if subject.patterns and (not wanted or name in wanted):
                subjects.append(subject)
    return subjects


class Bench:
    def __init__(self, options):
        self.raddle = options.raddle
        self.work = options.work
        self.full = options.full == "1"
        # Stores results for this build of raddle, so that an interrupted measurement continues.
        self.kept = os.path.join(options.build, "bench", "explain", "kept")
        os.makedirs(self.kept, exist_ok=True)
        self.built = max(map(os.path.getmtime, [
            self.raddle, *glob.glob(os.path.join(options.build, "lib", "raddle", "*.so"))]))

    def is_kept(self, path, program):
        return os.path.exists(path) and os.path.getmtime(path) > max(
            self.built, os.path.getmtime(program))

    def once(self, program, what, make):
        key = hashlib.sha256(repr((program, what)).encode()).hexdigest()[:20]
        path = os.path.join(self.kept, "%s-%s.json" % (os.path.basename(program), key))
        if self.is_kept(path, program):
            with open(path, encoding="utf-8") as file:
                return json.load(file)
        result = make()
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(result, file)
        os.rename(path + ".new", path)
        return result

    def store(self, subject):
        return os.path.join(self.kept, subject.name)

    def find(self, subject):
        """Makes the finding to explain: F1 in the subject's own store."""
        finding = os.path.join(self.store(subject), ".raddle/findings/F1")
        if self.is_kept(finding, subject.program):
            return True
        shutil.rmtree(self.store(subject), ignore_errors=True)
        os.mkdir(self.store(subject))
        subprocess.run(
            [self.raddle, "run", "--quiet", "--time", "60s", "--store", self.store(subject)]
            + subject.options + ["--", subject.program],
            stdout=subprocess.DEVNULL, check=False, timeout=120)
        return os.path.exists(finding)

    def explain(self, subject, *options):
        return self.once(subject.program, options, lambda: self.explain_now(subject, *options))

    def explain_now(self, subject, *options):
        done = subprocess.run(
            [self.raddle, "explain", "F1", "--json", "--store", self.store(subject), *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=300)
        if done.returncode != 0:
            sys.exit(f"explain: {subject.name}: {done.stderr.decode()}")
        return json.loads(done.stdout)

    def cost(self, subject, runs):
        return self.once(subject.program, ("cost", runs), lambda: self.cost_now(subject, runs))

    def cost_now(self, subject, runs):
        done = subprocess.run(
            [self.raddle, "explain", "F1", "--measure", "--runs", str(runs), "--strategy", "random",
             "--store", self.store(subject)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=300)
        if done.returncode != 0:
            return None
        cost = json.loads(done.stdout)
        return cost["with_ns"] / cost["without_ns"]


def true_record(subject, result):
    """Returns the best-ranked true pattern; None: no run showed a true pattern."""
    found = [record for record in result["patterns"] if subject.is_true(record)]
    return min(found, key=lambda record: record["rank_mean"]) if found else None


def rank_or_chance(subject, result):
    """Returns the mean rank of the true pattern. A true pattern without a rank counts as the middle of all patterns."""
    record = true_record(subject, result)
    if record and record["score"] > 0:
        return record["rank_mean"]
    return max(1, (result["pattern_count"] + 1) / 2)


def causes(result):
    return [answer for answer in result["answers"] if answer["verdict"] == "cause"]


def to_look_at(subject, result, is_shown):
    """Returns the expected number of patterns, read in random order, up to and including the true one."""
    shown = [record for record in result["patterns"] if is_shown(record)]
    if not any(subject.is_true(record) for record in shown):
        return None
    return (len(shown) + 1) / 2


def number(value, form="%g"):
    return "-" if value is None else form % value


def explain_all(bench, subjects, rows):
    """Appends one row per subject to `rows`, and counts the subjects that reach each target."""
    wanted = {"first": 0, "second": 0, "cause": 0, "all": 0}
    for subject in subjects:
        print(subject.name, file=sys.stderr)
        if not bench.find(subject):
            rows.append([subject.name, "not found"])
            wanted["all"] += 1
            continue
        result = bench.explain(subject, "--runs", "100", "--exactly", "--answers", "5")
        if result["failed"] < FAILED_LEAST:
            result = bench.explain(subject, "--runs", "100", "--answers", "5")
        record = true_record(subject, result)
        found = causes(result)
        is_true_cause = [answer for answer in found if subject.is_true(answer) or
                         (record and answer["explanation"] == record["explanation"])]
        is_only = len(found) == 1 and len(is_true_cause) == 1
        rank = record["explanation"] if record and record["score"] > 0 else None
        wanted["all"] += 1
        wanted["first"] += rank == 1
        wanted["second"] += rank is not None and rank <= 2
        wanted["cause"] += is_only
        ratio = bench.cost(subject, 300)
        avio = to_look_at(subject, result, lambda one: one["failed"] and not one["passed"])
        rows.append([
            subject.name,
            "%d/%d" % (result["failed"], result["failed"] + result["passed"]),
            "%s" % result["pattern_count"],
            number(rank),
            number(record and record["rank_mean"]),
            number(record and record["rank_worst"]),
            "only cause" if is_only else "%d causes%s" % (
                len(found), ", the true one among them" if is_true_cause else ""),
            number(avio),
            number(to_look_at(subject, result, lambda one: True)),
            number(ratio, "%.2f")])
    return wanted


def series(bench, subjects, option, values, seeds):
    means = []
    for value in values:
        ranks = []
        for subject in subjects:
            if not os.path.exists(os.path.join(bench.store(subject), ".raddle/findings/F1")):
                continue
            for seed in range(1, seeds + 1):
                options = ["--no-cause", "--exactly", "--seed", str(seed), option, str(value)]
                if option != "--runs":
                    options += ["--runs", "100"]
                ranks.append(rank_or_chance(subject, bench.explain(subject, *options)))
        means.append(sum(ranks) / len(ranks) if ranks else 0)
    return means


def draw(path, title, unit, values, means):
    """Draws the means as an SVG line; the values stand at equal distances on the horizontal axis."""
    width, height, left, bottom = 480, 280, 50, 40
    top = max(means + [2])
    at = [(left + (width - left - 20) * i / (len(values) - 1),
           height - bottom - (height - bottom - 40) * (mean - 1) / (top - 1))
          for i, mean in enumerate(means)]
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             f'<text x="{left}" y="20">{title}</text>',
             f'<polyline fill="none" stroke="#06c" stroke-width="2" points="'
             + " ".join("%.1f,%.1f" % point for point in at) + '"/>']
    for (x, y), value, mean in zip(at, values, means):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#06c"/>')
        parts.append(f'<text x="{x:.1f}" y="{y - 8:.1f}" text-anchor="middle">{mean:.2f}</text>')
        parts.append(f'<text x="{x:.1f}" y="{height - bottom + 16}" text-anchor="middle">{value}</text>')
    parts.append(f'<line x1="{left}" y1="{height - bottom}" x2="{width - 20}" y2="{height - bottom}" stroke="#888"/>')
    parts.append(f'<text x="{(left + width - 20) / 2}" y="{height - 6}" text-anchor="middle">{unit}</text></svg>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n")


def main():
    parser = argparse.ArgumentParser()
    for name in ("raddle", "build", "work", "full", "subjects", "drawings"):
        parser.add_argument("--" + name)
    options = parser.parse_args()
    bench = Bench(options)
    subjects = find_subjects(options.build, options.subjects.split())
    rows = []
    wanted = explain_all(bench, subjects, rows)
    print("explain: rank of the true pattern (by conflict; by pattern, ties at their mean and worst rank)")
    print("\t".join(["subject", "failed/runs", "patterns", "rank", "of patterns", "worst", "verdict",
                     "AVIO: to look at", "plain: to look at", "cost of recording"]))
    for row in rows:
        print("\t".join(row))
    if wanted["all"]:
        share = 100 / wanted["all"]
        print("explain: of %d subjects %.0f %% first (wanted 90), %.0f %% first or second (100), "
              "%.0f %% the only cause (95)" % (
                  wanted["all"], share * wanted["first"], share * wanted["second"],
                  share * wanted["cause"]))
    bodies = Subject.__new__(Subject)
    bodies.name, bodies.program, bodies.options = "nbody", os.path.join(options.work, "nbody"), []
    bodies.name = "bodies"
    if bench.find(bodies):
        print("explain: cost of recording on bodies that attract each other: %s (wanted at most %.1f)"
              % (number(bench.cost(bodies, 30), "%.2f"), COST_LIMIT))
    seeds = 5 if bench.full else 1
    if subjects:
        for option, values, name, unit in (
                ("--runs", RUNS, "runs", "runs"), ("--window", WINDOWS, "window", "accesses in the window")):
            means = series(bench, subjects, option, values, seeds)
            print("explain: mean rank over %s: %s" % (
                unit, ", ".join("%d: %.2f" % pair for pair in zip(values, means))))
            draw(os.path.join(options.drawings, name + ".svg"),
                 "mean rank of the true pattern among all, %d subjects" % len(subjects), unit, values, means)


main()
