// Probes, and the strict reader of plan files (docs/harness.md).
#pragma once

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "fill.h"

namespace krepro {

// Bad usage or input: exit code 2.
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Probe {
  std::string name;
  bool filled[role_count] = {};
  Fill fills[role_count];
  bool poison = false;
  bool sentinel = true;
  double start = 0;  // what the output holds before a launch, without sentinel
  unsigned launches = 1;
};

inline bool is_factor(Role role) {
  return role == Role::scale_a || role == Role::scale_b || role == Role::alpha || role == Role::beta;
}

// An operand without a fill is 1 (scales, alpha, beta) or 0.
inline Fill fill_of(const Probe& probe, Role role) {
  const std::size_t index = static_cast<std::size_t>(role);
  if (probe.filled[index]) return probe.fills[index];
  return constant_fill(is_factor(role) ? 1.0 : 0.0);
}

inline void set_fill(Probe& probe, Role role, const Fill& fill) {
  probe.filled[static_cast<std::size_t>(role)] = true;
  probe.fills[static_cast<std::size_t>(role)] = fill;
}

inline bool find_role(const std::string& name, Role& role) {
  for (std::size_t i = 0; i < role_count; ++i) {
    role = static_cast<Role>(i);
    if (name == role_name(role)) return true;
  }
  return false;
}

class PlanReader {
 public:
  PlanReader(std::istream& in, std::string file) : in_(in), file_(std::move(file)) {}

  std::vector<Probe> read() {
    std::vector<Probe> probes;
    bool inside = false;
    bool headed = false;
    std::string line;
    while (std::getline(in_, line)) {
      ++line_;
      if (!line.empty() && line.back() == '\r') line.pop_back();
      const std::vector<std::string> words = split(line);
      if (words.empty() || words[0][0] == '#') continue;
      if (!headed) {
        if (words.size() != 2 || words[0] != "krepro-plan") fail("the first line must be `krepro-plan 1`");
        if (words[1] != "1") fail("plan version " + words[1] + " is not known; this harness reads version 1");
        headed = true;
      } else if (words[0] == "probe") {
        if (inside) fail("`probe` before the `end` of probe " + probes.back().name);
        expect(words, 2, "probe NAME");
        check_name(words[1]);
        probes.emplace_back();
        probes.back().name = words[1];
        inside = true;
        padding_seen_ = out_seen_ = launches_seen_ = false;
      } else if (!inside) {
        fail("`" + words[0] + "` outside a probe; write `probe NAME` first");
      } else if (words[0] == "end") {
        expect(words, 1, "end");
        inside = false;
      } else {
        directive(probes.back(), words);
      }
    }
    if (in_.bad()) fail("the file could not be read to its end");
    ++line_;
    if (!headed) fail("the file is empty; its first line must be `krepro-plan 1`");
    if (inside) fail("the file ends inside probe " + probes.back().name + "; `end` is missing");
    if (probes.empty()) fail("the plan holds no probe");
    return probes;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw BadInput(file_ + ":" + std::to_string(line_) + ": " + what);
  }

  static std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> words;
    std::string word;
    for (const char c : line) {
      if (c == ' ' || c == '\t') {
        if (!word.empty()) words.push_back(word);
        word.clear();
      } else {
        word += c;
      }
    }
    if (!word.empty()) words.push_back(word);
    return words;
  }

  void expect(const std::vector<std::string>& words, std::size_t count, const char* form) const {
    if (words.size() != count) fail(std::string("write `") + form + "`");
  }

  void check_name(const std::string& name) const {
    for (const char c : name) {
      const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                        c == '-' || c == '.';
      if (!good) fail("probe name `" + name + "`: only letters, digits, `_`, `-` and `.`");
    }
  }

  void once(bool& seen, const char* what) const {
    if (seen) fail(std::string("a second `") + what + "` in one probe");
    seen = true;
  }

  void directive(Probe& probe, const std::vector<std::string>& words) {
    if (words[0] == "fill") {
      if (words.size() < 3) fail("write `fill ROLE KIND [name=value ...]`");
      Role role = Role::a;
      if (!find_role(words[1], role)) fail("`" + words[1] + "` is no operand role");
      if (role == Role::out) fail("the output is set by `out`, not by `fill`");
      if (role == Role::groups) fail("the groups are those of the contract");
      if (probe.filled[static_cast<std::size_t>(role)]) fail("a second fill for `" + words[1] + "`");
      set_fill(probe, role, fill(words));
    } else if (words[0] == "padding") {
      expect(words, 2, "padding zero|poison");
      once(padding_seen_, "padding");
      if (words[1] != "zero" && words[1] != "poison") fail("padding is `zero` or `poison`, not `" + words[1] + "`");
      probe.poison = words[1] == "poison";
    } else if (words[0] == "out") {
      once(out_seen_, "out");
      if (words.size() == 2 && words[1] == "sentinel") return;
      if (words.size() != 3 || words[1] != "constant") fail("write `out sentinel` or `out constant value=V`");
      names_.clear();
      probe.sentinel = false;
      probe.start = real(words, "value", 2);
      finish(words, 2);
    } else if (words[0] == "launches") {
      expect(words, 2, "launches N");
      once(launches_seen_, "launches");
      const std::uint64_t count = parse_unsigned(words[1], "launches");
      if (count == 0 || count > 1000000) fail("launches must be 1 to 1000000");
      probe.launches = static_cast<unsigned>(count);
    } else {
      fail("unknown directive `" + words[0] + "`; known are fill, padding, out, launches, end");
    }
  }

