// <@ name @>.cu: <@ kernel | comment @>, alone, with its own inputs and its own reference.
//
<$ for line in provenance $>// <@ line | comment @>
<$ endfor $>//
// build   ./build.sh, or, in the folder build that it prepares:
//         <@ command | comment @>
//         (krepro build --halves gives nvcc KREPRO_DEVICE_HALF and the host compiler KREPRO_HOST_HALF: this file twice)
// run     build/<@ name @>       the ladder, as a table; --json, --list, --rung NAME, --launches N, --deadline SECONDS
//         build/<@ name @> --input a=FILE --input b=FILE --observed FILE        production's own tensors
// exit    0 every rung passed, 1 a rung failed, 2 bad usage or input, 4 a launch hangs, 74 file not written, 125 no fit GPU
//
// An edit is welcome: krepro notices it by this hash, never overwrites it, and builds what stands here.
// krepro-hash: <@ hash @>

// ---- production's headers, in production's order ----------------------------------------------------------------------
#ifndef KREPRO_HOST_HALF
<$ for include in includes $>#include <@ include | verbatim @>
<$ endfor $>#endif

// ---- what the launch needs ---------------------------------------------------------------------------------------------
<@ runtime_first | verbatim @>
<$ include "kernel.cu" $><$ if carried $>// An inlined task leaves no symbol: this template carries its instantiation into the executable, where it is read back.
#if __cplusplus >= 201703L && !defined(KREPRO_HOST_HALF)
template <auto krepro_function> __global__ void krepro_names() {}
[[maybe_unused]] static void krepro_name() {
<$ for alias in aliases $>  using <@ alias.name @> = <@ alias.text | verbatim @>;
<$ endfor $>  (void)&krepro_names<<@ entry | verbatim @>>;
}
#endif

<$ endif $>#ifndef KREPRO_DEVICE_HALF
// ---- the contract: what the kernel promises ----------------------------------------------------------------------------
namespace krepro {

<$ include "problem.cu" $>}  // namespace krepro

// ---- the harness: fills, reference, comparison, ladder -----------------------------------------------------------------
<@ runtime | verbatim @>
int main(int count, char** words) { return krepro::run(krepro::problem, count, words); }
#endif
