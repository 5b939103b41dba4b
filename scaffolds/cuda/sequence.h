// The launches before the kernel's: each alone against the host's model, and all of them before the kernel.
#pragma once

#include "prologue.h"
#include "session.h"

namespace krepro {

// What one prologue left in one tensor, over the probes of a rung.
struct PrologueResult {
  std::string name;
  std::string rung;
  std::string writes;
  std::string why;  // empty when it passes
  const Format* format = nullptr;
  std::uint64_t launches = 0;
  bool deterministic = true;
  bool uniform = true;  // all expected codes of a probe are one
  std::uint64_t elements = 0, wrong = 0, unwritten = 0, guard_hits = 0, source_hits = 0;
  std::uint64_t padding = 0, padding_written = 0;  // elements of the storage that the contract does not name
  std::vector<bool> rows, columns;                 // with a wrong element
  std::uint64_t failure_count = 0;
  struct {
    std::uint64_t row, column;
    std::uint32_t observed, expected;
  } failures[8] = {};
};

// Where the elements that a copying prologue leaves come from.
struct PrologueMap {
  std::string name;
  std::string writes;
  std::uint64_t elements = 0, right = 0, moved = 0, unwritten = 0, foreign = 0;
  bool permutation = false;  // every element lies somewhere, once
  struct Move {
    std::uint64_t row, column, from_row, from_column;
  };
  std::vector<Move> moves;  // the first eight
};

class Sequence {
 public:
  Sequence(const Problem& problem, Session& session) : problem_(problem), session_(session), sources_(problem.prologue_count) {}

  // The buffers of the sources, as `NAME.source`.
  void open() {
    codes_.resize(sources_.size());
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      sources_[i].image = make_image(problem_.prologues[i].source);
      sources_[i].create();
      session_.buffers().addresses[std::string(problem_.prologues[i].name) + ".source"] = sources_[i].address();
    }
  }

  std::size_t count() const { return sources_.size(); }
  const Prologue& prologue(std::size_t index) const { return problem_.prologues[index]; }

  // Fills the sources that no prologue writes, and follows them on the host. The fills of the probe are formulas.
  void prepare(const Probe& probe, bool exact) {
    session_.prepare(probe);
    poison_ = probe.poison;
    session_.spoil();
    for (std::size_t i = 0; i < count(); ++i) {
      if (!is_written(i)) codes_[i] = drawn(i, probe, exact);
    }
    for (std::size_t i = 0; i < count(); ++i) {
      for (const Target& target : targets(i)) held(target) = expected(i, target);
    }
  }

  // Launches prologue `index` alone, twice, on what the host says that its source holds; adds to one result for each tensor it writes.
  void alone(std::size_t index, std::vector<PrologueResult>& results) {
    const Prologue& one = prologue(index);
    const std::vector<Target> written = targets(index);
    results.resize(written.size());
    std::vector<Codes> seen[2];
    Codes storage[2][2];
    write_source(index, codes_[index]);
    for (int launch = 0; launch < 2; ++launch) {
      sources_[index].upload();
      session_.reset_memory(static_cast<unsigned>(launch));
      for (const Target& target : written) blank(one, target, launch);
      one.launch(session_.buffers(), one.shape);
      session_.wait();
      sources_[index].download();
      for (std::size_t t = 0; t < written.size(); ++t) {
        DeviceTensor& tensor = tensor_of(written[t]);
        tensor.download();
        seen[launch].push_back(read_codes_of(tensor.seen.data() + tensor.image.guard, operand_of(written[t])));
        storage[launch][t] = all_codes(tensor, operand_of(written[t]));
        results[t].guard_hits += tensor.guard_hits() + (t == 0 ? sources_[index].guard_hits() : 0);
        results[t].source_hits += t == 0 ? sources_[index].data_hits() : 0;
        ++results[t].launches;
      }
    }
    for (std::size_t t = 0; t < written.size(); ++t) {
      results[t].name = one.name;
      results[t].writes = name_of(written[t]);
      judge(index, written, t, seen, results[t]);
      count_padding(one, written[t], storage[0][t], storage[1][t], results[t]);
      results[t].why = reason(results[t]);
    }
  }

