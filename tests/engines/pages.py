"""The commands that the pages of docs/clusters and other documents print, which the tests run as they are."""

import os
import re

_FOLDER = os.path.abspath("docs/clusters")


def commands(page, *programs):
    """The commands of docs/clusters/`page`.md that begin with one of these texts, in their order.

    `page` may also be the absolute path of a document. A command is in a block that is indented by four spaces, or by
    seven in a list, and may go on in the next line after a backslash. In a block that shows output, too, commands begin
    with "$ "."""
    path = os.path.join(_FOLDER, page + ".md")
    with open(path, encoding="utf-8") as file:
        text = file.read().replace("\\\n", " ")
    begin = "|".join(re.escape(program) for program in programs)
    found = re.findall(r"^ {4}(?: {3})?(?:\$ )?((?:%s).*)$" % begin, text, re.MULTILINE)
    assert found, "%s has no command of %s" % (path, ", ".join(programs))
    return found
