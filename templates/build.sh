#!/bin/sh
# Builds <@ name @>.cu beside this script, without krepro: only nvcc and its host compiler are needed.
# nvcc: $NVCC, $CUDA_HOME, $CUDA_PATH, PATH, then the usual folders.
<$ for change in changes $># <@ change | comment @>
<$ endfor $># krepro-hash: <@ hash @>
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cd -- "$here"

nvcc=${NVCC:-}
for candidate in "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" "${CUDA_PATH:+$CUDA_PATH/bin/nvcc}" "$(command -v nvcc || true)" \
  <@ compiler | shell @> /usr/local/cuda/bin/nvcc /opt/cuda/bin/nvcc; do
  if [ -z "$nvcc" ] && [ -x "$candidate" ] && [ ! -d "$candidate" ]; then nvcc=$candidate; fi
done
if [ -z "$nvcc" ]; then
  echo "build.sh: no nvcc found; set NVCC=/path/to/nvcc" >&2
  exit 125
fi

# The toolkit's folder, as nvcc itself sees it.
top=$("$nvcc" --dryrun -x cu /dev/null -o /dev/null 2>&1 | sed -n 's/^#\$ TOP=//p' | head -n 1)
top=${top:-$(dirname -- "$(dirname -- "$(readlink -f -- "$nvcc")")")}
mkdir -p -- build/<@ link_folder @>
cd build

# The toolkit's libraries under the names that the linker and the loader look for; packages of PyPI have only some of them.
for folder in "$top/lib64" "$top/lib" "$top"/targets/*/lib /usr/lib/x86_64-linux-gnu /usr/lib/aarch64-linux-gnu; do
  for file in "$folder"/libcudart.so.* "$folder"/libcudart.so "$folder/libcudadevrt.a"; do
    name=$(basename -- "$file")
    if [ -e "$file" ] && [ ! -e "<@ link_folder @>/$name" ]; then ln -sf -- "$(readlink -f -- "$file")" "<@ link_folder @>/$name"; fi
    case $name in
      libcudart.so.*) if [ -e "$file" ] && [ ! -e <@ link_folder @>/libcudart.so ]; then ln -sf -- "$name" <@ link_folder @>/libcudart.so; fi ;;
    esac
  done
done
if [ ! -e <@ link_folder @>/libcudart.so ]; then
  echo "build.sh: no libcudart.so under $top" >&2
  exit 125
fi
<$ if libcuda $>
# Production links the driver library: a stub with every function of cuda.h, only ever linked against.
if [ ! -e <@ stub_folder @>/libcuda.so ]; then
  mkdir -p -- <@ stub_folder @>
  header=
  for file in "$top/include/cuda.h" "$top"/targets/*/include/cuda.h; do
    if [ -z "$header" ] && [ -e "$file" ]; then header=$file; fi
  done
  grep -oE '\bcu[A-Z][A-Za-z0-9_]*\b' "$header" | sort -u | sed 's/.*/int &(void) { return 34; }/' > <@ stub_folder @>/libcuda.c
  "${CC:-cc}" -shared -fPIC -w -Wl,-soname,libcuda.so.1 -o <@ stub_folder @>/libcuda.so <@ stub_folder @>/libcuda.c
fi
<$ endif $>
set -- \
<$ for argument in nvcc_arguments $>  <@ argument | shell @><$ if not loop.last $> \<$ endif $>
<$ endfor $>
"$nvcc" "$@" ../<@ name @>.cu -o <@ name @>.new || exit 125
mv -f -- <@ name @>.new <@ name @>
echo "built $here/build/<@ name @>"
