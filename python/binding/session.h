// The session of Python, and the values that go into and out of steps.
#ifndef TENSORBRAID_PYTHON_BINDING_SESSION_H_
#define TENSORBRAID_PYTHON_BINDING_SESSION_H_

#include <memory>
#include <vector>

#include "binding/graph.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid::python {

// A session, and the Python object of its graph, which must outlive it. Members are destroyed in reverse order. The
// session of a training loop is borrowed: the loop sets `session` to null when it ends the session.
struct PySession {
  nb::object graph;
  std::shared_ptr<Session> session;

  // Raises ValueError if the session is closed.
  Session& get() const;
};

// A PySession that does not own its session.
PySession Borrow(nb::object graph, Session& session);

// Fetches are tensors, variables and operations. Feeds are pairs of a tensor and a value.
std::vector<Fetch> FetchesOf(nb::handle fetches);
std::vector<Feed> FeedsOf(nb::handle feeds);
// The values as NumPy arrays; None for operations.
nb::list ValuesOf(std::vector<Tensor> values);

}  // namespace tensorbraid::python

#endif  // TENSORBRAID_PYTHON_BINDING_SESSION_H_
