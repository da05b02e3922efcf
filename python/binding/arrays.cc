// Values between NumPy and tensors.
#include <nanobind/stl/string.h>

#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "binding/binding.h"

namespace tensorbraid::python {
namespace {

// What each conversion needs of NumPy. Never destroyed.
struct NumPy {
  nb::module_ module = nb::module_::import_("numpy");
  nb::object ndarray = module.attr("ndarray");
  nb::object object_dtype = module.attr("dtype")("O");
  std::array<nb::object, 64> dtypes;   // by DType: the numpy.dtype of its elements
  std::array<nb::object, 64> scalars;  // by DType: the class of NumPy's scalars
};

// Made at the first use, so that a tool can import the module without NumPy. Needs Python's lock, which the import may
// release for a while.
NumPy& TheNumPy() {
  static NumPy* numpy = nullptr;
  if (numpy == nullptr) {
    auto* const made = new NumPy;
    if (numpy == nullptr) numpy = made;
  }
  return *numpy;
}

const nb::module_& NumPyModule() { return TheNumPy().module; }

// The NumPy dtype of elements that NumPy has; a bfloat16 is ml_dtypes'.
const nb::object& NumPyType(DType dtype) {
  if (dtype == DType::kString) return TheNumPy().object_dtype;
  nb::object& type = TheNumPy().dtypes.at(static_cast<size_t>(dtype));
  if (!type.is_valid()) {
    const nb::object scalar = dtype == DType::kBfloat16 ? nb::module_::import_("ml_dtypes").attr("bfloat16")
                              : dtype == DType::kBool   ? NumPyModule().attr("bool_")
                                                        : NumPyModule().attr(DTypeName(StorageType(dtype)).c_str());
    TheNumPy().scalars.at(static_cast<size_t>(dtype)) = scalar;
    type = NumPyModule().attr("dtype")(scalar);
  }
  return type;
}

DType DTypeOfArray(nb::handle array) {
  const nb::object type = array.attr("dtype");
  const std::string kind = nb::cast<std::string>(type.attr("kind"));
  if (kind == "O" || kind == "S" || kind == "U") return DType::kString;
  const auto dtype = ParseDType(nb::cast<std::string>(type.attr("name")));
  if (!dtype.has_value()) {
    throw nb::type_error(
        ("NumPy arrays of " + nb::cast<std::string>(nb::str(type)) + " have no TensorFlow dtype").c_str());
  }
  return *dtype;
}

Shape ShapeOfArray(nb::handle array) {
  std::vector<int64_t> dims;
  for (const nb::handle dim : array.attr("shape")) dims.push_back(nb::cast<int64_t>(dim));
  return Shape(dims);
}

std::string Bytes(nb::handle text) {
  if (nb::isinstance<nb::bytes>(text)) {
    const auto bytes = nb::borrow<nb::bytes>(text);
    return std::string(bytes.c_str(), bytes.size());
  }
  if (nb::isinstance<nb::str>(text)) {
    Py_ssize_t size;
    const char* const utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (utf8 == nullptr) throw nb::python_error();  // UnicodeEncodeError: it has surrogates
    return std::string(utf8, static_cast<size_t>(size));
  }
  throw nb::type_error(("expected a string or bytes, got " + nb::cast<std::string>(nb::repr(text))).c_str());
}

bool FitsInt32(nb::handle integers) {
  if (nb::cast<size_t>(integers.attr("size")) == 0) return true;
  const auto number = [&](const char* which) { return nb::cast<double>(integers.attr(which)().attr("item")()); };
  return number("max") <= std::numeric_limits<int32_t>::max() && number("min") >= std::numeric_limits<int32_t>::min();
}

class ArrayBytes {
 public:
  explicit ArrayBytes(nb::handle array) {
    if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_C_CONTIGUOUS) != 0) throw nb::python_error();
  }
  ~ArrayBytes() { PyBuffer_Release(&view_); }
  ArrayBytes(const ArrayBytes&) = delete;
  ArrayBytes& operator=(const ArrayBytes&) = delete;
  const void* data() const { return view_.buf; }
  size_t size() const { return static_cast<size_t>(view_.len); }

 private:
  Py_buffer view_;
};

// The memory of a tensor that Python's buffers refer to. Nothing else uses the tensor.
struct TensorMemory {
  Tensor tensor;
};

int GetTensorBuffer(PyObject* self, Py_buffer* view, int flags) {
  Tensor& tensor = nb::inst_ptr<TensorMemory>(self)->tensor;
  const auto size = static_cast<Py_ssize_t>(tensor.num_bytes());
  return PyBuffer_FillInfo(view, self, tensor.inplace_raw_data(), size, /*readonly=*/0, flags);
}

// An array of bytes objects; the bytes object itself for a scalar.
nb::object ArrayOfStrings(const Tensor& tensor) {
  nb::list texts;
  for (const std::string& text : tensor.data<std::string>()) texts.append(nb::bytes(text.data(), text.size()));
  if (tensor.shape().rank() == 0) return nb::object(texts[0]);
  nb::object array = NumPyModule().attr("empty")(tensor.num_elements(), TheNumPy().object_dtype);
  for (size_t i = 0; i < nb::len(texts); ++i) array[nb::int_(i)] = texts[i];
  return array.attr("reshape")(DimsTuple(tensor.shape()));
}

}  // namespace

