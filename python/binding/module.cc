#include "binding/binding.h"

NB_MODULE(_core, m) {
  m.doc() = "The C++ library under the package tensorbraid.";
  tensorbraid::python::BindErrors(m);
  tensorbraid::python::BindGraph(m);
  tensorbraid::python::BindVariables(m);
  tensorbraid::python::BindVariableScopes(m);
  tensorbraid::python::BindLayers(m);
  tensorbraid::python::BindRnn(m);
  tensorbraid::python::BindLosses(m);
  tensorbraid::python::BindOptimizers(m);
  tensorbraid::python::BindSession(m);
  tensorbraid::python::BindCluster(m);
}
