"""Reads .proto files of syntax proto3: messages, enums, oneofs, maps and imports, which are what the package uses."""

import re

from google.protobuf import descriptor_pb2

_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {name[5:].lower(): number for name, number in _Field.Type.items()}
_TOKEN = re.compile(r'\s+|//[^\n]*|([A-Za-z_][\w.]*|-?\d+|"[^"]*"|[{}<>=;,\[\]])')


class _Reader:
    def __init__(self, file, text):
        self._file, self._text = file, text
        self._tokens, position = [], 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                self._fail(position, "cannot be read")
            if match.group(1):
                self._tokens.append((match.group(1), position))
            position = match.end()
        self._next = 0

    def _fail(self, position, what):
        line = self._text.count("\n", 0, position) + 1
        raise ValueError(f"{self._file}:{line}: {self._text[position:position + 20]!r} {what}")

    def more(self):
        return self._next < len(self._tokens)

    def peek(self):
        return self._tokens[self._next][0] if self.more() else ""

    def take(self, *expected):
        """The next token, which is one of `expected` if any are given."""
        token, position = self._tokens[self._next] if self.more() else ("", len(self._text))
        if not token or (expected and token not in expected):
            self._fail(position, "is not " + " or ".join(expected or ("the end",)))
        self._next += 1
        return token

    def accept(self, token):
        if self.peek() != token:
            return False
        self._next += 1
        return True

    def number(self):
        value = int(self.take())
        self.take(";")
        return value


def file_descriptor(name, text, enums):
    """The FileDescriptorProto of a file with this name and text. ValueError names the line of an error.

    `enums` has the names of the enums of the files before, and gets those of this file.
    """
    reader = _Reader(name, text)
    result = descriptor_pb2.FileDescriptorProto(name=name, syntax="proto3")
    while reader.more():
        kind = reader.take("syntax", "package", "import", "message", "enum")
        if kind == "message":
            _message(reader, result.message_type.add())
        elif kind == "enum":
            _enum(reader, result.enum_type.add())
        else:
            reader.accept("=")
            value = reader.take().strip('"')
            reader.take(";")
            if kind == "package":
                result.package = value
            elif kind == "import":
                result.dependency.append(value)
    enums.update(enum.name for enum in result.enum_type)
    for message in result.message_type:
        _find_enums(message, enums)
    for message in result.message_type:
        _set_kinds(message, enums)
    return result


def _find_enums(message, enums):
    enums.update(enum.name for enum in message.enum_type)
    for nested in message.nested_type:
        _find_enums(nested, enums)


def _set_kinds(message, enums):
    """Sets which fields are messages and which are enums; protobuf 4.22 does not find out itself."""
    for field in message.field:
        if field.type_name:
            is_enum = field.type_name.split(".")[-1] in enums
            field.type = _Field.TYPE_ENUM if is_enum else _Field.TYPE_MESSAGE
    for nested in message.nested_type:
        _set_kinds(nested, enums)


def _message(reader, message):
    message.name = reader.take()
    reader.take("{")
    while not reader.accept("}"):
        if reader.accept("message"):
            _message(reader, message.nested_type.add())
        elif reader.accept("enum"):
            _enum(reader, message.enum_type.add())
        elif reader.accept("oneof"):
            message.oneof_decl.add(name=reader.take())
            reader.take("{")
            while not reader.accept("}"):
                _field(reader, message).oneof_index = len(message.oneof_decl) - 1
        else:
            _field(reader, message)


def _enum(reader, enum):
    enum.name = reader.take()
    reader.take("{")
    while not reader.accept("}"):
        value = enum.value.add(name=reader.take())
        reader.take("=")
        value.number = reader.number()


def _field(reader, message):
    field = message.field.add(label=_Field.LABEL_REPEATED if reader.accept("repeated") else _Field.LABEL_OPTIONAL)
    if reader.accept("map"):
        entry = descriptor_pb2.DescriptorProto()
        entry.options.map_entry = True
        reader.take("<")
        _set_type(entry.field.add(name="key", number=1, label=_Field.LABEL_OPTIONAL), reader.take())
        reader.take(",")
        _set_type(entry.field.add(name="value", number=2, label=_Field.LABEL_OPTIONAL), reader.take())
        reader.take(">")
        field.label = _Field.LABEL_REPEATED
        field.name = reader.take()
        entry.name = "".join(word.capitalize() for word in field.name.split("_")) + "Entry"
        message.nested_type.append(entry)
        _set_type(field, entry.name)
    else:
        _set_type(field, reader.take())
        field.name = reader.take()
    reader.take("=")
    field.number = reader.number()
    return field


def _set_type(field, name):
    """A name that is no scalar type is that of a message or an enum, see _set_kinds."""
    if name in _SCALARS:
        field.type = _SCALARS[name]
    else:
        field.type_name = name
