// Values that are fed to a step. A large array is used in place (Tensor::Borrow).
#include <nanobind/stl/string.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "binding/session.h"
#include "graph/model/fed_variables.h"

namespace tensorbraid::python {
namespace {

// A smaller array is copied in less time than it takes to keep its memory alive.
constexpr Py_ssize_t kBorrowedBytes = 64 << 10;

// The buffers of arrays that steps no longer use. Steps end on threads without Python's lock, which is needed to
// release a buffer.
struct Unused {
  std::mutex mu;
  std::vector<Py_buffer*> buffers;  // guarded by mu
};
Unused& TheUnused() {
  static Unused* const unused = new Unused;
  return *unused;
}

// The dtype for the format of a buffer of Python (module `struct`), in the machine's byte order; kInvalid if it is
// another one.
DType DTypeOfFormat(const char* format, Py_ssize_t size) {
  if (format == nullptr) return DType::kUint8;
  if (format[0] == 'Z') return size == 8 ? DType::kComplex64 : size == 16 ? DType::kComplex128 : DType::kInvalid;
  if (format[1] != '\0') return DType::kInvalid;
  switch (format[0]) {
    case 'f':
      return kFloat32;
    case 'd':
      return kFloat64;
    case 'e':
      return kFloat16;
    case '?':
      return kBool;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
      return size == 1 ? kInt8 : size == 2 ? kInt16 : size == 4 ? kInt32 : kInt64;
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
      return size == 1 ? kUint8 : size == 2 ? kUint16 : size == 4 ? kUint32 : kUint64;
    default:
      return DType::kInvalid;
  }
}

// The tensor for an array that has the wanted dtype and is contiguous; an invalid tensor for other arrays.
Tensor TensorOfBuffer(nb::handle array, DType dtype, bool borrow) {
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(array.ptr(), view.get(), PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return Tensor();
  }
  Tensor tensor;
  if (DTypeOfFormat(view->format, view->itemsize) == dtype) {
    const Shape shape(std::vector<int64_t>(view->shape, view->shape + view->ndim));
    if (borrow && view->len >= kBorrowedBytes) {
      Py_buffer* const lent = view.get();
      StatusOr<Tensor> borrowed = Tensor::Borrow(lent->buf, dtype, shape, [lent] {
        const std::lock_guard lock(TheUnused().mu);
        TheUnused().buffers.push_back(lent);
      });
      if (borrowed.ok()) {
        view.release();
        return *std::move(borrowed);
      }
    }
    tensor = Check(Tensor::Create(dtype, shape));
    if (view->len > 0) std::memcpy(tensor.inplace_raw_data(), view->buf, static_cast<size_t>(view->len));
  }
  PyBuffer_Release(view.get());
  return tensor;
}

// The scalar for a number of Python; an invalid tensor for other values.
Tensor TensorOfNumber(nb::handle value, DType dtype) {
  if (PyFloat_CheckExact(value.ptr())) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (dtype == kFloat32) return Tensor::Scalar(static_cast<float>(number));
    if (dtype == kFloat64) return Tensor::Scalar(number);
  }
  if (PyLong_CheckExact(value.ptr()) && (dtype == kInt32 || dtype == kInt64)) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow == 0 && dtype == kInt64) return Tensor::Scalar(static_cast<int64_t>(number));
    if (overflow == 0 && number == static_cast<int32_t>(number)) return Tensor::Scalar(static_cast<int32_t>(number));
  }
  if (PyBool_Check(value.ptr()) && dtype == kBool) return Tensor::Scalar(value.ptr() == Py_True);
  return Tensor();
}

// The value of Python for a fed tensor. An error names the tensor.
Tensor ConvertedFeed(nb::handle value, const Output& output, DType dtype) {
  const auto named = [&](const std::string& message) {
    return "Cannot feed Tensor '" + output.name() + "': " + message;
  };
  try {
    return TensorOf(value, dtype);
  } catch (const nb::builtin_exception& error) {
    if (error.type() == nb::exception_type::type_error) {
      if (Tensor tensor = TensorByNumPy(value, dtype); tensor.is_valid()) return tensor;
    }
    throw nb::builtin_exception(error.type(), named(error.what()).c_str());
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_TypeError)) throw;
    const std::string message = named(nb::cast<std::string>(nb::str(error.value())));
    if (error.matches(PyExc_ValueError)) throw nb::value_error(message.c_str());
    throw nb::type_error(message.c_str());
  }
}

// The value for a fed tensor, checked. With `borrow`, a large array is used in place.
Tensor FedTensor(nb::handle value, const Output& output, bool borrow) {
  const auto [dtype, shape] = FedSpecOf(output);
  Tensor tensor = IsNumPyArray(value) ? TensorOfBuffer(value, dtype, borrow) : TensorOfNumber(value, dtype);
  if (!tensor.is_valid()) {
    if (nb::isinstance<PyTensor>(value) || nb::isinstance<PyOperation>(value)) {
      throw nb::type_error(
          "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, strings, "
          "lists, numpy ndarrays, or TensorHandles.");
    }
    tensor = ConvertedFeed(value, output, dtype);
    if (PyLong_Check(value.ptr()) && IsInteger(dtype) && !ArrayOf(tensor.DeepCopy()).equal(value)) {
      throw nb::type_error(("Type of feed value " + nb::cast<std::string>(nb::str(value)) + " with type " +
                            nb::cast<std::string>(nb::str(value.type())) + " is not compatible with Tensor type " +
                            DTypeName(dtype) +
                            ". Try explicitly setting the type of the feed tensor to a larger type "
                            "(e.g. int64).")
                               .c_str());
    }
  }
  if (!shape.IsCompatibleWith(tensor.shape())) {
    const nb::object expected = nb::module_::import_("tensorbraid.internal.shapes").attr("TensorShape")(DimsOf(shape));
    throw nb::value_error(("Cannot feed value of shape " + nb::cast<std::string>(nb::str(DimsTuple(tensor.shape()))) +
                           " for Tensor '" + output.name() + "', which has shape '" +
                           nb::cast<std::string>(nb::str(expected)) + "'")
                              .c_str());
  }
  return tensor;
}

}  // namespace

std::vector<Feed> FeedsOf(nb::handle feeds) {
  std::vector<Feed> fed;
  for (const nb::handle pair : feeds) {
    const Output& output = nb::cast<PyTensor&>(pair[0]).output;
    fed.emplace_back(output, FedTensor(pair[1], output, /*borrow=*/false));
  }
  return fed;
}

std::vector<Tensor> FedTensors(const std::vector<Output>& tensors, nb::handle values) {
  ReleaseFedArrays();
  std::vector<Tensor> fed;
  fed.reserve(tensors.size());
  for (const nb::handle value : values) {
    if (fed.size() == tensors.size()) throw nb::value_error("more values than fed tensors");
    fed.push_back(FedTensor(value, tensors[fed.size()], /*borrow=*/true));
  }
  if (fed.size() != tensors.size()) throw nb::value_error("fewer values than fed tensors");
  return fed;
}

void ReleaseFedArrays() {
  std::vector<Py_buffer*> buffers;
  {
    const std::lock_guard lock(TheUnused().mu);
    buffers.swap(TheUnused().buffers);
  }
  for (Py_buffer* const buffer : buffers) {
    PyBuffer_Release(buffer);
    delete buffer;
  }
}

}  // namespace tensorbraid::python
