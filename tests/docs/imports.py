"""Check that the imports of Python files exist: in Python, in PACKAGES, or in a file that defines
the names.

    imports.py FILE...      prints findings as `FILE:LINE: what`; exits with 1 if there are any

Files are not run, except for their changes to sys.path, which apply to all files of their
folder."""

import ast
import os
import sys

PACKAGES = {"ctranslate2", "gguf", "numpy", "onnx", "onnxruntime", "safetensors", "sentencepiece",
            "sentence_transformers", "tokenizers", "torch", "transformers"}


def parse(path):
    with open(path) as f:
        return ast.parse(f.read(), path)


def changes_path(node):
    return any(ast.unparse(x) == "sys.path" for x in ast.walk(node) if isinstance(x, ast.Attribute))


def added_folders(path, tree):
    """Folders that the file adds to sys.path. Lines that name a folder are run too."""
    known, before = {"__file__": os.path.abspath(path), "os": os, "sys": sys}, list(sys.path)
    for node in tree.body:
        names_folder = isinstance(node, ast.Assign) and "os.path." in ast.unparse(node.value)
        if names_folder or isinstance(node, (ast.Assign, ast.Expr)) and changes_path(node):
            exec(compile(ast.Module([node], []), path, "exec"), known)
    added = [x for x in sys.path if x not in before]
    sys.path[:] = before
    return added


def imports(tree):
    """(line, module, names) of each import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for x in node.names:
                yield node.lineno, x.name, []
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module, [x.name for x in node.names]


def defined(tree):
    """The names defined at the top level of a module."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        for x in ast.walk(node) if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) else []:
            if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store):
                yield x.id
            elif isinstance(x, ast.alias):
                yield (x.asname or x.name).split(".")[0]


def what_is_lost(module, names, places):
    """The missing part of an import, or None. places: folders searched first."""
    first = module.split(".")[0]
    files = [os.path.join(place, first + ".py") for place in places]
    found = list(filter(os.path.exists, files))
    if found:
        lost = sorted(set(names) - set(defined(parse(found[0]))))
        return f"{lost[0]} in {os.path.relpath(found[0])}" if lost else None
    return None if first in PACKAGES or first in sys.stdlib_module_names else module


def main():
    trees = {path: parse(path) for path in sys.argv[1:]}
    folders, bad = {}, 0
    for path, tree in trees.items():
        here = os.path.dirname(os.path.abspath(path))
        added = added_folders(path, tree)
        for lost in (x for x in added if not os.path.isdir(x)):
            print(f"{path}:1: there is no folder {os.path.relpath(lost)}")
            bad = 1
        folders.setdefault(here, [here]).extend(added)
    for path, tree in trees.items():
        places = folders[os.path.dirname(os.path.abspath(path))]
        for line, module, names in imports(tree):
            lost = what_is_lost(module, names, places)
            if lost:
                print(f"{path}:{line}: there is no {lost}")
                bad = 1
    sys.exit(bad)


if __name__ == "__main__":
    main()
