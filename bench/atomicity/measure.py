#!/usr/bin/env python3
"""measure.py BUILD SOURCES [--distances]: table 3 of Lai, Cheung and Chan (ICSE 2010) for raddle; see atomicity.md."""
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time

build, sources = sys.argv[1:3]
raddle = os.path.join(build, "bin", "raddle")
IS_FULL = os.environ.get("BENCH_FULL") == "1"
ATTEMPTS = int(os.environ.get("ATTEMPTS", "100" if IS_FULL else "20"))
APART = os.environ.get("APART", "2x")  # a number of steps, or (with x) a multiple of the program's own steps
DISTANCES = os.environ.get("DISTANCES", "0 0.5x 1x 2x 4x").split()
CANDIDATES = os.environ.get("CANDIDATES", "100")
SUBJECTS = os.environ.get("SUBJECTS", "buffer_append array_list linked_list hash_set tree_set linked_hash_set "
                          "molecular_dynamics ray_tracer monte_carlo lru_cache meta_search web_spider "
                          "http_request account_copy account_class wrapped_string_buffer wrapped_array_list wrapped_linked_list "
                          "wrapped_hash_set wrapped_tree_set wrapped_linked_hash_set").split()
# This folder stores one result file per subject. The same raddle does not measure a stored subject again.
KEEP = os.environ.get("KEEP", os.path.join(build, "bench", "atomicity", "rows"))
# These subjects have intended races in their barriers, so every run shows violations. The paper's rates omit them.
HAND_MADE = ["molecular_dynamics", "monte_carlo"]
METHODS = ["monitor", "race", "atomicity", "predict"]


def program(subject):
    return os.path.join(build, "subjects", "buggy", subject)


def native_seconds(subject, apart):
    times = []
    for _ in range(15):
        start = time.perf_counter()
        subprocess.run([program(subject), apart], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]


