#!/usr/bin/env python3
"""Changes a directory tree, and shows what is in it, for tests that compare trees of several machines. The same on a
machine: `trees.py change ROOT CHANGES`, with the changes as JSON, and `trees.py show ROOT...`, which prints JSON."""

import json
import os
import shutil
import sys


def _remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)


def change(root, changes):
    """Each change is a path below `root`, and what is there then: a text, a list with the target of a link, or null for
    nothing. Where the path leads through a link, nothing is changed, since the file would be outside."""
    for path, content in changes:
        names = path.split("/")
        folders = [os.path.join(root, *names[:i]) for i in range(1, len(names))]
        if any(os.path.islink(folder) for folder in folders):
            continue
        path = os.path.join(root, path)
        _remove(path)
        if content is None:
            continue
        for folder in folders:
            if not os.path.isdir(folder):
                _remove(folder)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(content, list):
            os.symlink(content[0], path)
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)


def show(*roots):
    """The files, with their texts, and the links, each as a list with its target."""
    found = {}
    for root in roots:
        for folder, folders, files in os.walk(root):
            for name in folders + files:
                path = os.path.join(folder, name)
                if os.path.islink(path):
                    found[path] = [os.readlink(path)]
                elif os.path.isfile(path):
                    with open(path, encoding="utf-8") as file:
                        found[path] = file.read()
    return found


if __name__ == "__main__":
    if sys.argv[1] == "change":
        change(sys.argv[2], json.loads(sys.argv[3]))
    else:
        print(json.dumps(show(*sys.argv[2:])))
