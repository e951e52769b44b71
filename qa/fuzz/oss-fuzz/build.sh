#!/bin/bash -eu
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the fuzz targets into $OUT with the flags and the engine of OSS-Fuzz's environment: CC, CXX,
# CFLAGS, CXXFLAGS, LIB_FUZZING_ENGINE, OUT. It runs at the top of the sources.

./autogen.sh > /dev/null
./configure --enable-fuzz CC="$CC" CFLAGS="$CFLAGS"

# The environment's sanitizer takes the place of our own flags, and it wants to link with clang++.
make -s -j"$(nproc)" fuzz CCLD="$CXX" LDFLAGS="$CXXFLAGS" IDS_CFLAGS="-DIDS_FUZZ=1" IDS_LDFLAGS= \
    IDS_FUZZ_LIBS="$LIB_FUZZING_ENGINE"

# Where the targets run there are no packages: the libraries go with them.
copy_libraries() {
    ldd "$1" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
        grep -vE '/(libc|libm|libpthread|libdl|librt|libgcc_s|libstdc\+\+|libresolv)\.so' |
        xargs -r cp -nLt "$OUT/lib"
}

mkdir -p "$OUT/lib"
for target in $(sed -n 's|^fuzz_targets += qa/fuzz/||p' qa/fuzz/sources.am); do
    cp "qa/fuzz/$target" "$OUT/"
    copy_libraries "$OUT/$target"
    patchelf --set-rpath '$ORIGIN/lib' "$OUT/$target"
    if [ -d "qa/fuzz/corpus/$target" ]; then
        zip -qjr "$OUT/${target}_seed_corpus.zip" "qa/fuzz/corpus/$target"
    fi
    if [ -f "qa/fuzz/$target.dict" ]; then cp "qa/fuzz/$target.dict" "$OUT/"; fi
    printf '[libfuzzer]\ntimeout = 10\nrss_limit_mb = 2048\n' > "$OUT/$target.options"
done
# A library finds those that it needs beside itself.
for library in "$OUT"/lib/*; do patchelf --set-rpath '$ORIGIN' "$library"; done