  // Launches all of them and then the kernel.
  LaunchResult together(const Probe& probe, unsigned launch) {
    // As the padding of the kernel's own rungs.
    for (std::size_t i = 0; i < count(); ++i) {
      for (const Target& target : targets(i)) blank(prologue(i), target, poison_ ? 0 : 1);
    }
    for (std::size_t i = 0; i < count(); ++i) {
      if (is_written(i)) continue;
      write_source(i, codes_[i]);
      sources_[i].upload();
    }
    session_.reset_memory(launch);
    for (std::size_t i = 0; i < count(); ++i) {
      prologue(i).launch(session_.buffers(), prologue(i).shape);
      session_.wait();
    }
    return session_.launch_once(probe, launch, false);
  }

  // The values of the kernel's operands after the prologues: the host's, or what lies on the device behind a quantiser, which may round
  // in more than one way.
  Values values(bool from_device) {
    Values all;
    for (std::size_t i = 0; i < role_count; ++i) all.of[i] = session_.values().of[i];
    for (std::size_t i = 0; i < count(); ++i) {
      for (const Target& target : targets(i)) {
        if (target.into >= 0) continue;
        const Operand& operand = operand_of(target);
        if (from_device && follows_quantiser(i)) {
          DeviceTensor& tensor = tensor_of(target);
          tensor.download();
          held(target) = read_codes_of(tensor.seen.data() + tensor.image.guard, operand);
        }
        const Codes& codes = held(target);
        std::vector<float>& values = all[target.role];
        for (std::size_t e = 0; e < codes.size(); ++e) values[e] = static_cast<float>(decode(format_of(operand.element), codes[e]));
      }
    }
    return all;
  }

  // Reads where every element comes from: each digit of its address is one launch.
  PrologueMap map(std::size_t index) {
    const Prologue& one = prologue(index);
    const Target target = targets(index)[0];
    const Operand& operand = operand_of(target);
    const Format& format = format_of(operand.element);
    const std::vector<double> symbols = alphabet(format_of(one.source.element), format);
    PrologueMap map;
    map.name = one.name;
    map.writes = name_of(target);
    map.elements = operand.rows * operand.columns;
    map.foreign = map.elements;
    if (symbols.size() < 2) return map;
    map.foreign = 0;
    std::vector<std::uint64_t> from(map.elements, 0);
    std::vector<char> state(map.elements, 'k');
    Codes codes;
    for (const double symbol : symbols) codes.push_back(static_cast<std::uint32_t>(encode(format, symbol)));
    std::uint64_t divisor = 1;
    do {
      Codes source(map.elements);
      for (std::uint64_t i = 0; i < map.elements; ++i) {
        source[i] = static_cast<std::uint32_t>(encode(format_of(one.source.element), symbols[i / divisor % symbols.size()]));
      }
      write_source(index, source);
      sources_[index].upload();
      session_.reset_memory(0);
      blank(one, target, 0);
      one.launch(session_.buffers(), one.shape);
      session_.wait();
      DeviceTensor& tensor = tensor_of(target);
      tensor.download();
      const Codes seen = read_codes_of(tensor.seen.data() + tensor.image.guard, operand);
      for (std::uint64_t i = 0; i < map.elements; ++i) {
        const auto found = std::find(codes.begin(), codes.end(), seen[i]);
        if (seen[i] == blank_code(one, operand, 0)) {
          state[i] = 'u';
        } else if (found == codes.end()) {
          state[i] = 'f';
        } else {
          from[i] += divisor * static_cast<std::uint64_t>(found - codes.begin());
        }
      }
      divisor *= symbols.size();
    } while (divisor > 1 && divisor < map.elements);
    session_.spoil();
    count_moves(operand, from, state, map);
    return map;
  }

