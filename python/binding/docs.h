// Docstrings: the comments of the public headers (python/docs). A class of nanobind that is declared as Class, and a
// function of a Module, get theirs by name.
#ifndef TENSORBRAID_PYTHON_BINDING_DOCS_H_
#define TENSORBRAID_PYTHON_BINDING_DOCS_H_

#include <nanobind/nanobind.h>

#include <string_view>
#include <utility>

namespace tensorbraid::python {

namespace nb = nanobind;

// The docstring of a name of the module: "replica_device_setter", "Session", or "Session" and "list_devices". It is
// that of python/docs/own.txt, or else of the C++ function whose name has the same words: Session::ListDevices.
// Otherwise "".
const char* DocOf(std::string_view name, std::string_view member = {});
// The text of the header's table about the function of this name ("raw_ops::MatMul"); "" if there is none.
const char* HeaderDoc(std::string_view name);

// A class whose members have docstrings. A text among `extra` comes instead of that of the headers.
template <typename T, typename... Bases>
class Class : public nb::class_<T, Bases...> {
  using Base = nb::class_<T, Bases...>;

 public:
  template <typename... Extra>
  Class(nb::handle scope, const char* name, const Extra&... extra)
      : Base(scope, name, DocOf(name), extra...), name_(name) {}

  template <typename F, typename... Extra>
  Class& def(const char* name, F&& f, const Extra&... extra) {
    Base::def(name, std::forward<F>(f), DocOf(name_, name), extra...);
    return *this;
  }
  template <typename... Args>
  Class& def(nb::init<Args...>&& constructor) {
    Base::def(std::move(constructor));
    return *this;
  }
  template <typename F, typename... Extra>
  Class& def_static(const char* name, F&& f, const Extra&... extra) {
    Base::def_static(name, std::forward<F>(f), DocOf(name_, name), extra...);
    return *this;
  }
  template <typename Getter, typename... Extra>
  Class& def_prop_ro(const char* name, Getter&& getter, const Extra&... extra) {
    Base::def_prop_ro(name, std::forward<Getter>(getter), DocOf(name_, name), extra...);
    return *this;
  }
  template <typename Getter, typename Setter, typename... Extra>
  Class& def_prop_rw(const char* name, Getter&& getter, Setter&& setter, const Extra&... extra) {
    Base::def_prop_rw(name, std::forward<Getter>(getter), std::forward<Setter>(setter), DocOf(name_, name), extra...);
    return *this;
  }

 private:
  const char* const name_;
};

// An enum of C++. Python's code knows its values by their names, so no table of numbers can differ from C++'s.
template <typename T>
class Enum : public nb::enum_<T> {
 public:
  Enum(nb::handle scope, const char* name) : nb::enum_<T>(scope, name, DocOf(name)) {}
};

// The module, whose functions have docstrings.
class Module : public nb::module_ {
 public:
  explicit Module(const nb::module_& module) : nb::module_(module) {}

  template <typename F, typename... Extra>
  Module& def(const char* name, F&& f, const Extra&... extra) {
    nb::module_::def(name, std::forward<F>(f), DocOf(name), extra...);
    return *this;
  }
};

}  // namespace tensorbraid::python

#endif  // TENSORBRAID_PYTHON_BINDING_DOCS_H_
