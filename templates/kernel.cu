<$ if declarations $>
// ---- the context that production's code expects ------------------------------------------------------------------------
<@ declarations | verbatim @>
<$ endif $>
// ---- the kernel: the instantiation is verbatim -------------------------------------------------------------------------
#ifndef KREPRO_HOST_HALF
<$ if wrapped $>extern "C" __global__ void <$ if launch_bounds $>__launch_bounds__(<@ launch_bounds | verbatim @>) <$ endif $><@ kernel_name @>(<@ parameters | verbatim @>) {
<@ prologue | verbatim @>
<$ for line in lines $><@ line | verbatim @>
<$ endfor $>}

// The one place that names what is launched.
#define KREPRO_ENTRY <@ kernel_name @>
<$ else $><$ if unit $><$ for line in lines $><@ line | verbatim @>
<$ endfor $><$ else $><$ for line in lines $>// <@ line | comment @>
<$ endfor $><$ for alias in aliases $>using <@ alias.name @> = <@ alias.text | verbatim @>;
<$ endfor $><$ endif $>
// The one place that names what is launched.
#define KREPRO_ENTRY <@ entry | verbatim @>
<$ endif $>#endif
#ifdef KREPRO_DEVICE_HALF
const void* krepro_kept() { return reinterpret_cast<const void*>(KREPRO_ENTRY); }
#endif

