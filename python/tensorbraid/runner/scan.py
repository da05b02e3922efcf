"""Finds the names of TensorFlow and NumPy that a script uses, also through aliases, before the script runs."""

import ast
import itertools
import os


class Use:
    """A use of a name: the package ("tensorflow" or "numpy"), the dotted path below it, the file and the line.

    `code` is the Code that contains the use. `conditional` is True if the use is in a branch of that code.
    """

    def __init__(self, package, path, file, line, code, conditional):
        self.package, self.path, self.file, self.line = package, path, file, line
        self.code, self.conditional = code, conditional


class Code:
    """The statements of a module (`names` is None), or the body of a function, which runs if one of `names` is used.

    `uses` are the names that the code uses outside of branches.
    """

    def __init__(self, names=None):
        self.names, self.uses = names, set()


def surely_run(codes):
    """The Codes that every run executes: of modules, of functions that these use outside of branches, and so on."""
    run = {code for code in codes if code.names is None}
    while True:
        used = set().union(*[code.uses for code in run])
        more = {code for code in codes if code not in run and used & code.names}
        if not more:
            return run
        run |= more


# The tasks of a cluster together take all branches whose conditions have one of these names.
_ROLES = {"job_name", "is_chief", "task_index", "task_id", "task_type"}


_CAUGHT = {"AttributeError", "ImportError", "ModuleNotFoundError", "Exception", "BaseException", "NameError"}


class _Scope:
    """Names that stand for something in a package, as (package, path); None for any other local name."""

    def __init__(self, outer=None):
        self.outer, self.names = outer, {}

    def find(self, name):
        scope = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None


