"""The commands that the pages of docs/clusters print, which the tests run as they are."""

import os
import re

_FOLDER = os.path.abspath("docs/clusters")


def commands(page, *programs):
    """The commands of docs/clusters/`page`.md that begin with one of these texts, in their order.

    A command is in a block that is indented by four spaces, and may go on in the next line after a backslash. In a block
    that shows output, too, commands begin with "$ "."""
    with open(os.path.join(_FOLDER, page + ".md"), encoding="utf-8") as file:
        text = file.read().replace("\\\n", " ")
    begin = "|".join(re.escape(program) for program in programs)
    found = re.findall(r"^ {4}(?:\$ )?((?:%s).*)$" % begin, text, re.MULTILINE)
    assert found, "docs/clusters/%s.md has no command of %s" % (page, ", ".join(programs))
    return found
