#include <nanobind/stl/string_view.h>

#include "binding/binding.h"
#include "binding/interrupt.h"
#include "core/system/fork_count.h"

NB_MODULE(_core, native) {
  // A thread that Python does not wait for may hold objects until the end.
  nanobind::set_leak_warnings(false);
  tensorbraid::python::Module m(native);
  m.doc() = "The C++ library under the package tensorbraid.";
  m.def("_header_doc", &tensorbraid::python::HeaderDoc);
  tensorbraid::CountForks();
  tensorbraid::python::WatchInterrupts();
  tensorbraid::python::BindErrors(m);
  tensorbraid::python::BindArrays(m);
  tensorbraid::python::BindPythonCalls(m);
  tensorbraid::python::BindLog(m);
  tensorbraid::python::BindGraph(m);
  tensorbraid::python::BindGraphElements(m);
  tensorbraid::python::BindVariables(m);
  tensorbraid::python::BindControlFlow(m);
  tensorbraid::python::BindFunctions(m);
  tensorbraid::python::BindHostFunctions(m);
  tensorbraid::python::BindDatasets(m);
  tensorbraid::python::BindVariableScopes(m);
  tensorbraid::python::BindEmbeddings(m);
  tensorbraid::python::BindRnn(m);
  tensorbraid::python::BindLosses(m);
  tensorbraid::python::BindSession(m);
  tensorbraid::python::BindCluster(m);
  tensorbraid::python::BindOpLibraries(m);
  tensorbraid::python::BindSaver(m);
  tensorbraid::python::BindFileWriter(m);
  tensorbraid::python::BindCoordinator(m);
  tensorbraid::python::BindHooks(m);
  tensorbraid::python::BindOptimizers(m);
  tensorbraid::python::BindMonitoredSession(m);
  tensorbraid::python::BindSessionManager(m);
  tensorbraid::python::BindSupervisor(m);
  tensorbraid::python::BindRecords(m);
  tensorbraid::python::BindOwnGradients(m);
}
