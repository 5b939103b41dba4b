"""Records what jinja2 makes of the templates beside this file: `python3 record.py` writes NAME.expected for each NAME.jinja.

Lines `#@ NAME=VALUE` at the top give the values; they are no part of the template. Recorded with jinja2 3.1.
"""

import ast
import pathlib

import jinja2


def value(text):
    if text in ("true", "false"):
        return text == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


for path in sorted(pathlib.Path(__file__).parent.glob("*.jinja")):
    lines = path.read_text().splitlines(keepends=True)
    given = dict(line[3:].strip().split("=", 1) for line in lines if line.startswith("#@ "))
    template = "".join(line for line in lines if not line.startswith("#@ "))
    given = {name: value(text) for name, text in given.items()}
    made = jinja2.Template(template, undefined=jinja2.StrictUndefined).render(**given)
    path.with_suffix(".expected").write_text(made)