 private:
  // A tensor that a prologue writes: an operand of the kernel, or a source.
  struct Target {
    int into;
    Role role;
    bool scales;
  };

  std::vector<Target> targets(std::size_t index) const {
    const Prologue& one = prologue(index);
    std::vector<Target> list = {{one.into, one.source.role, false}};
    if (one.does == Prepares::quantise) list.push_back({one.scales_into, one.scales, true});
    return list;
  }
  bool writes(std::size_t index, std::size_t source) const {
    for (const Target& target : targets(index)) {
      if (target.into == static_cast<int>(source)) return true;
    }
    return false;
  }
  bool is_written(std::size_t source) const {
    for (std::size_t i = 0; i < count(); ++i) {
      if (writes(i, source)) return true;
    }
    return false;
  }
  bool follows_quantiser(std::size_t index) const {
    if (prologue(index).does == Prepares::quantise) return true;
    for (std::size_t before = 0; before < index; ++before) {
      if (writes(before, index) && follows_quantiser(before)) return true;
    }
    return false;
  }
  const Operand& operand_of(const Target& target) const {
    return target.into >= 0 ? prologue(static_cast<std::size_t>(target.into)).source : *find_operand(problem_, target.role);
  }
  DeviceTensor& tensor_of(const Target& target) {
    return target.into >= 0 ? sources_[static_cast<std::size_t>(target.into)] : session_.tensor(target.role);
  }
  std::string name_of(const Target& target) const {
    if (target.into < 0) return role_name(target.role);
    return std::string(prologue(static_cast<std::size_t>(target.into)).name) + ".source";
  }
  Codes& held(const Target& target) {
    return target.into >= 0 ? codes_[static_cast<std::size_t>(target.into)] : roles_[static_cast<std::size_t>(target.role)];
  }

  // Between its elements lies what the probe says of padding.
  void write_source(std::size_t index, const Codes& codes) {
    const Operand& source = prologue(index).source;
    write_codes(sources_[index].image, source, codes, poison_ ? poison_code(format_of(source.element)) : 0);
  }

  // Values of a source: those of the operand that it becomes, in its own type.
  Codes drawn(std::size_t index, const Probe& probe, bool exact) const {
    const Prologue& one = prologue(index);
    const Operand& source = one.source;
    const Format& format = format_of(source.element);
    const Fill fill = fill_of(probe, source.role);
    Codes codes(source.rows * source.columns);
    for (std::uint64_t i = 0; i < codes.size(); ++i) {
      const std::uint64_t row = i / source.columns;
      const std::uint64_t column = i % source.columns;
      double value = 0;
      if (one.does == Prepares::copy) {
        value = fill_value(fill, power(fill.stride, fill.digit), row, column, source.columns);
      } else {
        const std::vector<Target> written = targets(index);
        const Format& to = format_of(operand_of(written[0]).element);
        const Blocks blocks = blocks_of(source, operand_of(written[1]));
        value = quantisable(fill, fill_of(probe, one.scales), to, blocks, source, row, column, exact);
      }
      codes[i] = static_cast<std::uint32_t>(encode(format, value));
    }
    return codes;
  }

  // What `target` must hold after prologue `index`; the scales of a quantiser are asked for after its elements.
  Codes expected(std::size_t index, const Target& target) const {
    const Prologue& one = prologue(index);
    const Format& to = format_of(operand_of(targets(index)[0]).element);
    if (one.does == Prepares::copy) return converted(one.source.element, operand_of(target).element, codes_[index]);
    const Operand& scale = operand_of(targets(index)[1]);
    const Blocks blocks = blocks_of(one.source, scale);
    const std::vector<double> quotients = quotients_of(one.source, codes_[index], blocks, to);
    Codes scales(quotients.size());
    for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = scale_code(scale, quotients[i]);
    if (target.scales) return scales;
    Codes codes(codes_[index].size());
    for (std::uint64_t i = 0; i < codes.size(); ++i) {
      const std::uint64_t block = blocks.of(i / one.source.columns, i % one.source.columns);
      const double value = decode(format_of(one.source.element), codes_[index][i]);
      codes[i] = static_cast<std::uint32_t>(encode(to, clamped_quotient(to, value, decode(format_of(scale.element), scales[block]))));
    }
    return codes;
  }

