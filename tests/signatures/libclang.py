"""Prints what libclang says of the functions of zoo.cuh: python3 tests/signatures/libclang.py > tests/signatures/zoo.json

Needs libclang's Python module and the headers of the same clang (its -resource-dir); no CUDA.
"""

import json
import pathlib

from clang.cindex import CursorKind, Index, TokenKind

HERE = pathlib.Path(__file__).parent
FUNCTIONS = {
    CursorKind.FUNCTION_DECL,
    CursorKind.FUNCTION_TEMPLATE,
    CursorKind.CXX_METHOD,
    CursorKind.CONSTRUCTOR,
    CursorKind.DESTRUCTOR,
    CursorKind.CONVERSION_FUNCTION,
}
SCOPES = {CursorKind.NAMESPACE, CursorKind.STRUCT_DECL, CursorKind.CLASS_TEMPLATE}
KINDS = {
    CursorKind.TEMPLATE_TYPE_PARAMETER: "type",
    CursorKind.TEMPLATE_NON_TYPE_PARAMETER: "value",
    CursorKind.TEMPLATE_TEMPLATE_PARAMETER: "template",
}
ATTRIBUTES = {
    "__global__": "__attribute__((global))",
    "__device__": "__attribute__((device))",
    "__grid_constant__": "__attribute__((grid_constant))",
    "__launch_bounds__(...)": "__attribute__((launch_bounds(__VA_ARGS__)))",
}


def text(cursor):
    """The words of a parameter, without comments and blanks."""
    return "".join(t.spelling for t in cursor.get_tokens() if t.kind != TokenKind.COMMENT)


def qualified(cursor):
    parts = []
    while cursor.kind != CursorKind.TRANSLATION_UNIT:
        parts.append(cursor.spelling)
        cursor = cursor.semantic_parent
    return "::".join(part for part in reversed(parts) if part)


def functions(cursor, file):
    for child in cursor.get_children():
        if child.location.file and child.location.file.name != file:
            continue
        if child.kind in SCOPES or child.kind.name in ("LINKAGE_SPEC", "UNEXPOSED_DECL"):
            yield from functions(child, file)
        elif child.kind in FUNCTIONS:
            children = list(child.get_children())
            yield {
                "name": qualified(child),
                "line": child.location.line,
                "global": any(c.kind.name == "CUDAGLOBAL_ATTR" for c in children),
                "template": [[KINDS[c.kind], c.spelling, text(c)] for c in children if c.kind in KINDS],
                "parameters": [[c.spelling, text(c)] for c in children if c.kind == CursorKind.PARM_DECL],
            }


def main():
    file = str(HERE / "zoo.cuh")
    options = ["-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_90a", "-nocudainc", "-nocudalib", "-std=c++20"]
    unit = Index.create().parse(file, options + [f"-D{name}={value}" for name, value in ATTRIBUTES.items()])
    problems = [str(d) for d in unit.diagnostics if d.severity >= 3]
    assert not problems, problems
    print("[")
    print(",\n".join(json.dumps(function) for function in functions(unit.cursor, file)))
    print("]")


main()
