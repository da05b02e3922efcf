// Values between NumPy and tensors.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <limits>
#include <vector>

#include "binding/binding.h"

namespace tensorbraid::python {
namespace {

nb::module_ NumPy() { return nb::module_::import_("numpy"); }

// The NumPy dtype of elements that NumPy has; a bfloat16 is ml_dtypes'.
nb::object NumPyType(DType dtype) {
  if (dtype == DType::kBfloat16) return nb::module_::import_("ml_dtypes").attr("bfloat16");
  if (dtype == DType::kString) return NumPy().attr("object_");
  if (dtype == DType::kBool) return NumPy().attr("bool_");
  return NumPy().attr(DTypeName(StorageType(dtype)).c_str());
}

DType DTypeOfArray(nb::handle array) {
  const auto type = array.attr("dtype");
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
  if (nb::isinstance<nb::str>(text)) return nb::cast<std::string>(text);
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

}  // namespace

Tensor TensorOf(nb::handle value, DType dtype) {
  const nb::module_ numpy = NumPy();
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
    const auto out = tensor.mutable_data<std::string>();
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
  std::memcpy(tensor.mutable_raw_data(), bytes.data(), bytes.size());
  return tensor;
}

nb::object ArrayOf(Tensor tensor) {
  if (!tensor.is_valid()) return nb::none();
  const nb::module_ numpy = NumPy();
  std::vector<nb::object> dims;
  nb::list shape;
  for (int i = 0; i < tensor.shape().rank(); ++i) shape.append(tensor.shape().dim(i));
  if (tensor.dtype() == DType::kString) {
    nb::list texts;
    for (const std::string& text : tensor.data<std::string>()) texts.append(nb::bytes(text.data(), text.size()));
    if (tensor.shape().rank() == 0) return nb::object(texts[0]);
    nb::object array = numpy.attr("empty")(tensor.num_elements(), numpy.attr("object_"));
    for (size_t i = 0; i < nb::len(texts); ++i) array[nb::int_(i)] = texts[i];
    return array.attr("reshape")(nb::tuple(shape));
  }
  if (!IsPlain(tensor.dtype())) {
    throw nb::type_error(("a tensor of " + DTypeName(tensor.dtype()) + " has no value in Python").c_str());
  }
  if (!tensor.IsWritable()) tensor = tensor.DeepCopy();
  auto* const kept = new Tensor(std::move(tensor));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Tensor*>(p); });
  const auto flat = nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>>(kept->mutable_raw_data(), {kept->num_bytes()}, owner);
  nb::object array = nb::cast(flat).attr("view")(NumPyType(kept->dtype())).attr("reshape")(nb::tuple(shape));
  return kept->shape().rank() == 0 ? array[nb::tuple()] : array;
}

}  // namespace tensorbraid::python
