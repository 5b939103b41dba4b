"""The plain way: find nvcc by a regular expression, split by shlex, cut at nvcc. Prints one JSON array of arguments a command."""

import json
import re
import shlex
import sys

NVCC = re.compile(r"(?:^|[\s/])nvcc\s")


def commands(lines):
    for line in lines:
        found = NVCC.search(line)
        if not found:
            continue
        try:
            words = shlex.split(line[line.rfind(" ", 0, found.end() - 1) + 1 :])
        except ValueError:
            continue
        if words and words[0].endswith("nvcc"):
            yield words[1:]


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8", errors="replace") as log:
        for words in commands(log):
            print(json.dumps(words))