  Fill fill(const std::vector<std::string>& words) {
    Fill f;
    const std::string& kind = words[2];
    names_.clear();
    if (kind == "constant") {
      f.kind = FillKind::constant;
      f.value = real(words, "value");
    } else if (kind == "integers" || kind == "powers") {
      f.kind = kind == "integers" ? FillKind::integers : FillKind::powers;
      f.least = integer(words, "low");
      f.most = integer(words, "high");
      f.seed = natural(words, "seed");
      const std::int64_t limit = f.kind == FillKind::integers ? std::int64_t{1} << 52 : 1000;
      if (f.least > f.most) fail("low is above high");
      if (f.least < -limit || f.most > limit) fail("low and high must lie within +-" + std::to_string(limit));
    } else if (kind == "gaussian" || kind == "outlier") {
      f.kind = kind == "gaussian" ? FillKind::gaussian : FillKind::outlier;
      f.seed = natural(words, "seed");
      f.value = real(words, "scale");
    } else if (kind == "uniform") {
      f.kind = FillKind::uniform;
      f.value = real(words, "low");
      f.high = real(words, "high");
      f.seed = natural(words, "seed");
    } else if (kind == "one_hot") {
      f.kind = FillKind::one_hot;
      f.stride = natural(words, "stride");
      f.offset = natural(words, "offset");
      f.value = real(words, "value");
    } else if (kind == "window") {
      f.kind = FillKind::window;
      f.stride = natural(words, "start");
      f.value = real(words, "value");
    } else if (kind == "blocks") {
      f.kind = FillKind::blocks;
      f.stride = natural(words, "width");
      if (f.stride == 0) fail("width must be at least 1");
    } else if (kind == "address" || kind == "row_digits" || kind == "column_digits") {
      f.kind = kind == "address" ? FillKind::address : kind == "row_digits" ? FillKind::row_digits : FillKind::column_digits;
      f.stride = natural(words, "base");
      f.digit = natural(words, "digit");
      f.first = integer(words, "first");
      if (f.kind == FillKind::address) f.offset = natural(words, "pitch");
      if (f.stride < 2) fail("base must be at least 2");
    } else if (kind == "codes") {
      f.kind = FillKind::codes;
      f.stride = natural(words, "step");
    } else if (kind == "file") {
      f.kind = FillKind::file;
      f.path = text(words, "path");
    } else {
      fail("unknown fill kind `" + kind + "`");
    }
    finish(words, 3);
    return f;
  }

  std::string text(const std::vector<std::string>& words, const char* name, std::size_t from = 3) {
    const std::string head = std::string(name) + "=";
    names_.push_back(head);
    std::string found;
    for (std::size_t i = from; i < words.size(); ++i) {
      if (words[i].compare(0, head.size(), head) != 0) continue;
      if (!found.empty()) fail("`" + head + "` twice");
      found = words[i].substr(head.size());
      if (found.empty()) fail("`" + head + "` without a value");
    }
    if (found.empty()) fail("`" + std::string(name) + "=...` is missing");
    return found;
  }

  void finish(const std::vector<std::string>& words, std::size_t from) const {
    for (std::size_t i = from; i < words.size(); ++i) {
      bool known = false;
      for (const std::string& head : names_) known = known || words[i].compare(0, head.size(), head) == 0;
      if (!known) fail("`" + words[i] + "` does not belong here");
    }
  }

  std::uint64_t parse_unsigned(const std::string& word, const char* name) const {
    char* end = nullptr;
    errno = 0;
    const unsigned long long value = std::strtoull(word.c_str(), &end, 10);
    if (word.empty() || word[0] < '0' || word[0] > '9' || *end != '\0' || errno != 0) {
      fail(std::string(name) + ": `" + word + "` is no natural number below 2^64");
    }
    return value;
  }

  std::uint64_t natural(const std::vector<std::string>& words, const char* name) {
    return parse_unsigned(text(words, name), name);
  }

  std::int64_t integer(const std::vector<std::string>& words, const char* name) {
    const std::string word = text(words, name);
    const bool negative = word[0] == '-';
    const std::uint64_t magnitude = parse_unsigned(negative ? word.substr(1) : word, name);
    if (magnitude > (std::uint64_t{1} << 62)) fail(std::string(name) + ": `" + word + "` is too large");
    return negative ? -static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
  }

  double real(const std::vector<std::string>& words, const char* name, std::size_t from = 3) {
    const std::string word = text(words, name, from);
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    if (*end != '\0' || word[0] == ' ') fail(std::string(name) + ": `" + word + "` is no number");
    return value;
  }

  std::istream& in_;
  std::string file_;
  std::size_t line_ = 0;
  bool padding_seen_ = false;
  bool out_seen_ = false;
  bool launches_seen_ = false;
  std::vector<std::string> names_;
};

inline std::vector<Probe> read_plan(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw BadInput(path + ": cannot be opened");
  return PlanReader(in, path).read();
}

}  // namespace krepro
