"""Collects the Markdown of the repository for mkdocs: make_pages.py PACKAGE OUT.

Each document keeps its place, so that links between documents stay as they are. A link to a source file leads to a page
with its text, a link to a header to its page in the reference, and a link to a folder to its README or to a list of its
files. PACKAGE is the folder of the built Python package. OUT gets `pages` and `mkdocs.yml`.
"""
import os
import re
import shutil
import subprocess
import sys

import cpp_reference
import python_reference
import yaml

LINK = re.compile(r"(\]\()([^)\s]+)(\))")
LANGUAGES = {".cc": "cpp", ".h": "cpp", ".py": "python", ".cmake": "cmake", ".yml": "yaml", ".yaml": "yaml"}


class Site:
    def __init__(self, out):
        self.out = out
        listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True)
        self.files = set(listed.stdout.split("\n"))
        self.folders = {os.path.dirname(file) for file in self.files}
        self.folders |= {folder[:i] for folder in self.folders for i in range(len(folder)) if folder[i] == "/"}
        self.pages = {}  # the text of each page by its path

    def page_of(self, target):
        """The path of the page that shows a file or a folder of the repository; None if there is no such thing."""
        if target in self.folders:
            readme = f"{target}/README.md"
            if readme not in self.files and readme not in self.pages:
                inside = sorted(file for file in self.files if os.path.dirname(file) == target)
                self.pages[readme] = f"# {target}\n\n" + "\n".join(f"- `{os.path.basename(file)}`" for file in inside)
            return readme
        if target not in self.files:
            return None
        if target.endswith(".md"):
            return target
        page = f"{target}.md"
        if page not in self.pages:
            with open(target, encoding="utf-8") as file:
                text = file.read()
            language = LANGUAGES.get(os.path.splitext(target)[1], "text")
            self.pages[page] = f"# {os.path.basename(target)}\n\n````{language}\n{text}\n````\n"
        return page

    def linked(self, path, text):
        """The text of a document with links that lead to pages."""

        def replaced(match):
            target, hash_sign, anchor = match[2].partition("#")
            if not target or re.match(r"\w+:", target):
                return match[0]
            full = os.path.normpath(os.path.join(os.path.dirname(path), target))
            page = self.page_of(full)
            if page is None:
                return match[0]  # mkdocs reports it
            return match[1] + os.path.relpath(page, os.path.dirname(path) or ".") + hash_sign + anchor + match[3]

        # Every second part is a block of code.
        parts = re.split(r"(^```.*?^```$|^````.*?^````$)", text, flags=re.MULTILINE | re.DOTALL)
        return "".join(part if i % 2 else LINK.sub(replaced, part) for i, part in enumerate(parts))

    def add_documents(self):
        for file in sorted(self.files):
            if file.endswith(".md") and os.path.exists(file):
                with open(file, encoding="utf-8") as document:
                    self.pages[file] = self.linked(file, document.read())

    def add_cpp_reference(self):
        for file in sorted(self.files):
            if file.startswith("include/tensorbraid/") and file.endswith(".h"):
                with open(file, encoding="utf-8") as header:
                    self.pages[f"{file}.md"] = cpp_reference.page(file.removeprefix("include/"), header.read())

    def add_python_reference(self, package):
        for name, text in python_reference.pages(package).items():
            self.pages[f"python/api/{name}.md"] = text

    def write(self):
        for path, text in self.pages.items():
            full = os.path.join(self.out, "pages", path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)

    def nav(self):
        """The pages in the order of the menu. Titles come from the pages."""
        left = set(self.pages)

        def take(*wanted):
            taken = [path for path in wanted if path in left]
            assert len(taken) == len(wanted), f"these pages do not exist: {set(wanted) - set(taken)}"
            left.difference_update(taken)
            return taken

        def beneath(prefix):
            return take(*sorted(path for path in left if path.startswith(prefix)))

        menu = [
            {"Start": take("README.md", "docs/from_tensorflow.md", "docs/glossary.md", "examples/README.md",
                           "python/README.md", "CHANGELOG.md")},
            {"Running": take("docs/operations.md", "docs/security.md", "docs/performance.md", "docs/synchronous.md",
                             "docs/staleness.md",
                             "docs/rdma.md", "deploy/kubernetes/README.md", "deploy/observe/README.md",
                             "deploy/package/README.md", "python/wheel/README.md")},
            {"Ops": take("docs/ops.md", "docs/custom_ops.md")},
            {"C++": beneath("include/")},
            {"Python": beneath("python/api/")},
            {"Design": beneath("docs/design/") + beneath("docs/formats/")},
            {"Contributing": take("CONTRIBUTING.md", "docs/README.md") + beneath("src/") + beneath("tests/")},
        ]  # fmt: skip
        return [*menu, {"More": sorted(left)}]


def main(package, out):
    site = Site(out)
    site.add_cpp_reference()
    site.add_python_reference(package)
    site.add_documents()
    site.write()
    here = os.path.dirname(os.path.abspath(__file__))
    shutil.copy(os.path.join(here, "site.css"), os.path.join(out, "pages"))
    with open(os.path.join(here, "mkdocs.yml"), encoding="utf-8") as file:
        settings = yaml.safe_load(file)
    settings |= {"docs_dir": "pages", "site_dir": "site", "nav": site.nav()}
    with open(os.path.join(out, "mkdocs.yml"), "w", encoding="utf-8") as file:
        yaml.safe_dump(settings, file, sort_keys=False)


main(os.path.abspath(sys.argv[1]), sys.argv[2])
