"""Finds statements without [FAKTA] or [ESTIMAT] in an analysis: python validate.py FILE. Exit code 1 if there are any."""
import re
import sys

MARKER = re.compile(r"\[(FAKTA|ESTIMAT)[^\]]*\]")

missing = []
with open(sys.argv[1], encoding="utf-8") as file:
    for number, line in enumerate(file, 1):
        text = line.strip()
        # Headings, table rules and the head of the template make no statement.
        if text == "" or text[0] in "#|" or text.startswith("**"):
            continue
        if not MARKER.search(text):
            missing.append(f"{sys.argv[1]}:{number}: no marker: {text[:80]}")
print("\n".join(missing) or "every statement has a marker")
sys.exit(1 if missing else 0)
