"""Writes a page of Markdown for each public header: its comments as text, its declarations as code."""
import re

COMMENT = re.compile(r"^ *// ?")
NAMED = re.compile(r"^(?:template <.*> *)?(?:class|struct|enum class) (\w+)\b")
FUNCTION = re.compile(r"^(?!using\b|friend\b|return\b)(?:[\w:<>,&*\s\[\]\"]+?[\s&*>])(\w+)\(")
# What is not of interest to a reader.
GUARD = re.compile(r"^#(ifndef|define|endif)\b.*TENSORBRAID_\w+_H_")


def text(comment):
    """A comment's lines as Markdown: characters that Markdown would interpret are escaped outside of code."""
    out = []
    for line in comment:
        is_example = line.startswith("    ")
        if out and is_example != out[-1].startswith("    "):
            out.append("")
        if not is_example:
            parts = line.split("`")
            parts[::2] = [re.sub(r"([*_<>\[\]#|\\])", r"\\\1", part) for part in parts[::2]]
            line = "`".join(parts)
        out.append(line)
    return "\n".join(out)


def blocks(source):
    """The parts of a header, as (comment, code) with the lines of each.

    Empty lines and comments begin a part, but not those in a struct, which is one part.
    """
    for part in re.split(r"\n\s*\n", source):
        lines = [line for line in part.split("\n") if not GUARD.match(line)]
        while lines:
            comment, code = [], []
            while lines and COMMENT.match(lines[0]):
                comment.append(COMMENT.sub("", lines.pop(0)))
            is_struct = bool(lines) and lines[0].endswith("{")
            while lines and (is_struct or not COMMENT.match(lines[0])):
                code.append(lines.pop(0))
            yield comment, code


def title_of(code):
    """The name that a block declares first at the top level or in a class, as a heading; "" for none."""
    for line in code:
        found = NAMED.match(line) or FUNCTION.match(line.strip())
        if found:
            return found[1]
    return ""


def page(path, source):
    """The page of the header at `path` ("tensorbraid/graph/graph.h")."""
    out = [f"# {path.removeprefix('tensorbraid/')}", "", f"`#include <{path}>`", ""]
    names = set()
    for comment, code in blocks(source):
        code = [line for line in code if not re.match(r"^(namespace .*\{|\}  // namespace.*|#include .*)$", line)]
        title = title_of(code)
        if title and title not in names and not code[0].startswith("   "):
            out += [f"## {title}", ""]
            names.add(title)
        if comment:
            out += [text(comment), ""]
        if any(line.strip() for line in code):
            out += ["```cpp", *code, "```", ""]
    return "\n".join(out)
