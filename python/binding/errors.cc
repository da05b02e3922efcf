#include <nanobind/stl/string.h>

#include <string>

#include "binding/binding.h"

namespace tensorbraid::python {

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
    }
  });
}

}  // namespace tensorbraid::python
