#include "binding/docs.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>

namespace tensorbraid::python {
namespace {

struct Row {
  std::string_view name;
  const char* text;
};

// Sorted by name.
constexpr Row kRows[] = {
#include "docs.inc"
};

// Classes whose name in Python is not that in C++.
std::string_view CppClass(std::string_view name) {
  if (name == "Tensor") return "Output";
  if (name == "DatasetIterator") return "Iterator";
  if (name == "NativeHook") return "SessionRunHook";
  if (name == "OpenVariableScope") return "VariableScope";
  return name;
}

// "_list_devices" becomes "ListDevices".
std::string CamelCase(std::string_view name) {
  std::string result;
  bool starts = true;
  for (const char c : name) {
    if (c != '_') result += starts ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    starts = c == '_';
  }
  return result;
}

const char* Find(const std::string& name) {
  const auto* row = std::ranges::lower_bound(kRows, std::string_view(name), {}, &Row::name);
  return row != std::end(kRows) && row->name == name ? row->text : nullptr;
}

}  // namespace

const char* HeaderDoc(std::string_view name) {
  const char* text = Find(std::string(name));
  return text == nullptr ? "" : text;
}

const char* DocOf(std::string_view name, std::string_view member) {
  const std::string scope = member.empty() ? "" : std::string(CppClass(name)) + "::";
  const std::string_view last = member.empty() ? CppClass(name) : member;
  std::string own = "python::" + std::string(name);
  if (!member.empty()) own.append(".").append(member);
  std::string_view plain = last;
  while (plain.starts_with('_')) plain.remove_prefix(1);
  for (const std::string& key : {own, scope + std::string(plain), scope + CamelCase(plain)}) {
    if (const char* text = Find(key)) return text;
  }
  return "";
}

}  // namespace tensorbraid::python
