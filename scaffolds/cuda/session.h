// One probe after another: inputs on the device, the output pre-filled, a launch, what it left behind.
#pragma once

#include "compare.h"
#include "device.h"
#include "observations.h"
#include "options.h"
#include "shared_memory.h"
#include "watchdog.h"

namespace krepro {

// A launch that did not end within the deadline: exit code 4.
struct Hang {};

struct LaunchResult {
  Observed observed;
  Record record;
};

// The codes of the operand `groups`, zeros where the operand is longer.
inline std::vector<unsigned char> group_codes(const Problem& problem, const Operand& operand) {
  std::vector<unsigned char> codes(bytes_of(operand.element, operand.rows * operand.columns), 0);
  const std::vector<std::int32_t> table = group_table(problem);
  std::memcpy(codes.data(), table.data(), std::min(codes.size(), table.size() * sizeof(std::int32_t)));
  return codes;
}

class Session {
 public:
  Session(const Problem& problem, const Options& options) : problem_(problem), options_(options) {
    for (std::size_t i = 0; i < role_count; ++i) inputs_[i] = find_operand(problem, static_cast<Role>(i));
    out_ = find_operand(problem, Role::out);
  }

  // Buffers and descriptors. Each descriptor's outcome is told to `said(name, error text or empty)`.
  template <class Said>
  bool open(const Said& said) {
    for (std::size_t i = 0; i < role_count; ++i) {
      if (inputs_[i] == nullptr) continue;
      tensors_[i].image = make_image(*inputs_[i]);
      tensors_[i].create();
      buffers_.addresses[role_name(static_cast<Role>(i))] = tensors_[i].address();
    }
    workspace_.image.guard = 4096;
    workspace_.image.data = problem_.launch.workspace;
    workspace_.image.bytes.assign(2 * 4096 + problem_.launch.workspace, problem_.launch.workspace_fill);
    workspace_.create();
    buffers_.addresses["workspace"] = workspace_.address();
    shared_memory_.open();
    KREPRO_CHECK(cudaEventCreateWithFlags(&done_, cudaEventDisableTiming));
    bool good = true;
    for (std::size_t i = 0; i < problem_.descriptor_count; ++i) {
      const Descriptor& descriptor = problem_.descriptors[i];
      CUtensorMap map = {};
      const std::string error = encode_map(descriptor, tensors_[static_cast<std::size_t>(descriptor.operand)].address(), map);
      said(descriptor.name, error);
      good = good && error.empty();
      void* copy = nullptr;
      KREPRO_CHECK(cudaMalloc(&copy, sizeof map));
      KREPRO_CHECK(cudaMemcpy(copy, &map, sizeof map, cudaMemcpyHostToDevice));
      buffers_.maps[descriptor.name] = map;
      buffers_.device_maps[descriptor.name] = static_cast<CUtensorMap*>(copy);
    }
    return good;
  }

  // Codes that `--input` gave, for the fills of the rung with real values.
  void set_real(Role role, std::vector<unsigned char> codes) { real_[static_cast<std::size_t>(role)] = std::move(codes); }
  bool has_real(Role role) const { return !real_[static_cast<std::size_t>(role)].empty(); }

  // Fills and uploads the inputs of a probe; what did not change stays.
  void prepare(const Probe& probe) {
    for (std::size_t i = 0; i < role_count; ++i) {
      const Role role = static_cast<Role>(i);
      if (inputs_[i] == nullptr || role == Role::out) continue;
      Fill fill = fill_of(probe, role);
      if (role == Role::groups) fill.kind = FillKind::file;
      if (filled_[i] && !spoiled_ && fill == fills_[i] && poison_ == probe.poison) continue;
      std::vector<unsigned char> raw;
      if (role == Role::groups) {
        raw = group_codes(problem_, *inputs_[i]);
      } else if (fill.kind == FillKind::file) {
        raw = fill.path.empty() ? real_[i] : read_codes(*inputs_[i], fill.path);
      }
      fill_input(tensors_[i].image, values_[role], *inputs_[i], fill, raw, probe.poison);
      tensors_[i].upload();
      if (values_[role].size() == 1) buffers_.values[role_name(role)] = static_cast<double>(values_[role][0]);
      fills_[i] = fill;
      filled_[i] = true;
    }
    poison_ = probe.poison;
    spoiled_ = false;
  }

  const Values& values() const { return values_; }

  // What an unwritten output holds in this launch, as a storage code. Types without a spare NaN change it from launch to
  // launch.
  std::uint64_t prefill(const Probe& probe, unsigned index) const {
    const Format& format = format_of(out_->element);
    if (!probe.sentinel) return encode(format, probe.start);
    if (format.sentinel != 0) return format.sentinel << format.shift;
    const std::uint64_t mask = (std::uint64_t{1} << format.bits) - 1;
    return (index % 2 == 0 ? 0x55555555ull : 0x2a2a2a2aull) & mask;
  }

