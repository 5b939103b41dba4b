// <@ name @>.cu: <@ kernel | comment @>, alone, with its own inputs and its own reference.
//
<$ for line in provenance $>// <@ line | comment @>
<$ endfor $>//
// build   ./build.sh, or, in the folder build that it prepares:
//         <@ command | comment @>
// run     build/<@ name @>       the ladder, as a table; --json, --list, --rung NAME, --launches N, --deadline SECONDS
//         build/<@ name @> --input a=FILE --input b=FILE --observed FILE        production's own tensors
// exit    0 every rung passed, 1 a rung failed, 2 bad usage or input, 4 a launch hangs, 74 file not written, 125 no fit GPU
//
// An edit is welcome: krepro notices it by this hash, never overwrites it, and builds what stands here.
// krepro-hash: <@ hash @>

// ---- production's headers, in production's order ----------------------------------------------------------------------
<$ for include in includes $>#include <@ include | verbatim @>
<$ endfor $>
// ---- what the launch needs ---------------------------------------------------------------------------------------------
<@ runtime_first | verbatim @>
<$ if declarations $>
// ---- the context that production's code expects ------------------------------------------------------------------------
<@ declarations | verbatim @>
<$ endif $>
// ---- the kernel: the instantiation is verbatim -------------------------------------------------------------------------
<$ if wrapped $>extern "C" __global__ void <$ if launch_bounds $>__launch_bounds__(<@ launch_bounds | verbatim @>) <$ endif $>krepro_kernel(<@ parameters | verbatim @>) {
<@ prologue | verbatim @>
<$ for line in lines $><@ line | verbatim @>
<$ endfor $>}

// The one place that names what is launched.
#define KREPRO_ENTRY krepro_kernel
<$ else $><$ for line in lines $>// <@ line | comment @>
<$ endfor $><$ for alias in aliases $>using <@ alias.name @> = <@ alias.text | verbatim @>;
<$ endfor $>
// The one place that names what is launched.
#define KREPRO_ENTRY <@ entry | verbatim @>
<$ endif $>
// ---- the contract: what the kernel promises ----------------------------------------------------------------------------
namespace krepro {

<$ for note in notes $>// <@ note | comment @>
<$ endfor $>inline const Operand operands[] = {
<$ for o in operands $>    {Role::<@ o.role @>, Element::<@ o.element @>, <@ o.rows @>, <@ o.columns @>, <@ o.leading_dimension @>, Major::<@ o.major @>},
<$ endfor $>};

<$ if steps $>inline const Step epilogue[] = {
<$ for s in steps $>    {Does::<@ s.does @>, Element::<@ s.to @>, Role::<@ s.operand @>},
<$ endfor $>};

<$ endif $><$ if descriptors $>inline const Descriptor descriptors[] = {
<$ for d in descriptors $>    // <@ d.name | comment @>, from <@ d.source | comment @>: <@ d.copies @> load(s) of <@ d.box_bytes @> bytes a barrier phase
    {<@ d.name | cpp_string @>, Role::<@ d.operand @>, <@ d.data_type | verbatim @>, <@ d.rank @>,
     {<@ d.global_dim | verbatim @>}, {<@ d.global_strides | verbatim @>}, {<@ d.box_dim | verbatim @>}, {<@ d.element_strides | verbatim @>},
     <@ d.swizzle @>, <@ d.l2_promotion | verbatim @>, <@ d.out_of_bounds @>},
<$ endfor $>};

<$ endif $>inline const Problem problem = {
    <@ name | cpp_string @>,
    <@ kernel | cpp_string @>,
    <@ m @>, <@ n @>, <@ k @>,
    <@ tile_m @>, <@ tile_n @>, <@ tile_k @>,
    Accumulator::<@ accumulator @>,
    <@ accumulates @>,
    <@ padding_zero @>,
    operands, <@ operands | length @>,
    <$ if steps $>epilogue, <@ steps | length @><$ else $>nullptr, 0<$ endif $>,
    <$ if descriptors $>descriptors, <@ descriptors | length @><$ else $>nullptr, 0<$ endif $>,
    {{<@ grid | verbatim @>}, <@ threads @>, {<@ cluster | verbatim @>}, <@ shared_memory @>, <@ workspace @>, <@ workspace_fill @>},
};

// ---- one launch --------------------------------------------------------------------------------------------------------
void launch([[maybe_unused]] const Buffers& buffers, const LaunchShape& shape) {
<@ host | verbatim @>
  launch_kernel(KREPRO_ENTRY, shape<$ for argument in arguments $>, <@ argument | verbatim @><$ endfor $>);
}

}  // namespace krepro

// ---- the harness: fills, reference, comparison, ladder -----------------------------------------------------------------
<@ runtime | verbatim @>
int main(int count, char** words) { return krepro::run(krepro::problem, count, words); }
