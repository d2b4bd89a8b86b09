"""check-json.py SCHEMA DOCUMENT...: every document is valid; the schema describes every field, refuses broken documents."""
import copy
import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)


def undescribed(part, path):
    if isinstance(part, dict):
        for name, value in part.get("properties", {}).items():
            target = schema["definitions"].get(value.get("$ref", "").rpartition("/")[2], {})
            if path and "description" not in value and "description" not in target and name not in ("hex", "seed"):
                yield f"{path}.{name}"
        for name, value in part.items():
            yield from undescribed(value, f"{path}.{name}")


missing = list(undescribed(schema["definitions"], "definitions"))
if missing:
    sys.exit(f"{sys.argv[1]}: without a description: {missing}")
findings = 0
for path in sys.argv[2:]:
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    for report in document if isinstance(document, list) else [document]:
        errors = [f"{list(error.path)}: {error.message[:200]}" for error in validator.iter_errors(report)]
        if errors:
            sys.exit(f"{path}: " + "\n".join(errors[:10]))
        for finding in report["findings"]:
            findings += 1
            for change in ({"kind": "surprise"}, {"unknown": 1}, {"steps": None}):
                broken = copy.deepcopy(report)
                broken["findings"] = [dict(finding, **change)]
                if validator.is_valid(broken):
                    sys.exit(f"{path}: the schema lets {change} through")
if not findings:
    sys.exit("no finding was looked at")
