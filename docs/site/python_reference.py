"""Writes a page of Markdown for each public module of the Python package: names, arguments and docstrings."""
import ast
import importlib
import inspect
import types

import cpp_reference

# Modules that __init__.py imports and that are not for programs.
LEFT_OUT = {"compat", "messages", "native"}


def modules(package):
    """The public modules, by the name under which a program reaches them: those that __init__.py imports by name."""
    found = {"tf": package}
    with open(package.__file__, encoding="utf-8") as file:
        imports = [node for node in ast.parse(file.read()).body if isinstance(node, ast.ImportFrom)]
    for node in imports:
        for alias in node.names if node.module == package.__name__ else []:
            name = alias.asname or alias.name
            value = getattr(package, name)
            if name not in LEFT_OUT and isinstance(value, types.ModuleType):
                found[f"tf.{name}"] = value
    return found


def signature(value):
    try:
        return str(inspect.signature(value))
    except (TypeError, ValueError):
        return "(...)"


def documentation(value):
    text = inspect.getdoc(value) if not isinstance(value, (int, float, str, tuple, list, dict)) else ""
    return [cpp_reference.text(text.split("\n")), ""] if text else []


def entry(name, value):
    if inspect.isclass(value):
        out = [f"## {name}", "", *documentation(value)]
        for member, method in sorted(vars(value).items()):
            if member.startswith("_"):
                continue
            method = inspect.unwrap(method.__func__ if isinstance(method, (classmethod, staticmethod)) else method)
            heading = [f"### {name.rsplit('.', 1)[1]}.{member}", ""]
            if callable(method):
                out += [*heading, "```python", f"{member}{signature(method)}", "```", "", *documentation(method)]
            elif isinstance(method, property):
                out += [*heading, *documentation(method)]
        return out
    return [f"## {name}", "", "```python", f"{name}{signature(value)}", "```", "", *documentation(value)]


def page(name, module):
    out = [f"# {name}", "", *documentation(module)]
    for attribute, value in sorted(vars(module).items(), key=lambda item: item[0].lower()):
        if attribute.startswith("_") or not callable(value):
            continue
        if str(getattr(value, "__module__", "") or "").startswith("tensorbraid"):
            out += entry(f"{name}.{attribute}", value)
    return "\n".join(out)


def pages(folder):
    """The pages by module name, of the package in `folder`, which must be on the path."""
    package = importlib.import_module("tensorbraid")
    assert package.__file__.startswith(folder), f"{package.__file__} is not in {folder}"
    return {name: page(name, module) for name, module in modules(package).items()}
