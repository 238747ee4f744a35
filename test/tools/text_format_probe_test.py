#!/usr/bin/env python3
"""The probe, as somebody with other vectors runs it: every vector of test/data/text-tool-calls, in pieces of 1, 2, 3, 7
and 64 characters and whole, must give the calls and the text that it expects.

usage: text_format_probe_test.py PROBE VECTORS…
"""
import json
import subprocess
import sys


def tool(name, **arguments):
    """A tool in MCP's shape; a star behind a type: required."""
    properties = {}
    for key, types in arguments.items():
        types = types.rstrip("*").split("|")
        properties[key] = {"type": types if len(types) > 1 else types[0]}
    required = [key for key, types in arguments.items() if types.endswith("*")]
    return {"name": name, "description": "", "inputSchema": {"type": "object", "properties": properties, "required": required}}


# As test/data/text-tool-calls/README.md lists them.
TOOLS = [
    tool("get_weather", city="string*", days="integer"), tool("search", query="string*", limit="integer"),
    tool("read_file", path="string*"), tool("write_file", path="string*", content="string*"), tool("run_sql", sql="string*"),
    tool("add", a="number*", b="number*"), tool("list_all"), tool("set_flag", on="boolean*", tag="string|null"),
    tool("batch", items="array*"),
]


def main(probe, *files):
    asked = []
    for file in files:
        for line in open(file, encoding="utf-8"):
            vector = json.loads(line)
            raw = vector["raw"]
            for size in (1, 2, 3, 7, 64, len(raw) or 1):
                chunks = [raw[i:i + size] for i in range(0, len(raw), size)]
                asked.append((vector, size, json.dumps({"format": vector["format"], "tools": TOOLS, "chunks": chunks})))
    told = subprocess.run([probe], input="\n".join(line for _, _, line in asked) + "\n", capture_output=True, text=True, check=True)
    answers = told.stdout.splitlines()
    bad = 0 if len(answers) == len(asked) else 1
    for (vector, size, _), line in zip(asked, answers):
        answer, expected = json.loads(line), vector["expected"]
        problems = answer.get("problems")
        told_well = isinstance(problems, list) and all(set(p) == {"name", "problem"} and p["problem"] for p in problems)
        same = (told_well and answer.get("calls") == expected["calls"] and answer["visible_text"].strip() == expected["visible_text"].strip()
                and answer["incomplete"] == expected.get("incomplete", False))
        if not same:
            bad += 1
            print(f"{vector['id']} in pieces of {size}: {line}\n  expected {json.dumps(expected)}")
    print(f"{len(asked)} asked, {len(answers)} answered, {bad} wrong")
    return 1 if bad or not asked else 0


sys.exit(main(*sys.argv[1:]))
