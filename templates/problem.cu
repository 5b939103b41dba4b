<$ for note in notes $>// <@ note | comment @>
<$ endfor $>inline const Operand operands[] = {
<$ for o in operands $>    {Role::<@ o.role @>, Element::<@ o.element @>, <@ o.rows @>, <@ o.columns @>, <@ o.leading_dimension @>, Major::<@ o.major @>, <@ o.swizzled @>, <@ o.packed @>, <@ o.powers @>},
<$ endfor $>};

<$ if steps $>inline const Step epilogue[] = {
<$ for s in steps $>    {Does::<@ s.does @>, Element::<@ s.to @>, Role::<@ s.operand @>, Role::<@ s.factor @>},
<$ endfor $>};

<$ endif $><$ if descriptors $>inline const Descriptor descriptors[] = {
<$ for d in descriptors $>    // <@ d.name | comment @>, from <@ d.source | comment @>: <@ d.copies @> load(s) of <@ d.box_bytes @> bytes a barrier phase
    {<@ d.name | cpp_string @>, Role::<@ d.operand @>, <@ d.data_type | verbatim @>, <@ d.rank @>,
     {<@ d.global_dim | verbatim @>}, {<@ d.global_strides | verbatim @>}, {<@ d.box_dim | verbatim @>}, {<@ d.element_strides | verbatim @>},
     <@ d.swizzle @>, <@ d.l2_promotion | verbatim @>, <@ d.out_of_bounds @>},
<$ endfor $>};

<$ endif $><$ if groups $>inline const Group groups[] = {<$ for g in groups $>{<@ g[0] @>, <@ g[1] @>}<$ if not loop.last $>, <$ endif $><$ endfor $>};

<$ endif $><$ if prologues $>// ---- launches before the kernel's, each tried alone -----------------------------------------------------------------
<$ for p in prologues $>inline void prologue_<@ p.name @>([[maybe_unused]] const Buffers& buffers, const LaunchShape& shape) {
  <@ p.call @>(&<@ p.entry | verbatim @>, shape<$ for argument in p.arguments $>, <@ argument | verbatim @><$ endfor $>);
}
<$ endfor $>
inline const Prologue prologues[] = {
<$ for p in prologues $>    {<@ p.name | cpp_string @>, Prepares::<@ p.does @>,
     {Role::<@ p.role @>, Element::<@ p.element @>, <@ p.rows @>, <@ p.columns @>, <@ p.leading_dimension @>, Major::<@ p.major @>, <@ p.swizzled @>, <@ p.packed @>, false},
     <@ p.into @>, Role::<@ p.scales @>, <@ p.scales_into @>, <@ p.zeroed @>, {{<@ p.grid | verbatim @>}, {<@ p.block | verbatim @>}, {1, 1, 1}, <@ p.shared_memory @>, 0, 0}, &prologue_<@ p.name @>},
<$ endfor $>};

<$ endif $>inline const Problem problem = {
    <@ name | cpp_string @>,
    <@ kernel | cpp_string @>,
    <@ m @>, <@ n @>, <@ k @>,
    <@ tile_m @>, <@ tile_n @>, <@ tile_k @>,
    Accumulator::<@ accumulator @>,
    <@ promotion @>,
    <@ accumulates @>,
    <@ padding_zero @>,
    operands, <@ operands | length @>,
    <$ if steps $>epilogue, <@ steps | length @><$ else $>nullptr, 0<$ endif $>,
    <$ if descriptors $>descriptors, <@ descriptors | length @><$ else $>nullptr, 0<$ endif $>,
    {{<@ grid | verbatim @>}, {<@ block | verbatim @>}, {<@ cluster | verbatim @>}, <@ shared_memory @>, <@ workspace @>, <@ workspace_fill @>},
    <$ if prologues $>prologues, <@ prologues | length @><$ else $>nullptr, 0<$ endif $>,
    {<@ split.count @>, <@ split.length @>, SplitThrough::<@ split.through @>, Element::<@ split.partial @>, Element::<@ split.sum @>, <@ split.ascending @>},
    <$ if groups $>groups, <@ groups | length @><$ else $>nullptr, 0<$ endif $>, GroupIndex::<@ group_index @>,
};

// ---- one launch --------------------------------------------------------------------------------------------------------
void launch([[maybe_unused]] const Buffers& buffers, [[maybe_unused]] const LaunchShape& shape) {
<@ host | verbatim @>
<$ if launch_types $>#ifdef KREPRO_HOST_HALF
  launch_image<<@ launch_types | verbatim @>>(<@ kernel_index @>, shape<$ for argument in arguments $>, <@ argument | verbatim @><$ endfor $>);
#else
<$ endif $><$ if call $>  <@ call @>(KREPRO_ENTRY, shape<$ for argument in arguments $>, <@ argument | verbatim @><$ endfor $>);
<$ endif $><$ if launch_types $>#endif
<$ endif $>}

