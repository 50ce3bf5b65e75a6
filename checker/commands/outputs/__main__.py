"""Prints the schema that `output.schema.json` stores."""

import json
import sys

from checker.commands.outputs.schema import schema

sys.stdout.write(json.dumps(schema(), indent=2) + "\n")
