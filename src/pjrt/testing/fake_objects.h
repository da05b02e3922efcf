// The objects of the interface, as the fake plugin has them.
#ifndef TENSORBRAID_PJRT_TESTING_FAKE_OBJECTS_H_
#define TENSORBRAID_PJRT_TESTING_FAKE_OBJECTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pjrt/c_api.h"
#include "pjrt/testing/fake_code.h"
#include "pjrt/testing/fake_work.h"

namespace tensorbraid::pjrt::c_api {

using fake::ArrayType;
using fake::Block;
using fake::Code;
using fake::Moment;

struct Event {
  explicit Event(std::shared_ptr<Moment> moment) : moment(std::move(moment)) { ++control.events; }
  ~Event() { --control.events; }
  const std::shared_ptr<Moment> moment;
};

struct DeviceDescription {
  int id;
};

struct Device {
  DeviceDescription description;
};

struct Client {
  explicit Client(const std::set<int>& ids) {
    ++control.clients;
    for (const int id : ids) {
      owned.push_back(std::make_unique<Device>(Device{{id}}));
      list.push_back(owned.back().get());
    }
  }
  ~Client() { --control.clients; }
  std::vector<std::unique_ptr<Device>> owned;
  std::vector<Device*> list;
  std::mutex mu;
  std::map<void*, size_t> pinned;  // host memory, with its size
};

struct Buffer {
  Buffer(Client* client, Device* device, ArrayType type, std::shared_ptr<Block> memory)
      : client(client), device(device), type(std::move(type)), memory(std::move(memory)) {
    ++control.buffers;
  }
  ~Buffer() { --control.buffers; }
  Client* const client;
  Device* const device;
  const ArrayType type;
  std::shared_ptr<Block> memory;  // null: consumed
  const std::shared_ptr<Moment> ready = std::make_shared<Moment>();
};

struct LoadedExecutable {
  LoadedExecutable(Client* client, std::shared_ptr<const Code> code) : client(client), code(std::move(code)) {
    ++control.programs;
  }
  ~LoadedExecutable() { --control.programs; }
  Client* const client;
  const std::shared_ptr<const Code> code;
};

struct Executable {
  explicit Executable(std::shared_ptr<const Code> code) : code(std::move(code)) {
    ++control.programs;
    for (const int output : this->code->outputs) {
      const ArrayType& type = this->code->types[output];
      types.push_back(type.type);
      ranks.push_back(type.dims.size());
      dims.insert(dims.end(), type.dims.begin(), type.dims.end());
    }
  }
  ~Executable() { --control.programs; }
  const std::shared_ptr<const Code> code;
  std::vector<ElementType> types;
  std::vector<int64_t> dims;
  std::vector<size_t> ranks;
};

struct SerializedExecutable {
  std::string bytes;
};

struct Topology {
  Topology() { ++control.topologies; }
  ~Topology() { --control.topologies; }
};

}  // namespace tensorbraid::pjrt::c_api

#endif  // TENSORBRAID_PJRT_TESTING_FAKE_OBJECTS_H_
