// <@ name @>.cu: <@ cases | length @> cases of a sweep in one translation unit, since the headers cost more than an instantiation.
//
// run     <@ name @> --case NAME [the options of a reproducer]; each case in a process of its own
// krepro-hash: <@ hash @>

// ---- production's headers, in production's order ----------------------------------------------------------------------
#ifndef KREPRO_HOST_HALF
<$ for include in includes $>#include <@ include | verbatim @>
<$ endfor $>#endif

// ---- what the launch needs ---------------------------------------------------------------------------------------------
<@ runtime_first | verbatim @>
<$ for unit in units $>namespace krepro_<@ unit.kernel_name @> {
<@ unit.text | verbatim @>
}
#undef KREPRO_ENTRY

#ifndef KREPRO_DEVICE_HALF
<$ for case in unit.cases $>// ==== case <@ case.name | comment @>
#define KREPRO_ENTRY <@ unit.entry | verbatim @>
namespace krepro {
namespace case_<@ case.index @> {
using namespace ::krepro_<@ unit.kernel_name @>;
<@ case.text | verbatim @>
}  // namespace case_<@ case.index @>
}  // namespace krepro
#undef KREPRO_ENTRY

<$ endfor $>#endif
<$ endfor $>#ifndef KREPRO_DEVICE_HALF
// ---- which case --------------------------------------------------------------------------------------------------------
namespace krepro {

struct Case {
  const char* name;
  const Problem* problem;
  void (*launch)(const Buffers&, const LaunchShape&);
};

inline const Case cases[] = {
<$ for case in cases $>    {<@ case.name | cpp_string @>, &case_<@ case.index @>::problem, &case_<@ case.index @>::launch},
<$ endfor $>};

inline const Case* current_case = nullptr;

void launch(const Buffers& buffers, const LaunchShape& shape) { current_case->launch(buffers, shape); }

}  // namespace krepro

// ---- the harness: fills, reference, comparison, ladder -----------------------------------------------------------------
<@ runtime | verbatim @>
int main(int count, char** words) {
  for (const krepro::Case& one : krepro::cases) {
    if (count > 2 && std::string(words[1]) == "--case" && std::string(words[2]) == one.name) krepro::current_case = &one;
  }
  if (krepro::current_case == nullptr) {
    std::fprintf(stderr, "usage: --case NAME and the options of a reproducer; the cases are\n");
    for (const krepro::Case& one : krepro::cases) std::fprintf(stderr, "  %s\n", one.name);
    return 2;
  }
  words[2] = words[0];
  return krepro::run(*krepro::current_case->problem, count - 2, words + 2);
}
#endif