  // Whether element `at` of tensor `t` may hold what `seen` holds there.
  bool is_right(std::size_t index, const std::vector<Target>& written, std::size_t t, const std::vector<Codes>& seen,
                const std::vector<double>& quotients, std::uint64_t at, std::uint32_t wanted) const {
    const Prologue& one = prologue(index);
    const Operand& operand = operand_of(written[t]);
    if (one.does == Prepares::quantise && t == 1) return scale_is_right(operand, quotients[at], seen[1][at]);
    if (one.does == Prepares::copy && seen[t][at] == wanted) return true;
    const double value = decode(format_of(one.source.element), codes_[index][at]);
    if (one.does == Prepares::copy) return rounds_to(format_of(operand.element), value, tie_unit(), seen[t][at]);
    const Operand& scale = operand_of(written[1]);
    const std::uint64_t block = blocks_of(one.source, scale).of(at / one.source.columns, at % one.source.columns);
    const double written_scale = decode(format_of(scale.element), seen[1][block]);
    return quotient_is_right(format_of(operand.element), value, written_scale, quotients[block], seen[0][at]);
  }

  void judge(std::size_t index, const std::vector<Target>& written, std::size_t t, const std::vector<Codes> (&seen)[2],
             PrologueResult& result) {
    const Prologue& one = prologue(index);
    const Operand& operand = operand_of(written[t]);
    const Codes& wanted = held(written[t]);
    std::vector<double> quotients;
    if (one.does == Prepares::quantise) {
      const Format& to = format_of(operand_of(written[0]).element);
      quotients = quotients_of(one.source, codes_[index], blocks_of(one.source, operand_of(written[1])), to);
    }
    result.format = &format_of(operand.element);
    result.rows.resize(operand.rows);
    result.columns.resize(operand.columns);
    for (std::uint64_t i = 0; i < wanted.size(); ++i) {
      const std::uint32_t before[2] = {blank_code(one, operand, 0), blank_code(one, operand, 1)};
      const bool unwritten = before[0] != before[1] && seen[0][t][i] == before[0] && seen[1][t][i] == before[1];
      const bool right[2] = {is_right(index, written, t, seen[0], quotients, i, wanted[i]),
                             is_right(index, written, t, seen[1], quotients, i, wanted[i])};
      ++result.elements;
      result.uniform = result.uniform && wanted[i] == wanted[0];
      if (!unwritten && seen[0][t][i] != seen[1][t][i]) result.deterministic = false;
      if (right[0] && right[1] && !unwritten) continue;
      ++result.wrong;
      if (unwritten) ++result.unwritten;
      const std::uint64_t row = i / operand.columns;
      const std::uint64_t column = i % operand.columns;
      result.rows[row] = result.columns[column] = true;
      if (result.failure_count < 8) {
        result.failures[result.failure_count++] = {row, column, seen[right[0] && !unwritten ? 1 : 0][t][i], wanted[i]};
      }
    }
  }

  static std::string reason(const PrologueResult& result) {
    const std::string of = " of " + std::to_string(result.elements);
    if (result.unwritten != 0 && result.unwritten == result.wrong) return std::to_string(result.unwritten) + of + " elements unwritten";
    if (result.wrong != 0) return std::to_string(result.wrong) + of + " elements differ";
    if (result.guard_hits != 0) return std::to_string(result.guard_hits) + " guard bytes overwritten";
    if (result.source_hits != 0) return std::to_string(result.source_hits) + " bytes of its source overwritten";
    if (!result.deterministic) return "launches on the same source differ";
    return "";
  }