nb::object DimsTuple(const Shape& shape) {
  nb::list dims;
  for (int i = 0; i < shape.rank(); ++i) dims.append(shape.dim(i));
  return nb::tuple(dims);
}

bool IsNumPyArray(nb::handle value) {
  return Py_TYPE(value.ptr()) == reinterpret_cast<PyTypeObject*>(TheNumPy().ndarray.ptr());
}

Tensor TensorOf(nb::handle value, DType dtype) {
  const nb::module_& numpy = NumPyModule();
  if (!IsNumPyArray(value) && !nb::hasattr(value, "__array__") && nb::hasattr(value, "__dlpack__")) {
    return TensorOf(numpy.attr("from_dlpack")(value), dtype);
  }
  const bool is_array = nb::hasattr(value, "dtype") && nb::hasattr(value, "shape");
  nb::object array = is_array ? numpy.attr("asarray")(value) : nb::object();
  if (!is_array) {
    // Python's own numbers: NumPy finds the type, which is then the default of TensorFlow.
    if (dtype == DType::kString) {
      array = numpy.attr("array")(value, numpy.attr("object_"));
    } else {
      array = numpy.attr("array")(value);
      const std::string kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
      if (dtype == DType::kInvalid) {
        if (kind == "f") dtype = kFloat32;
        if (kind == "i" || kind == "u") dtype = FitsInt32(array) ? kInt32 : kInt64;
        if (kind == "S" || kind == "U") array = numpy.attr("array")(value, numpy.attr("object_"));
      } else if (IsInteger(dtype) && kind == "f" && nb::cast<size_t>(array.attr("size")) > 0) {
        throw nb::type_error(
            ("expected " + DTypeName(dtype) + ", got " + nb::cast<std::string>(nb::repr(value)) + " of type 'float'")
                .c_str());
      }
    }
  }
  if (dtype == DType::kInvalid) dtype = DTypeOfArray(array);
  const Shape shape = ShapeOfArray(array);
  Tensor tensor = Check(Tensor::Create(dtype, shape));
  if (dtype == DType::kString) {
    const auto out = tensor.inplace_data<std::string>();
    size_t i = 0;
    for (const nb::handle text : array.attr("ravel")()) out[i++] = Bytes(text);
    return tensor;
  }
  const std::string kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if (kind == "O" || kind == "S" || kind == "U") {
    throw nb::type_error(("expected " + DTypeName(dtype) + ", got " + nb::cast<std::string>(nb::repr(value))).c_str());
  }
  array = numpy.attr("ascontiguousarray")(array.attr("astype")(NumPyType(dtype), nb::arg("copy") = false));
  if (dtype == DType::kBfloat16) array = array.attr("view")(numpy.attr("uint16"));
  const ArrayBytes bytes(array);
  if (bytes.size() != tensor.num_bytes()) throw nb::value_error("the array changed while it was read");
  std::memcpy(tensor.inplace_raw_data(), bytes.data(), bytes.size());
  return tensor;
}

nb::object ArrayOf(Tensor tensor) {
  if (!tensor.is_valid()) return nb::none();
  if (tensor.dtype() == DType::kString) return ArrayOfStrings(tensor);
  if (!IsPlain(tensor.dtype())) {
    throw nb::type_error(("a tensor of " + DTypeName(tensor.dtype()) + " has no value in Python").c_str());
  }
  const nb::object& type = NumPyType(tensor.dtype());
  if (tensor.shape().rank() == 0) {
    const nb::object& scalar = TheNumPy().scalars.at(static_cast<size_t>(tensor.dtype()));
    if (tensor.dtype() == DType::kFloat32) return scalar(tensor.scalar<float>());
    if (tensor.dtype() == DType::kFloat64) return scalar(tensor.scalar<double>());
    if (tensor.dtype() == DType::kInt32) return scalar(tensor.scalar<int32_t>());
    if (tensor.dtype() == DType::kInt64) return scalar(tensor.scalar<int64_t>());
  }
  const nb::object shape = DimsTuple(tensor.shape());
  if (tensor.num_elements() == 0) return NumPyModule().attr("empty")(shape, type);
  if (!tensor.IsWritable()) tensor = tensor.DeepCopy();
  const bool is_scalar = tensor.shape().rank() == 0;
  nb::object array = TheNumPy().ndarray(shape, type, TensorMemory{std::move(tensor)});
  return is_scalar ? array[nb::tuple()] : array;
}

void BindArrays(Module& m) {
  static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&GetTensorBuffer)}, {0, nullptr}};
  Class<TensorMemory>(m, "TensorMemory", nb::type_slots(slots));
}

Tensor TensorByNumPy(nb::handle value, DType dtype) {
  if (value.is_none() || !(IsInteger(dtype) || IsFloating(dtype) || IsComplex(dtype) || dtype == kBool))
    return Tensor();
  try {
    return TensorOf(NumPyModule().attr("asarray")(value, nb::arg("dtype") = NumPyType(dtype)), dtype);
  } catch (const nb::python_error&) {
    return Tensor();
  } catch (const nb::builtin_exception&) {
    return Tensor();
  }
}

}  // namespace tensorbraid::python
