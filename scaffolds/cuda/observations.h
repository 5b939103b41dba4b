// Observation files: raw outputs of a plan (docs/harness.md).
#pragma once

#include <cerrno>
#include <cstdio>

#include "storage.h"

namespace krepro {

// A file could not be written: exit code 74.
struct CannotWrite : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Record {
  std::uint32_t probe = 0;
  std::uint32_t launch = 0;
  std::uint32_t status = 0;
  bool filled = false;  // shared memory, before the launch
  std::uint64_t guard_hits = 0;
  std::uint64_t input_hits = 0;
  std::vector<unsigned char> storage;
  std::vector<unsigned char> mask;
};

class ObservationFile {
 public:
  explicit ObservationFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb")) {
    if (file_ == nullptr) fail();
    write("KREPROBS", 8);
    number32(1);
    number32(0);
  }
  ObservationFile(const ObservationFile&) = delete;
  ObservationFile& operator=(const ObservationFile&) = delete;
  ~ObservationFile() {
    if (file_ != nullptr) std::fclose(file_);
  }

  void add(const Operand& out, const Record& record) {
    number32(record.probe);
    number32(record.launch);
    number32(record.status | (record.filled ? 2u : 0u));
    number32(static_cast<std::uint32_t>(out.element));
    number64(out.rows);
    number64(out.columns);
    number64(out.leading_dimension);
    number64(record.storage.size());
    number64(record.mask.size());
    number64(record.guard_hits);
    number64(record.input_hits);
    write(record.storage.data(), record.storage.size());
    write(record.mask.data(), record.mask.size());
    ++records_;
  }

  // Only now does the header tell how many records there are.
  void finish() {
    if (std::fseek(file_, 12, SEEK_SET) != 0) fail();
    number32(records_);
    std::FILE* file = file_;
    file_ = nullptr;
    if (std::fclose(file) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const { throw CannotWrite(path_ + ": " + std::strerror(errno)); }

  void write(const void* bytes, std::size_t count) {
    if (count != 0 && std::fwrite(bytes, 1, count, file_) != count) fail();
  }
  void number32(std::uint32_t value) {
    unsigned char bytes[4];
    for (unsigned i = 0; i < 4; ++i) bytes[i] = static_cast<unsigned char>(value >> (8 * i));
    write(bytes, 4);
  }
  void number64(std::uint64_t value) {
    number32(static_cast<std::uint32_t>(value));
    number32(static_cast<std::uint32_t>(value >> 32));
  }

  std::string path_;
  std::FILE* file_ = nullptr;
  std::uint32_t records_ = 0;
};

}  // namespace krepro
