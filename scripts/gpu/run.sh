#!/bin/sh
# The half of `npm run test:gpu` that runs on the machine with the GPU, in the folder of the checkout (docs/internals/building.md):
#
#   sh scripts/gpu/run.sh
#
# Needs a driver, nvcc, CMake, ninja, a C++ compiler and Python 3 with its nvidia-* packages; no Node.js, no network. The files of
# .gpu/part-* were made by `node scripts/test-gpu.mjs pack`.
#
#   OUT                     the folder of the results (.gpu/out): results.jsonl (a line per step and check), rows.jsonl (a line per measured
#                           row), gpu.json (the tables), log, build.log
#   LOREKEEP_GPU_SECONDS    seconds for all steps (560). A step ends at its own limit or with them, and the next one begins. A second
#                           run goes on with the files that the first one made
#   LOREKEEP_GPU_REHEARSAL  `stand-in` or `llvmpipe`: without a GPU, with fewer and smaller measurements
set -u
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
OUT=${OUT:-$root/.gpu/out}
seconds=${LOREKEEP_GPU_SECONDS:-560}
rehearsal=${LOREKEEP_GPU_REHEARSAL:-}
log=$OUT/log
begin=$(date +%s)
mkdir -p "$OUT"

left() { echo $((begin + seconds - $(date +%s))); }

# record NAME STATUS SECONDS
record() {
  printf '{"step":"%s","status":"%s","seconds":%s}\n' "$1" "$2" "$3" >>"$OUT/results.jsonl"
  printf '%-9s %6s s  %s\n' "$2" "$3" "$1"
}

# step NAME SECONDS COMMAND...: runs the command and records how it ended: done, failed, late, or left out for want of time. What it
# started in its process group ends with it. Its output goes to $log.
step() {
  name=$1 limit=$2
  shift 2
  [ "$(left)" -lt "$limit" ] && limit=$(left)
  if [ "$limit" -le 0 ]; then
    record "$name" 'left out' 0
    return 1
  fi
  from=$(date +%s)
  printf '\n== %s\n' "$name" >>"$log"
  timeout -k 5 "$limit" "$@" >>"$log" 2>&1
  status=$?
  took=$(($(date +%s) - from))
  case $status in
    0) record "$name" done "$took" ;;
    124 | 137) record "$name" late "$took" ;;
    *) record "$name" failed "$took" ;;
  esac
  return "$status"
}

# checks BACKEND SECONDS
checks() {
  step "checks of $1" "$2" node test/devices/gpu/checks.mjs --backend "$1" --limit "$2" --out "$OUT/results.jsonl" \
    --stories .gpu/models/stories260K.gguf --shapes "$shapes" --shim .gpu/shim.so $small
}

# Sourced by a test, which has steps of its own.
[ "${LOREKEEP_GPU_STEPS:-}" = none ] && return 0

step unpack 90 sh -c 'cat .gpu/part-* >.gpu/archive && sum=$(cksum <.gpu/archive)
  [ "$(cat .gpu/unpacked 2>&1)" = "$sum" ] || {
    python3 -c "import tarfile; tarfile.open(\".gpu/archive\", \"r:xz\").extractall(\".\")" && echo "$sum" >.gpu/unpacked; }' || exit 1