def predict(subject, apart, method, attempts, runs=20):
    """Returns the JSON result of raddle predict, and its elapsed seconds."""
    with tempfile.TemporaryDirectory() as store:
        start = time.perf_counter()
        done = subprocess.run(
            [raddle, "predict", "-j", "1", "--method", method, "--all-attempts", "--attempts", str(attempts),
             "--candidates", CANDIDATES, "--runs", str(runs), "--no-minimise", "--json", "-q", "--store", store,
             "--", program(subject), apart], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        took = time.perf_counter() - start
    if done.returncode not in (0, 1):
        sys.exit("raddle predict --method %s on %s: %s" % (method, subject, done.stderr))
    return json.loads(done.stdout), took


def steps_apart(subject, distance):
    """Returns the subject's argument: the pairs of steps (a lock, its release) by which the second writers start later."""
    if not distance.endswith("x"):
        return str(int(distance) // 2)
    answer, _ = predict(subject, "0", "monitor", 1)
    steps = sorted(run["steps"] for run in answer["runs"])
    return str(round(float(distance[:-1]) * steps[len(steps) // 2] / 2))


def expectations(subject):
    """Returns the violations that the subject's header names: pattern, and for each access the set of its lines."""
    for end in (".c", ".cc"):
        path = os.path.join(sources, "subjects", "buggy", subject, subject + end)
        if os.path.exists(path):
            text = open(path).read().splitlines()
    found = []
    for line in text:
        match = re.match(r" \* EXPECT-VIOLATION: (\S+) (\S+) (\S+)((?: @\w+)+)$", line)
        if match:
            found.append((match[1], [{n + 1 for n, other in enumerate(text)
                                      if re.search(r"/\* %s \*/" % anchor, other)}
                                     for anchor in match[4].split()]))
    return found


def is_seeded(candidate, expected):
    return any(candidate.get("pattern") == pattern and len(lines) == len(candidate["places"]) and
               all(any(abs(place["at"]["line"] - line) <= 1 for line in these)
                   for place, these in zip(candidate["places"], lines))
               for pattern, lines in expected)


def confirmed(answer):
    return [c for c in answer["candidates"] if c["state"].startswith("confirmed")]


def failing(answer):
    return [c for c in confirmed(answer) if c["state"].endswith("it fails")]


def signatures(answer):
    """Returns the signatures of the failures that the method's directed runs reached. Signatures are equal in all stores."""
    found = {c["finding"] for c in failing(answer)}
    return {f["signature"] for f in answer["findings"] if f["id"] in found}


def rate(answer, runs):
    """Returns the share of the runs that showed a violation, among all runs made for this purpose."""
    if answer["watched"]:
        return answer["watched_showing"] / answer["watched"]
    tried = [c for c in answer["candidates"] if c["runs"]]
    return sum(c["shown"] for c in tried) / max(1, sum(c["runs"] for c in tried))


def measure(subject, distance):
    apart = steps_apart(subject, distance)
    row = {"name": subject, "apart": apart, "native": native_seconds(subject, apart)}
    expected = expectations(subject)
    answers, took = {}, {}
    answers["predict"], took["predict"] = predict(subject, apart, "predict", ATTEMPTS)
    driven = sum(c["runs"] for c in answers["predict"]["candidates"])
    for method in METHODS[:-1]:
        attempts = max(driven, ATTEMPTS) if method == "monitor" else ATTEMPTS
        answers[method], took[method] = predict(subject, apart, method, attempts)
    for method, answer in answers.items():
        runs = answer["watched"] + sum(c["runs"] for c in answer["candidates"] if not answer["watched"])
        seconds = answer["seconds"]
        row[method] = {
            # Recording and inference are phase I, directed runs are phase II. Neither includes confirming replays.
            "first": (seconds["recording"] + seconds["inference"]) / max(1, len(answer["runs"])) / row["native"],
            "second": seconds["driving"] / runs / row["native"] if runs else None,
            "slowdown": took[method] / (runs + len(answer["runs"])) / row["native"],
            "seconds": took[method],
            "violations": len(confirmed(answer)),
            "rate": rate(answer, runs),
            "failures": len({c["finding"] for c in failing(answer)}),
            # 1 if a directed or monitored run of the method failed.
            "bugs": min(1, len(failing(answer))),
        }
    seeded = [c for c in answers["predict"]["candidates"] if is_seeded(c, expected)]
    row["seeded"] = max((c["shown"] / c["runs"] for c in seeded if c["runs"]), default=None)
    others = set().union(*(signatures(answers[m]) for m in METHODS[:-1]))
    row["missed"] = len(others - signatures(answers["predict"]))
    row["candidates"] = len(answers["predict"]["candidates"])
    row["runs"] = driven
    return row


def watched_and_driven(subject, distance):
    """Measures prediction and monitoring alone, with equal numbers of runs."""
    apart = steps_apart(subject, distance)
    driven, _ = predict(subject, apart, "predict", ATTEMPTS)
    runs = sum(c["runs"] for c in driven["candidates"])
    watched, _ = predict(subject, apart, "monitor", max(runs, ATTEMPTS))
    return {"apart": apart, "runs": runs, "monitor": [len(confirmed(watched)), rate(watched, runs)],
            "predict": [len(confirmed(driven)), rate(driven, runs)]}


def kept(make, subject, distance):
    """Returns make(subject, distance), or its stored result if settings, raddle and subject are unchanged."""
    if not KEEP:
        return make(subject, distance)
    now = [os.stat(path).st_mtime_ns for path in (raddle, program(subject))]
    settings = [ATTEMPTS, distance, CANDIDATES, now]
    path = os.path.join(KEEP, "%s-%s-%s.json" % (make.__name__, subject, distance))
    if os.path.exists(path):
        found = json.load(open(path))
        if found["settings"] == settings:
            return found["row"]
    row = make(subject, distance)
    os.makedirs(KEEP, exist_ok=True)
    with open(path + ".new", "w") as file:
        json.dump({"settings": settings, "row": row}, file)
    os.rename(path + ".new", path)
    return row


def mean_of(values):
    values = [v for v in values if v]
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else 0


def number(value, digits=2):
    return "-" if value is None else "%.*f" % (digits, value)


def show_distances():
    print("violations and detection rates, %d attempts for each candidate: monitor, predict" % ATTEMPTS)
    print("%-23s" % "second threads apart" + "".join(" | %17s" % distance for distance in DISTANCES))
    sums = {distance: [0, 0, 0.0, 0.0] for distance in DISTANCES}
    for subject in SUBJECTS:
        line = "%-23s" % subject
        for distance in DISTANCES:
            row = kept(watched_and_driven, subject, distance)
            cells = row["monitor"][0], row["predict"][0], row["monitor"][1], row["predict"][1]
            sums[distance] = [a + b for a, b in zip(sums[distance], cells)]
            line += " | %3d %3d %4.2f %4.2f" % cells
        print(line, flush=True)
    print("%-23s" % "sum, mean rate" + "".join(" | %3d %3d %4.2f %4.2f" % (
        *cells[:2], cells[2] / len(SUBJECTS), cells[3] / len(SUBJECTS)) for cells in sums.values()))


def show_table():
    print("%s attempts for each candidate, at most %s candidates, second threads %s apart" %
          (ATTEMPTS, CANDIDATES, APART))
    print("%-23s %7s | %-27s | %-11s | %-9s | %-17s | %-8s | %s" %
          ("subject", "native", "slowdown: rm  rf  atf  pred", "phases", "violat.", "rate", "failures", "bugs"))
    print("%-23s %7s | %27s | %11s | %9s | %17s | %8s | %s" %
          ("", "ms", "", "I    II", "rm  pred", "rm  pred seeded", "rf atf p", "rm rf atf p"))
    rows = []
    for subject in SUBJECTS:
        row = kept(measure, subject, APART)
        rows.append(row)
        print("%-23s %7.2f | %6.1f %6.1f %6.1f %6.1f | %5.1f %5s | %4d %4d | %5.2f %5.2f %5s | %2d %2d %2d | %d %d %d %d" % (
            subject, row["native"] * 1e3, *(row[m]["slowdown"] for m in METHODS),
            row["predict"]["first"], number(row["predict"]["second"], 1),
            row["monitor"]["violations"], row["predict"]["violations"],
            row["monitor"]["rate"], row["predict"]["rate"], number(row["seeded"]),
            row["race"]["failures"], row["atomicity"]["failures"], row["predict"]["failures"],
            *(row[m]["bugs"] for m in METHODS)), flush=True)
    mean = {m: mean_of(r[m]["slowdown"] for r in rows) for m in METHODS}
    total = {m: sum(r[m]["violations"] for r in rows) for m in METHODS}
    rates = {m: sum(r[m]["rate"] for r in rows) / len(rows) for m in ("monitor", "predict")}
    seeded = [r["seeded"] for r in rows if r["seeded"] is not None]
    print("slowdown, geometric mean: " + ", ".join("%s %.1f" % (m, mean[m]) for m in METHODS))
    print("  of predict's phase I (recording, inference) %.1f, phase II (driving) %.1f" % tuple(
        mean_of(r["predict"][phase] for r in rows) for phase in ("first", "second")))
    print("violations: monitor %d, predict %d (%.1f times)" % (
        total["monitor"], total["predict"], total["predict"] / max(1, total["monitor"])))
    plain = [r for r in rows if r["name"] not in HAND_MADE]
    print("  without hand-made barriers: monitor %d, predict %d" % tuple(
        sum(r[m]["violations"] for r in plain) for m in ("monitor", "predict")))
    print("detection rate: monitor %.3f, predict %.3f (%s times); of seeded violations %.3f on average, %.2f at least" %
          (rates["monitor"], rates["predict"],
           number(rates["predict"] / rates["monitor"] if rates["monitor"] else None, 1),
           sum(seeded) / max(1, len(seeded)), min(seeded, default=0)))
    print("failures that others found and predict missed: %d" % sum(r["missed"] for r in rows))
    print("longest: %.1f s" % max(r[m]["seconds"] for r in rows for m in METHODS))


if "--distances" in sys.argv[3:]:
    show_distances()
else:
    show_table()