  // Throws CudaError when the launch fails and Hang when it does not end.
  LaunchResult launch_once(const Probe& probe, unsigned index, bool check_inputs) {
    const Format& format = format_of(out_->element);
    DeviceTensor& out = tensors_[static_cast<std::size_t>(Role::out)];
    const std::uint64_t before = prefill(probe, index);
    fill_code_everywhere(out.image, format, before);
    out.upload();
    workspace_.upload();
    shared_memory_.fill(index);
    LaunchResult result;
    result.record.filled = shared_memory_.filled();
    launch(buffers_, problem_.launch);
    wait();
    out.download();
    collect(result, before, probe.sentinel);
    result.observed.guard_hits = out.guard_hits();
    if (check_inputs) {
      for (std::size_t i = 0; i < role_count; ++i) {
        if (inputs_[i] == nullptr || i == static_cast<std::size_t>(Role::out)) continue;
        tensors_[i].download();
        result.observed.guard_hits += tensors_[i].guard_hits();
        result.observed.input_hits += tensors_[i].data_hits();
      }
      workspace_.download();
      result.observed.guard_hits += workspace_.guard_hits();
      spoiled_ = result.observed.guard_hits + result.observed.input_hits != 0;
    }
    result.record.guard_hits = result.observed.guard_hits;
    result.record.input_hits = result.observed.input_hits;
    return result;
  }

  // Waits for the last launch; throws Hang when it does not end.
  void wait() {
    KREPRO_CHECK(cudaEventRecord(done_, nullptr));
    if (!wait_for_launch(done_, options_.deadline)) throw Hang{};
    KREPRO_CHECK(cudaDeviceSynchronize());
  }

  // Before a launch that is not the kernel's.
  void reset_memory(unsigned launch) {
    workspace_.upload();
    shared_memory_.fill(launch);
  }
  bool fills_shared_memory() const { return shared_memory_.filled(); }
  Buffers& buffers() { return buffers_; }
  DeviceTensor& tensor(Role role) { return tensors_[static_cast<std::size_t>(role)]; }
  // The inputs on the device are no longer those of `prepare`.
  void spoil() { spoiled_ = true; }

 private:
  // Codes, the written mask, and the bytes between rows that changed.
  void collect(LaunchResult& result, std::uint64_t before, bool sentinel) const {
    const DeviceTensor& out = tensors_[static_cast<std::size_t>(Role::out)];
    const unsigned bits = format_of(out_->element).bits;
    const unsigned char* data = out.seen.data() + out.image.guard;
    const std::uint64_t elements = storage_elements(*out_);
    const std::uint64_t width = out_->major == Major::k ? out_->columns : out_->rows;
    std::vector<unsigned char>& mask = result.record.mask;
    mask.assign((elements + 7) / 8, 0);
    std::uint64_t gap_elements = 0;
    for (std::uint64_t i = 0; i < elements; ++i) {
      const bool changed = load_code(data, bits, i) != before;
      if (changed || !sentinel) mask[i / 8] = static_cast<unsigned char>(mask[i / 8] | 1u << (i % 8));
      if (changed && i % out_->leading_dimension >= width) ++gap_elements;
    }
    result.observed.padding_hits = bytes_of(out_->element, gap_elements);
    result.record.storage.assign(data, data + out.image.data);
    result.observed.code.resize(out_->rows * out_->columns);
    result.observed.written.resize(out_->rows * out_->columns);
    for (std::uint64_t row = 0; row < out_->rows; ++row) {
      for (std::uint64_t column = 0; column < out_->columns; ++column) {
        const std::uint64_t at = element_index(*out_, row, column);
        result.observed.code[row * out_->columns + column] = static_cast<std::uint32_t>(load_code(data, bits, at));
        result.observed.written[row * out_->columns + column] = (mask[at / 8] >> (at % 8) & 1u) != 0;
      }
    }
  }

  const Problem& problem_;
  const Options& options_;
  const Operand* inputs_[role_count] = {};
  const Operand* out_ = nullptr;
  DeviceTensor tensors_[role_count];
  DeviceTensor workspace_;
  SharedMemory shared_memory_;
  Buffers buffers_;
  Values values_;
  Fill fills_[role_count];
  bool filled_[role_count] = {};
  std::vector<unsigned char> real_[role_count];
  bool poison_ = false;
  bool spoiled_ = false;
  cudaEvent_t done_ = nullptr;
};

// An element is unwritten only when it held its pre-fill after both of two launches with different pre-fills.
inline void merge_written(const Format& format, const Operand& out, LaunchResult& one, LaunchResult& two) {
  if (format.sentinel != 0) return;
  for (std::size_t i = 0; i < one.observed.written.size(); ++i) {
    const bool written = one.observed.written[i] || two.observed.written[i];
    one.observed.written[i] = two.observed.written[i] = written;
    const std::uint64_t at = element_index(out, i / out.columns, i % out.columns);
    if (!written) continue;
    for (LaunchResult* result : {&one, &two}) {
      unsigned char& byte = result->record.mask[at / 8];
      byte = static_cast<unsigned char>(byte | 1u << (at % 8));
    }
  }
}

}  // namespace krepro
