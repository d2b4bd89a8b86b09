"""check-perfetto.py FILE: tracks have names, slices do not overlap, and both ends of each arrow are on slices."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
names = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
slices = {}
for event in events:
    if event["ph"] == "X":
        slices.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["dur"]))
if not slices or set(slices) != names:
    sys.exit(f"tracks {sorted(names)} are named, {sorted(slices)} have slices")
for track, parts in slices.items():
    for (start, length), (following, _) in zip(sorted(parts), sorted(parts)[1:]):
        if start + length > following:
            sys.exit(f"slices of {track} overlap at {following}")
arrows = {}
for event in events:
    if event["ph"] in "sf":
        arrows.setdefault(event["id"], []).append(event["ph"])
        if event["ts"] not in [start for start, _ in slices[event["pid"], event["tid"]]]:
            sys.exit(f"arrow {event['id']} ends beside a slice")
if not arrows or any(ends != ["s", "f"] for ends in arrows.values()):
    sys.exit("an arrow has not two ends")