def _asks(node):
    """Whether an expression is a version, or asks for the names of an object."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("dir", "hasattr")
    return isinstance(node, ast.Attribute) and node.attr in ("VERSION", "__version__", "__dict__")


def catches_missing_names(node):
    """Whether a `try` catches the errors of names that do not exist."""
    names = set()
    for handler in node.handlers:
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        names.update("Exception" if kind is None else getattr(kind, "id", "") for kind in kinds)
    return bool(names & _CAUGHT)


class Scanner(ast.NodeVisitor):
    """Collects what a file imports and uses.

    `uses` are the Uses, and `codes` the Codes. `imports` are the names of imported modules. `modules` are pairs
    (package, path) that must be modules, because the file imports them or names from them. `assigned` are pairs
    (package, path) of names that the file itself assigns, as in `tf.GraphKeys.LAYERS = "layers"`. `is_main` is True for
    the script that is run, and False for modules that it imports.
    """

    def __init__(self, file, is_main=True, packages=("tensorflow", "numpy")):
        self.uses, self.imports, self.modules, self.assigned = [], [], [], set()
        self.file, self._packages = file, packages
        self._is_main = is_main
        self._scope = _Scope()
        self._later = []
        self._guarded = 0
        self._conditional = 0
        self._class = None
        self._code = Code()
        self.codes = [self._code]

    def scan(self, tree):
        self.visit(tree)
        while self._later:
            visit, self._scope, self._guarded, self._conditional, self._code = self._later.pop(0)
            visit()
        return self

    def _add(self, known, line):
        if known[1] and not self._guarded:
            self.uses.append(Use(*known, self.file, line, self._code, self._conditional > 0))

    # Imports.

    def visit_Import(self, node):
        for alias in node.names:
            self.imports.append(alias.name)
            package, _, path = alias.name.partition(".")
            if package not in self._packages:
                self._scope.names[alias.asname or package] = None
                continue
            self.modules.append((package, path))
            self._add((package, path), node.lineno)
            self._scope.names[alias.asname or package] = (package, path if alias.asname else "")

    def visit_ImportFrom(self, node):
        package, _, path = (node.module or "").partition(".")
        self.imports.append("." * node.level + (node.module or ""))
        if not node.level and package in self._packages:
            self.modules.append((package, path))
        for alias in node.names:
            if alias.name == "*":
                continue
            name = alias.asname or alias.name
            if node.level or package not in self._packages:
                self.imports.append("." * node.level + (node.module + "." if node.module else "") + alias.name)
                self._scope.names[name] = None
                continue
            known = (package, f"{path}.{alias.name}" if path else alias.name)
            self._add(known, node.lineno)
            self._scope.names[name] = known

    def visit_Try(self, node):
        """A name that a `try` protects may be missing."""
        caught = catches_missing_names(node)
        self._guarded += caught
        for statement in node.body:
            self.visit(statement)
        self._guarded -= caught
        self._guarded += caught  # a handler has the names of other versions
        self._conditional += 1
        for handler in node.handlers:
            self.visit(handler)
        self._conditional -= 1
        self._guarded -= caught
        for statement in [*node.orelse, *node.finalbody]:
            self.visit(statement)

    def visit_If(self, node):
        """Names may be missing in the branches of an `if` that asks for a version, or which names a module has."""
        self._branches(node.test, [*node.body, *node.orelse])

    def visit_IfExp(self, node):
        self._branches(node.test, [node.body, node.orelse])

    def visit_BoolOp(self, node):
        self._branches(node.values[0], node.values[1:])

    def visit_match_case(self, node):
        self._conditional += 1
        self.generic_visit(node)
        self._conditional -= 1

    def _branches(self, test, parts):
        self.visit(test)
        names = {part.id if isinstance(part, ast.Name) else part.attr for part in ast.walk(test)
                 if isinstance(part, (ast.Name, ast.Attribute))}
        is_role = bool(names & _ROLES) or ("__name__" in names and self._is_main)
        asks = any(_asks(part) for part in ast.walk(test))
        self._guarded += asks
        self._conditional += not is_role
        for part in parts:
            self.visit(part)
        self._conditional -= not is_role
        self._guarded -= asks

    # Names.

    def _chain(self, node):
        """The (package, path) that a name with attributes refers to; None for others."""
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        known = self._scope.find(node.id) if isinstance(node, ast.Name) else None
        return known and (known[0], ".".join(filter(None, [known[1], *reversed(parts)])))

    def _refer(self, name):
        if not self._conditional:
            self._code.uses.add(name)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load):
            self._refer(node.id)

    def visit_Attribute(self, node):
        self._refer(node.attr)
        known = self._chain(node)
        if known is None:
            self.generic_visit(node)
        elif isinstance(node.ctx, ast.Load):
            self._add(known, node.lineno)
        elif isinstance(node.ctx, ast.Store):
            self.assigned.add(known)

    def visit_Call(self, node):
        """`x.tostring()` is a method of arrays: of the others of this name, none is called without arguments."""
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr == "tostring" and not node.args + node.keywords:
            self._add(("numpy", "ndarray.tostring"), node.lineno)
        if getattr(function, "attr", None) == "run" and not node.args + node.keywords:
            self._refer("main")  # tf.app.run() calls it
        self.generic_visit(node)

    def _bind(self, target, value=None):
        if isinstance(target, ast.Name):
            self._scope.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            for item in target.elts:
                self._bind(item)
        elif isinstance(target, ast.Starred):
            self._bind(target.value)
        else:
            self.visit(target)

    def visit_Assign(self, node):
        self.visit(node.value)
        known = self._chain(node.value) if isinstance(node.value, (ast.Attribute, ast.Name)) else None
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple) \
                    and len(target.elts) == len(node.value.elts):
                for item, value in zip(target.elts, node.value.elts):
                    is_name = isinstance(value, (ast.Attribute, ast.Name))
                    self._bind(item, self._chain(value) if is_name else None)
            else:
                self._bind(target, known)

    def visit_AugAssign(self, node):
        self.visit(node.value)
        self._bind(node.target)

    def visit_For(self, node):
        self.visit(node.iter)
        self._bind(node.target)
        for statement in [*node.body, *node.orelse]:
            self.visit(statement)

    def visit_withitem(self, node):
        self.visit(node.context_expr)
        if node.optional_vars is not None:
            self._bind(node.optional_vars)

    def _function(self, node, body, code):
        arguments = node.args
        for default in [*arguments.defaults, *filter(None, arguments.kw_defaults)]:
            self.visit(default)
        scope = _Scope(self._scope)
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs,
                         *filter(None, [arguments.vararg, arguments.kwarg])]:
            scope.names[argument.arg] = None

        def visit():
            for statement in body:
                self.visit(statement)

        # The body is visited after the module, because it may use names that are bound later.
        self._later.append((visit, scope, self._guarded, self._conditional, code))

    def _code_of(self, node):
        """The Code of a function.

        A use of the class counts as a call of its special methods and, if it has base classes, of all its methods,
        because Python or a base class may call them.
        """
        names = {node.name}
        if self._class is not None and (node.name.startswith("__") or any(
                getattr(base, "id", "") != "object" for base in self._class.bases)):
            names.add(self._class.name)
        code = Code(names)
        self.codes.append(code)
        return code

    def visit_FunctionDef(self, node):
        for decorator in node.decorator_list:
            self.visit(decorator)
        self._scope.names[node.name] = None
        code, outer, self._class = self._code_of(node), self._class, None
        self._function(node, node.body, code)
        self._class = outer

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        for expression in [*node.decorator_list, *node.bases, *[keyword.value for keyword in node.keywords]]:
            self.visit(expression)
        self._scope.names[node.name] = None
        outer = self._class
        self._scope, self._class = _Scope(self._scope), node
        for statement in node.body:
            self.visit(statement)
        self._scope, self._class = self._scope.outer, outer

    def visit_Lambda(self, node):
        self._function(node, [node.body], self._code)


def scan(file, tree, is_main=True):
    """The Scanner of a script's syntax tree."""
    return Scanner(file, is_main).scan(tree)


def local_files(file, imports, root=None):
    """The Python files that the script `file` imports from its folder, or from the folder `root`."""
    found = []
    for folder, name in itertools.product([os.path.dirname(os.path.abspath(file)), *([root] if root else [])], imports):
        parts = name.lstrip(".").split(".")
        for i in range(1, len(parts) + 1):
            path = os.path.join(folder, *parts[:i])
            for candidate in (path + ".py", os.path.join(path, "__init__.py")):
                if parts[0] and os.path.isfile(candidate) and candidate not in found:
                    found.append(candidate)
    return found
