"""Test suites of Debian packages, natively and under `raddle test`: bench/suites/suites.md."""

import argparse
import glob
import json
import os
import subprocess
import sys
import time

# options and targets: of the build; programs: paths in the build; folder: where they run, {build} or {source};
# names: a command that prints the names of the cases; select: the arguments of a case; seconds: for all its
# programs; skipped: the exit status of a case that does not apply, if not 77; tsan: also built with -fsanitize=thread.
PACKAGES = {
    "spdlog": dict(
        runner="Catch2", tsan=True, seconds=60, folder="{build}/tests", programs=["tests/spdlog-utests"],
        options="-DSPDLOG_BUILD_TESTS=ON -DSPDLOG_FMT_EXTERNAL=ON -DSPDLOG_BUILD_EXAMPLE=OFF"),
    "leveldb": dict(
        runner="GoogleTest", tsan=True, folder="{build}", options="-DLEVELDB_BUILD_BENCHMARKS=OFF",
        environment={"BENCHMARK_FILTER": "none"},  # db_test begins with benchmarks
        programs=["env_test", "autocompact_test", "fault_injection_test", "db_test"]),
    "libuv1": dict(
        runner="its own", tsan=True, seconds=90, folder="{source}", programs=["uv_run_tests_a"], skipped=7,
        environment={"UV_RUN_AS_ROOT": "1"}, select="{} {}",
        # A test with helpers needs its runner, which starts them.
        names="{program} --list | sed '/helpers:/d; s/ .*//' | sort"),
    "libevent": dict(
        runner="tinytest", seconds=90, folder="{build}", programs=["bin/regress"], names="{program} --list-tests | sed -n 's/^ *\\([a-z_0-9]*\\/[^ ]*\\).*/\\1/p'",
        select="{}", options="-DEVENT__DISABLE_OPENSSL=ON -DEVENT__DISABLE_MBEDTLS=ON -DEVENT__LIBRARY_TYPE=STATIC "
        "-DEVENT__DISABLE_BENCHMARK=ON -DEVENT__DISABLE_SAMPLES=ON"),
    "zeromq3": dict(
        runner="Unity, programs", folder="{build}", programs=["bin/test_*"],
        seconds=315,  # 3 s for each of 105 programs, whose sleeps are real because they wait for sockets
        options="-DBUILD_TESTS=ON -DWITH_PERF_TOOL=OFF -DBUILD_STATIC=OFF"),
    "czmq": dict(
        runner="its own", seconds=60, folder="{build}", programs=["czmq_selftest"], select="-t {}",
        names="{program} -l | sed -n 's/^ *\\(z[a-z0-9_]*\\) .*/\\1/p'", options="-DCMAKE_C_FLAGS_RELWITHDEBINFO=-g"),  # its asserts are the tests
    "onetbb": dict(
        runner="doctest", folder="{build}", options="-DTBB_STRICT=OFF",
        targets="test_concurrent_queue test_semaphore test_task_group test_collaborative_call_once test_global_control",
        programs=["gnu*/test_[a-z]*"]),
    "abseil": dict(
        runner="GoogleTest", folder="{build}", programs=["bin/absl_*_test"],
        options="-DABSL_BUILD_TESTING=ON -DBUILD_TESTING=ON -DABSL_USE_EXTERNAL_GOOGLETEST=ON "
        "-DABSL_FIND_GOOGLETEST=ON -DCMAKE_CXX_STANDARD=14",
        targets="absl_mutex_test absl_barrier_test absl_blocking_counter_test absl_notification_test absl_per_thread_sem_test"),
}


