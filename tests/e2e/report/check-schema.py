"""check-schema.py SCHEMA DOCUMENT...: every document is valid, and the schema refuses a broken document."""
import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    validator = jsonschema.Draft7Validator(json.load(file))
for path in sys.argv[2:]:
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    errors = [f"{list(error.path)}: {error.message[:200]}" for error in validator.iter_errors(document)]
    if errors:
        sys.exit(f"{path}: " + "\n".join(errors[:10]))
    document["runs"][0]["tool"] = {}
    if validator.is_valid(document):
        sys.exit(f"{path}: the schema refuses nothing")