export PATH="$root/.gpu/bin:$PATH:/usr/local/cuda/bin" LOREKEEP_CACHE="$root/.gpu/cache"
export CMAKE_CUDA_ARCHITECTURES="${CMAKE_CUDA_ARCHITECTURES:-90}"
# The runtime and cuBLAS of the Python packages.
nvidia=$(python3 -c 'import glob, os, nvidia
files = [f for p in nvidia.__path__ for n in ("cudart", "cublas") for f in glob.glob(p + "/**/lib" + n + ".so*", recursive=True)]
print(":".join(sorted({os.path.dirname(f) for f in files})))' 2>>"$OUT/log")
export LD_LIBRARY_PATH="$root/.gpu/lib:$nvidia:${LD_LIBRARY_PATH:-}"

step machine 20 sh -c 'date; uname -a; lscpu | head -20; free -g; nvcc --version; nvidia-smi
  ldconfig -p | grep -i "vulkan\|cublas\|cudart"; true'
if [ -n "$rehearsal" ]; then
  vulkan=3000 models='SmolLM2-135M random' shapes=.cache/bench/models/random-SmolLM2-135M-random-Q4_0.gguf small='--small --patience 20' build=norm.cu
else
  vulkan=240 models='Llama-3.2-1B,Llama-3.1-8B,SmolLM2-135M random' small='' build=''
  shapes=.cache/bench/models/random-SmolLM2-135M-random-Q4_0.gguf,.cache/bench/models/random-Llama-3.2-1B-Q4_0.gguf
  shapes=$shapes,.cache/bench/models/random-Llama-3.1-8B-Q4_0.gguf
fi

# The plugin, beside the steps that do without it.
LOREKEEP_JOBS=${LOREKEEP_JOBS:-$(nproc)}
export LOREKEEP_JOBS
log=$OUT/build.log
step 'the CUDA plugin' 480 nice -n 10 node scripts/build-backend.mjs cuda $build &
building=$!
log=$OUT/log
step 'the shim' 20 cc -shared -fPIC -o .gpu/shim.so test/devices/gpu/shim.c -ldl
step 'ceilings, compiled' 60 nvcc -O3 -arch="sm_$CMAKE_CUDA_ARCHITECTURES" bench/gpu/ceilings.cu -o .gpu/ceilings
step 'ceilings' 30 sh -c '.gpu/ceilings >.gpu/found && mv .gpu/found .gpu/ceilings.json && cat .gpu/ceilings.json'
step 'random models' 150 node bench/gpu/models.mjs "$models"

case $rehearsal in
  '')
    # The driver's description for Vulkan's loader may be missing in a container, with or without X11.
    VK_DRIVER_FILES=$(find /etc/vulkan /usr/share/vulkan /usr/local -name 'nvidia_icd*.json' 2>/dev/null | head -1)
    if [ -z "$VK_DRIVER_FILES" ]; then
      for library in GLX EGL; do
        echo '{"file_format_version":"1.0.0","ICD":{"library_path":"lib'$library'_nvidia.so.0","api_version":"1.3.0"}}' \
          >.gpu/icd-$library.json
      done
      VK_DRIVER_FILES="$root/.gpu/icd-GLX.json:$root/.gpu/icd-EGL.json"
    fi
    export VK_DRIVER_FILES
    ;;
  stand-in)
    export LOREKEEP_BACKENDS="$root/.gpu/stand-in"
    step 'the stand-in plugin' 60 node --input-type=module -e \
      "import { standInFolder } from './test/helpers/stand-in-plugin.mjs'; standInFolder('.gpu/stand-in');"
    ;;
  llvmpipe) export LOREKEEP_SOFTWARE_GPU=1 GGML_VK_VISIBLE_DEVICES=0 ;;
esac
# Vulkan's checks, once: while the plugin of CUDA is compiled they cost no time of their own.
if [ ! -e .gpu/vulkan-checked ]; then
  [ -n "$rehearsal" ] || [ -e backends/vulkan/libggml-vulkan.so ] && checks vulkan "$vulkan"
  touch .gpu/vulkan-checked
fi
wait "$building"

[ -n "$rehearsal" ] || checks cuda 240
backend=cuda sizes=''
[ -n "$rehearsal" ] && backend=vulkan sizes='--counts 4,2 --prompt 32 --long 128 --depth 100 --reply 4 --rounds 1 --texts 8'
if [ -e .gpu/llama-server/llama-server ]; then
  export LLAMA_SERVER="$root/.gpu/llama-server/llama-server"
  export GGML_BACKEND_PATH="${LOREKEEP_BACKENDS:-$root/backends/$backend}/libggml-$backend.so"
  addon=$(dirname "$(ls "$root"/build/Release/lorekeep.node "$root"/prebuilds/*/lorekeep.node 2>/dev/null | head -1)")
  export LD_LIBRARY_PATH="$root/.gpu/llama-server:$addon:$LD_LIBRARY_PATH" # the plugin needs the addon's ggml-base by name
fi
minutes=$(awk "BEGIN { print ($(left) - 15) / 60 }")
step measurements "$(left)" node bench/gpu/gpu.mjs --backend "$backend" --models "$models" --minutes "$minutes" --rows "$OUT/rows.jsonl" \
  --ceilings .gpu/ceilings.json --threads "$(nproc)" $sizes
cp bench/results/gpu.json "$OUT" 2>/dev/null
grep -hE '^(passed|failed|late|left out) +[0-9.]+ s ' "$OUT/log"
tail -60 "$OUT/log"
record total done $(($(date +%s) - begin))
