# SPDX-License-Identifier: MIT
"""schema.py - checks JSON of the command against its published schemas."""

import json

import harness

FOLDER = harness.ROOT / "preload/cmd/schema"


def check(text, name):
    """TEXT as JSON, after it was found to be what NAME.1.json says."""
    try:
        import jsonschema
    except ImportError:
        raise harness.Skip("no jsonschema: scripts/setup test") from None

    schema = json.loads((FOLDER / f"{name}.1.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    value = json.loads(text)
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(value))
    harness.expect(not errors, f"{name}: {len(errors)} errors: "
                   + "; ".join(f"{list(error.path)}: {error.message[:200]}" for error in errors[:3]))
    undescribed = [key for key in value if key not in schema["properties"]]
    harness.expect(not undescribed, f"{name}: not in the schema: {undescribed}")
    return value
