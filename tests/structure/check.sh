#!/bin/sh
# The structure of the tree: who may include whom, how long a file may be, that no type has two definitions, that what belongs into
# one place is there and nowhere else, and that circles between files stay few. usage: check.sh ROOT
# Prints one line for each violation and fails if there is any.
set -eu
cd "$1"

# A folder of src/ may include those named before it, and itself.
order="base ranks geom plot graph eval lower render device built num space wisdom tune kernel plan cloud image apps sample bench cli"

includes() {
    find src include -type f \( -name '*.c' -o -name '*.h' -o -name '*.in' \) 2>/dev/null | LC_ALL=C sort |
        xargs awk -v order="$order" '
        BEGIN { n = split(order, names, " "); for (k = 1; k <= n; ++k) rank[names[k]] = k }
        function bad(what) { print FILENAME ":" FNR ": " what; found = 1 }
        FNR == 1 {
            split(FILENAME, part, "/")
            public = part[1] == "include"
            own = public ? "" : part[2]
            if (!public && FILENAME ~ /^src\/[^\/]*$/) bad("lies in no folder of src/")
            else if (!public && !(own in rank)) bad("src/" own " is not a folder of the order: " order)
        }
        /^[ \t]*#[ \t]*include[ \t]*["<]/ {
            name = $0
            sub(/^[ \t]*#[ \t]*include[ \t]*/, "", name)
            quoted = substr(name, 1, 1) == "\""
            name = substr(name, 2)
            sub(/[">].*/, "", name)
            split(name, part, "/")
            folder = index(name, "/") ? part[1] : ""
            if (folder == "attune") next
            if (index(name, "..")) bad("includes \"" name "\"; name it from src/ on")
            else if (public && (quoted || folder in rank)) bad("a public header includes \"" name "\" of the inside")
            else if (folder in rank && rank[folder] > rank[own])
                bad("src/" own " may not include \"" name "\": " folder " comes after " own)
            else if (quoted && folder != "" && !(folder in rank)) bad("includes \"" name "\", which is not in src/")
        }
        END { exit found }'
}

# Recorded data may be long; text that people read may not.
lengths() {
    find src include tests bench -type f ! -path '*/data/*' ! -path '*/golden/*' ! -path '*/corpus/*' 2>/dev/null | LC_ALL=C sort |
        xargs awk '
        FNR == 1 { excused = 0 }
        FNR <= 10 && /file length: [^ ]/ { excused = 1 }
        FNR == 601 && !excused {
            print FILENAME ": over 600 lines; split it, or say \"file length: REASON\" in its first ten lines"
            found = 1
        }
        END { exit found }'
}

# One name, one thing: a type that a header defines, and any of our own prefix, is defined nowhere else.
types() {
    find src include python -type f \( -name '*.c' -o -name '*.h' -o -name '*.in' \) 2>/dev/null | LC_ALL=C sort |
        xargs awk '
        match($0, /(struct|enum|union) [a-z_0-9]+ \{/) {
            split(substr($0, RSTART, RLENGTH), word, " ")
            name = word[2]
            if ((name in first) && first[name] != FILENAME && (shared[name] || FILENAME !~ /\.c$/ || name ~ /^atn_/)) {
                print FILENAME ":" FNR ": the type " name " is defined in " first[name] " too"
                found = 1
            }
            if (!(name in first)) first[name] = FILENAME
            if (FILENAME !~ /\.c$/) shared[name] = 1
        }
        END { exit found }'
}

# What has one place: environment variables and limits in their tables, names of backends in src/device alone.
places() {
    bad=0
    found=$(grep -rnE '\b(secure_)?getenv\(' src --include='*.[ch]' 2>/dev/null | grep -v '^src/base/environment\.c:' | cut -d: -f1,2)
    [ -z "$found" ] || { printf '%s\n' "$found" | sed 's/$/: reads the environment; that is a row of src\/base\/environment.c/'; bad=1; }
    found=$(grep -rnE '^ *(enum \{ )?ATN_(LIMIT|MOST|MAX)_[A-Z_]+ = ' src --include='*.[ch]' 2>/dev/null | grep -v '^src/base/limits\.h:' | cut -d: -f1,2)
    [ -z "$found" ] || { printf '%s\n' "$found" | sed 's/$/: a limit; it belongs into src\/base\/limits.h/'; bad=1; }
    found=$(grep -rnE 'strn?(case)?cmp.*backend' src --include='*.[ch]' 2>/dev/null | grep -v '^src/device/' | cut -d: -f1,2)
    [ -z "$found" ] || { printf '%s\n' "$found" | sed 's/$/: compares the name of a backend; what differs is a field of src\/device\/facts.h/'; bad=1; }
    found=$(grep -rhoE 'ATN_IN_LANES(_APART)? static [a-z0-9_ ]+[ *]+[a-z0-9_]+\(' src --include='*.c' 2>/dev/null | sed 's/($//; s/.*[ *]//' | LC_ALL=C sort | uniq -d)
    [ -z "$found" ] || { printf '%s\n' "$found" | sed 's/.*/src: two functions in lanes are called &; clang 14 gives what chooses among their clones one name for both/'; bad=1; }
    return $bad
}

# What CONTRIBUTING.md promises a newcomer: a kernel is one file, a format of points and a knob are one file and one row each.
newcomers() {
    bad=0
    names=$(ls kernels 2>/dev/null | sed 's/\.atn$//' | paste -sd'|' -)
    if [ -n "$names" ]; then
        found=$(grep -rcE "^ *\{?\"($names)\"[,}]" src python/src python/attune 2>/dev/null | awk -F: '$2 > 5 { print $1 }')
        [ -z "$found" ] || { printf '%s\n' "$found" | sed 's/$/: a table of shipped kernels; what is to be said of one is in its file/'; bad=1; }
    fi
    [ -f src/cloud/formats.h ] || return $bad
    defined=$(grep -hoE '^const cloud_format CLOUD_[A-Z0-9]+ = ' src/cloud/*.c | sed 's/.*CLOUD_//; s/ =.*//' | LC_ALL=C sort)
    listed=$(sed -n '/define CLOUD_EACH_FORMAT/,/[^\\]$/p' src/cloud/formats.h | grep -oE 'row\([A-Z0-9]+\)' | sed 's/row(//; s/)//' | LC_ALL=C sort)
    [ "$defined" = "$listed" ] || { echo "src/cloud/formats.h: its rows (" $listed ") are not the formats that files define (" $defined ")"; bad=1; }
    for ending in $(awk '/^const cloud_format CLOUD_/ { on = 1 } on { printf "%s ", $0 } on && /;$/ { on = 0; print "" }' src/cloud/*.c | grep read | sed -n 's/^[^"]*"[^"]*"[^"]*"\([a-z0-9]*\).*/\1/p'); do
        [ -f tests/cloud/cloudkit.c ] || break
        grep -q "\.$ending\"" tests/cloud/cloudkit.c || { echo "tests/cloud/cloudkit.c: no file with the extension $ending"; bad=1; }
        ls tests/fuzz/corpus/cloud/*_"$ending" >/dev/null 2>&1 || { echo "tests/fuzz/corpus/cloud: no file NAME_$ending"; bad=1; }
        grep -qE "^\|( [a-z0-9]+)* $ending[ a-z0-9]* \|" docs/formats.md || { echo "docs/formats.md: no row for $ending"; bad=1; }
    done
    found=$(grep -rniE '\bply\b[^a-z0-9]{1,6}(pcd|obj|stl|xyz)\b' src python/attune include 2>/dev/null | grep -v '^src/cloud/formats\.h:' | cut -d: -f1,2)
    [ -z "$found" ] || { printf '%s\n' "$found" | sed 's/$/: a second list of point formats; cloud_format_endings has them/'; bad=1; }
    if grep -qE '^(bool|atn_status) cloud_[a-z]+_(begins|read)\(' src/cloud/formats.h; then
        echo "src/cloud/formats.h: declares a function of one format; its row in the format's own file names it"
        bad=1
    fi
    if awk '/^typedef struct atn_variant \{/ { inside = 1 } /^\} atn_variant;/ { inside = 0 } inside && /^ *int32_t / { found = 1 } END { exit !found }' src/lower/variant.h; then
        echo "src/lower/variant.h: a knob that is not a row of ATN_KNOBS"
        bad=1
    fi
    [ -f src/lower/knobs.h ] || return $bad
    knobs=$(sed -n 's/^    knob(\([a-z_]*\),.*/\1/p' src/lower/knobs.h)
    for knob in $knobs; do
        grep -qE "^\|.*\`$knob\`" docs/lowering.md || { echo "docs/lowering.md: no row for the knob $knob of src/lower/knobs.h"; bad=1; }
    done
    names=$(printf '%s\n' $knobs | paste -sd'|' -)
    found=$(grep -rcE "^ *\{\"($names)\"," src --include='*.[ch]' | awk -F: '$2 > 5 { print $1 }')
    [ -z "$found" ] || { printf '%s\n' "$found" | sed 's/$/: a second table of knobs; what a knob means is in its row of src\/lower\/knobs.h/'; bad=1; }
    return $bad
}

# No function without a caller: a name of an internal header that src/, python/src and tools/ have no more than twice (declared and
# defined) is called by nobody, or by tests alone, and then tests/structure/only_tests.txt says why.
uncalled() {
    list=tests/structure/only_tests.txt
    [ -f $list ] || list=/dev/null
    find src python/src tools -type f \( -name '*.c' -o -name '*.h' -o -name '*.in' -o -path 'tools/*' \) ! -path 'src/*/prelude/*' ! -path 'src/*/probe/*' 2>/dev/null |
        LC_ALL=C sort | xargs awk -v list="$list" '
        BEGIN { while ((getline row < list) > 0) if (row !~ /^#/) { split(row, part, " "); excused[part[1]] = 1 } }
        FNR == 1 { inside = 0 }
        {
            line = $0
            if (inside) { if (!match(line, /\*\//)) next; line = substr(line, RSTART + 2); inside = 0 }
            gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", line)
            if (match(line, /\/\*/)) { line = substr(line, 1, RSTART - 1); inside = 1 }
            n = split(line, word, /[^A-Za-z0-9_]+/)
            for (k = 1; k <= n; ++k) ++count[word[k]]
            if (FILENAME ~ /^src\/.*\.h$/ && match(line, /(^|[ *])[a-z][a-z0-9_]*\(/) && line !~ /^ *#|typedef|^ *(if|for|while|return)|static inline|[{}]|__attribute__/) {
                name = substr(line, RSTART, RLENGTH - 1)
                gsub(/[ *]/, "", name)
                if (!(name in where)) where[name] = FILENAME
            }
        }
        END {
            for (name in where)
                if (count[name] <= 2 && !(name in excused)) { print where[name] ": nothing calls " name; found = 1 }
            for (name in excused)
                if (!(name in where) || count[name] > 2) { print list ": " name " is called, or gone: its row goes"; found = 1 }
            exit found
        }'
}

# Public settings, results and infos begin with their size, so that fields can be added; what the library hands out by pointer alone
# (atn_device_info) need not. Settings are called settings.
sized() {
    ls include/attune/*.h >/dev/null 2>&1 || return 0
    awk '
        open && /size_t size;/ { open = 0 }
        open && /;/ { print FILENAME ":" FNR ": " name " does not begin with size_t size"; found = 1; open = 0 }
        match($0, /struct atn_[a-z_0-9]+_(settings|result|info|counts) \{/) {
            name = substr($0, RSTART + 7, RLENGTH - 9)
            open = name != "atn_device_info"
        }
        /struct atn_[a-z_0-9]*options/ { print FILENAME ":" FNR ": options are called settings"; found = 1 }
        END { exit found }' include/attune/*.h
}

code=0
sized || code=1
uncalled || code=1
includes || code=1
types || code=1
lengths || code=1
places || code=1
newcomers || code=1
exit $code
