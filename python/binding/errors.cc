#include <nanobind/stl/string.h>

#include <string>
#include <typeinfo>

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
    } catch (const std::bad_cast&) {
      PyErr_SetString(PyExc_TypeError,
                      "an argument has another type than is expected, or is a text with surrogates, which UTF-8 lacks");
    }
  });
}

}  // namespace tensorbraid::python
