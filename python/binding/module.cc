#include "binding/binding.h"

NB_MODULE(_core, m) {
  m.doc() = "The C++ library under the package tensorbraid.";
  tensorbraid::python::BindErrors(m);
  tensorbraid::python::BindGraph(m);
  tensorbraid::python::BindGraphElements(m);
  tensorbraid::python::BindVariables(m);
  tensorbraid::python::BindControlFlow(m);
  tensorbraid::python::BindFunctions(m);
  tensorbraid::python::BindDatasets(m);
  tensorbraid::python::BindVariableScopes(m);
  tensorbraid::python::BindLayers(m);
  tensorbraid::python::BindRnn(m);
  tensorbraid::python::BindLosses(m);
  tensorbraid::python::BindSession(m);
  tensorbraid::python::BindCluster(m);
  tensorbraid::python::BindSaver(m);
  tensorbraid::python::BindFileWriter(m);
  tensorbraid::python::BindCoordinator(m);
  tensorbraid::python::BindHooks(m);
  tensorbraid::python::BindOptimizers(m);
  tensorbraid::python::BindMonitoredSession(m);
  tensorbraid::python::BindSupervisor(m);
  tensorbraid::python::BindRecords(m);
  tensorbraid::python::BindOwnGradients(m);
}
