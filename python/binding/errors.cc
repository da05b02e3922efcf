#include <nanobind/stl/string.h>

#include <cstring>
#include <string>
#include <typeinfo>

#include "binding/binding.h"

namespace tensorbraid::python {
namespace {

// Raises a TypeError with the message that a function of internal/arguments.py makes.
template <typename... Args>
void RaiseTypeError(const char* function, const Args&... args) {
  const nb::object message = nb::module_::import_("tensorbraid.internal.arguments").attr(function)(args...);
  PyErr_SetObject(PyExc_TypeError, message.ptr());
}

}  // namespace

std::string NotConverted(const std::string& what, nb::handle value) {
  const bool is_text = nb::isinstance<nb::str>(value);
  return what + ", but got " + nb::repr(value).c_str() +
         (is_text && PyUnicode_AsUTF8AndSize(value.ptr(), nullptr) == nullptr ? ", which has surrogates" : "");
}

void BindErrors(Module&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const StatusError& error) {
      const int code = static_cast<int>(error.status().code());
      const nb::module_ errors = nb::module_::import_("tensorbraid.errors");
      const nb::object type = errors.attr("exception_type_from_error_code")(code);
      const nb::object exception = type(nb::none(), nb::none(), std::string(error.status().message()));
      PyErr_SetObject(type.ptr(), exception.ptr());
    } catch (const std::bad_cast&) {
      RaiseTypeError("not_converted");
    }
  });
}

}  // namespace tensorbraid::python

// nanobind calls this function instead of PyErr_SetString (CMakeLists.txt). Its message about arguments shows the
// signature of the C++ function, which the program has not called.
extern "C" void TensorbraidSetError(PyObject* type, const char* text) {
  if (type == PyExc_TypeError && std::strstr(text, "(): incompatible function arguments.") != nullptr) {
    try {
      tensorbraid::python::RaiseTypeError("wrong_type", text);
      return;
    } catch (const nanobind::python_error&) {
    }
  }
  PyErr_SetString(type, text);
}