  // What a tensor holds before a launch: poison, then zeros, so that an element that nobody writes shows.
  static std::uint32_t blank_code(const Prologue& one, const Operand& operand, int launch) {
    return one.zeroed || launch != 0 ? 0 : static_cast<std::uint32_t>(poison_code(format_of(operand.element)));
  }
  void blank(const Prologue& one, const Target& target, int launch) {
    DeviceTensor& tensor = tensor_of(target);
    fill_code_everywhere(tensor.image, format_of(operand_of(target).element), blank_code(one, operand_of(target), launch));
    tensor.upload();
  }

  // Every element of the storage; none where each of them is a logical one.
  static Codes all_codes(const DeviceTensor& tensor, const Operand& operand) {
    Codes codes;
    const std::uint64_t elements = storage_elements(operand);
    if (elements == operand.rows * operand.columns) return codes;
    const unsigned char* data = tensor.seen.data() + tensor.image.guard;
    for (std::uint64_t i = 0; i < elements; ++i) {
      codes.push_back(static_cast<std::uint32_t>(load_code(data, format_of(operand.element).bits, i)));
    }
    return codes;
  }
  void count_padding(const Prologue& one, const Target& target, const Codes& first, const Codes& second, PrologueResult& result) const {
    result.padding = result.padding_written = 0;
    if (first.empty()) return;
    const Operand& operand = operand_of(target);
    std::vector<bool> named(first.size(), false);
    for (std::uint64_t i = 0; i < operand.rows * operand.columns; ++i) {
      named[element_index(operand, i / operand.columns, i % operand.columns)] = true;
    }
    for (std::uint64_t i = 0; i < first.size(); ++i) {
      if (named[i]) continue;
      ++result.padding;
      if (first[i] != blank_code(one, operand, 0) || second[i] != blank_code(one, operand, 1)) ++result.padding_written;
    }
  }

  // Values that both types hold, neither zero nor poison.
  static std::vector<double> alphabet(const Format& from, const Format& to) {
    const Format& narrow = to.bits <= from.bits ? to : from;
    std::vector<double> symbols;
    const auto take = [&](double value) {
      const auto holds = [&](const Format& format) {
        const std::uint64_t code = encode(format, value);
        return decode(format, code) == value && code != poison_code(format);
      };
      const bool fresh = std::find(symbols.begin(), symbols.end(), value) == symbols.end();
      if (value > 0 && fresh && holds(from) && holds(to) && symbols.size() < 250) symbols.push_back(value);
    };
    if (narrow.bits > 8) {
      for (int i = 1; i <= 250; ++i) take(i);
    } else {
      for (std::uint64_t code = 1; code < narrow.largest; ++code) take(decode(narrow, code));
    }
    return symbols;
  }

  static void count_moves(const Operand& operand, const std::vector<std::uint64_t>& from, const std::vector<char>& state,
                          PrologueMap& map) {
    std::vector<bool> taken(map.elements, false);
    bool once = true;
    for (std::uint64_t i = 0; i < map.elements; ++i) {
      if (state[i] == 'u') ++map.unwritten;
      const bool known = state[i] == 'k' && from[i] < map.elements;
      if (!known) {
        map.foreign += state[i] == 'u' ? 0 : 1;
        once = false;
        continue;
      }
      once = once && !taken[from[i]];
      taken[from[i]] = true;
      if (from[i] == i) {
        ++map.right;
        continue;
      }
      ++map.moved;
      if (map.moves.size() < 8) {
        map.moves.push_back({i / operand.columns, i % operand.columns, from[i] / operand.columns, from[i] % operand.columns});
      }
    }
    map.permutation = once;
  }

  const Problem& problem_;
  Session& session_;
  std::vector<DeviceTensor> sources_;
  std::vector<Codes> codes_;   // what each source must hold
  Codes roles_[role_count];    // what the operands must hold after the prologues
  bool poison_ = false;        // what lies between elements
};

}  // namespace krepro
