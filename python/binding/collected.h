// Lets Python's garbage collector find reference cycles that pass through objects of C++.
#ifndef TENSORBRAID_PYTHON_BINDING_COLLECTED_H_
#define TENSORBRAID_PYTHON_BINDING_COLLECTED_H_

#include "binding/binding.h"

namespace tensorbraid::python {

// The offset of the attribute dictionary in the objects of T; 0 if they have none. The functions below replace those of
// nanobind for the collector, so they must visit the dictionary.
template <typename T>
inline Py_ssize_t attributes_at = 0;

template <typename T>
PyObject** AttributesOf(PyObject* self) {
  return attributes_at<T> == 0 ? nullptr
                               : reinterpret_cast<PyObject**>(reinterpret_cast<char*>(self) + attributes_at<T>);
}

// Visits what the object refers to: its attributes, and what T::Traverse visits. A type without this function refers to
// its graph only.
template <typename T>
int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (PyObject** const attributes = AttributesOf<T>(self)) Py_VISIT(*attributes);
  if (!nb::inst_ready(self)) return 0;
  const T& object = *nb::inst_ptr<T>(self);
  if constexpr (requires { object.Traverse(visit, arg); })
    return object.Traverse(visit, arg);
  else
    Py_VISIT(object.graph.ptr());
  return 0;
}

// Clears these references of an object that is garbage.
template <typename T>
int Clear(PyObject* self) {
  if (PyObject** const attributes = AttributesOf<T>(self)) Py_CLEAR(*attributes);
  if (!nb::inst_ready(self)) return 0;
  T& object = *nb::inst_ptr<T>(self);
  if constexpr (requires { object.Clear(); })
    object.Clear();
  else
    object.graph.reset();
  return 0;
}

template <typename T>
PyType_Slot* Collected() {
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&Traverse<T>)},
                                {Py_tp_clear, reinterpret_cast<void*>(&Clear<T>)},
                                {0, nullptr}};
  return slots;
}

// An element of a graph has one object, so two objects are equal only if they are the same.
inline PyObject* CompareElements(PyObject* self, PyObject* other, int op) {
  if (op != Py_EQ && op != Py_NE) return Py_NewRef(Py_NotImplemented);
  return PyBool_FromLong((self == other) == (op == Py_EQ));
}
// The hash of an element is that of its name, so that sets have the same order in all tasks. TypeError for an object
// that no constructor has made.
template <typename T>
Py_hash_t HashOfElement(PyObject* self) {
  if (!nb::inst_ready(self)) {
    PyErr_SetString(PyExc_TypeError, "the object was not made by a graph");
    return -1;
  }
  const auto hash = static_cast<Py_hash_t>(HashOf(*nb::inst_ptr<T>(self)));
  return hash == -1 ? -2 : hash;
}
template <typename T>
PyType_Slot* CollectedElement() {
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&Traverse<T>)},
                                {Py_tp_clear, reinterpret_cast<void*>(&Clear<T>)},
                                {Py_tp_richcompare, reinterpret_cast<void*>(&CompareElements)},
                                {Py_tp_hash, reinterpret_cast<void*>(&HashOfElement<T>)},
                                {0, nullptr}};
  return slots;
}

// A class of elements of graphs. Programs can set attributes of its objects and make weak references to them.
template <typename T>
Class<T> ElementClass(Module& m, const char* name) {
  Class<T> made(m, name, nb::dynamic_attr(), nb::is_weak_referenceable(), nb::type_slots(CollectedElement<T>()));
  attributes_at<T> = nb::cast<Py_ssize_t>(made.attr("__dictoffset__"));
  return made;
}

}  // namespace tensorbraid::python

#endif  // TENSORBRAID_PYTHON_BINDING_COLLECTED_H_