def run_natively(case, folder, environment):
    """Returns the exit status; 124: it did not end."""
    words = dict(word.split("=", 1) for word in case.get("environment", []))
    try:
        return subprocess.run(case["command"], cwd=folder, env={**environment, **words}, timeout=120, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    except subprocess.TimeoutExpired:
        return 124


def explore(arguments, package, program, build, seconds, options):
    """Returns the suite of one program as raddle test prints it; the runs are made in a folder of their own store."""
    spec = PACKAGES[package]
    source = os.path.join(arguments.folder, package, "source")
    folder = spec["folder"].format(build=build, source=source)
    environment = {**os.environ, **spec.get("environment", {})}
    command = [arguments.raddle, "test", "--json", "--time", f"{seconds}s", "--store", arguments.work, *options]
    if "names" in spec:
        command += ["--list-command", spec["names"].format(program=program), "--case-args", spec["select"]]
    done = subprocess.run(command + ["--", program], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", check=False)
    if not done.stdout.startswith("{"):
        sys.exit(f"suites: {' '.join(command)} -- {program}: {done.stderr}")
    suite = json.loads(done.stdout)
    for case in suite["cases"]:
        case["native"] = run_natively(case, folder, environment)
    return suite


def is_skipped(spec, case):
    return case["native"] == spec.get("skipped", 77)


def describe_differences(package, form, suites):
    spec = PACKAGES[package]
    for suite in suites:
        titles = {}
        for finding in suite["findings"]:
            for name in finding["cases"]:
                titles.setdefault(name, []).append(finding["title"])
        for case in suite["cases"]:
            result, native = case["result"], case["native"]
            expected = "skipped" if is_skipped(spec, case) else "passed" if native == 0 else "failed"
            if result == "not run" or result == expected and (native or not case["depends_on_schedule"]):
                continue
            text = case.get("error") or "; ".join(titles.get(case["name"], [])) or result
            if result == "failed":
                text += ", in some schedules" if case["depends_on_schedule"] else ", in every schedule"
            natively = "passes" if native == 0 else "does not end" if native == 124 else f"ends with status {native}"
            yield f"  {package}{form}, {case['name']}: {natively} natively; {text}"


def measure(arguments, package, form):
    spec = PACKAGES[package]
    build = os.path.join(arguments.folder, "b", package + ("" if form == "plain" else f"-{form}-tsan"))
    programs = sorted(path for pattern in spec["programs"] for path in glob.glob(os.path.join(build, pattern))
                      if os.access(path, os.X_OK) and os.path.isfile(path))
    total = spec.get("seconds", 30) * (10 if arguments.full == "1" else 1)
    begun = time.monotonic()
    seconds = max(1, total // len(programs))
    options = ["--skip-status", str(spec.get("skipped", 77))] + ([] if form == "plain" else ["--fail-on", "race"])
    suites = [explore(arguments, package, program, build, seconds, options) for program in programs]
    cases = [case for suite in suites for case in suite["cases"]]
    print(f"{package} {form}: {time.monotonic() - begun:.0f} s with the native runs", file=sys.stderr)
    native = [case for case in cases if case["native"] and not is_skipped(spec, case)]
    failed = [case for case in cases if case["result"] == "failed"]
    depending = sum(case["depends_on_schedule"] is True for case in failed)
    row = [package, form, spec["runner"], len(cases), sum(case["state"] in (1, 3) for case in cases),
           sum(case["result"] == "skipped" for case in cases), len(native), len(failed) - depending, depending,
           sum(case["result"] in ("error", "not run") for case in cases),
           f"{sum(case['schedules'] for case in cases):,}", f"{sum(suite['seconds'] for suite in suites):.0f} s"]
    return row, list(describe_differences(package, "" if form == "plain" else f" ({form})", suites))


def measure_once(arguments, package, form):
    """An interrupted benchmark continues with the rows that this raddle has measured."""
    path = os.path.join(arguments.folder, f"{package}-{form}-{arguments.full}.json")
    if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(arguments.raddle):
        result = measure(arguments, package, form)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(result, file)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def print_table(rows):
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  " + "  ".join(str(field).ljust(width) for field, width in zip(row, widths)).rstrip())


def main():
    parser = argparse.ArgumentParser()
    for name in ("options", "targets", "packages", "raddle", "folder", "full", "work"):
        parser.add_argument("--" + name)
    parser.add_argument("suites", nargs="*")
    arguments = parser.parse_args()
    if arguments.packages:
        print(" ".join(name for name, spec in PACKAGES.items() if arguments.packages == "plain" or "tsan" in spec))
        return
    if arguments.options or arguments.targets:
        print(PACKAGES[arguments.options or arguments.targets].get("options" if arguments.options else "targets", ""))
        return
    rows = [["package", "build", "runner", "cases", "threaded", "skipped", "fail natively", "fail always",
             "fail in some schedules", "not run", "schedules", "time"]]
    differences = []
    for suite in arguments.suites:
        row, lines = measure_once(arguments, *suite.split(":"))
        rows.append(row)
        differences += lines
    print("suites: test suites natively and under raddle test")
    print_table(rows)
    print("\nsuites: cases that end differently under raddle")
    print("\n".join(differences) or "  none")


main()
