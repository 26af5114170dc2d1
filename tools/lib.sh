# Sourced by the scripts beside it: where things are, and how they speak.
# shellcheck shell=bash
# shellcheck disable=SC2034 # used by those scripts

set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# What takes long to make and does not depend on this checkout: the roots and the thread-safe PHP.
cache=${ASKR_CACHE:-$HOME/.cache/askr}

# Progress goes to stderr, so that a script's stdout can be its answer.
say() { printf '==> %s\n' "$*" >&2; }
die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Whether this machine can make and enter roots: Debian's packages are what they are made of.
can_root() {
    [ "$(id -u)" = 0 ] && [ -r /etc/os-release ] && (. /etc/os-release && [ "$ID" = debian ])
}

# The Debian mirror that this machine's apt is set up with.
debian_mirror() {
    local query
    query=(apt-get indextargets --format '$(SITE)' 'Created-By: Packages'
        "Codename: $(. /etc/os-release && echo "$VERSION_CODENAME")")
    # apt knows a source's codename once it has read the source's index.
    [ -n "$("${query[@]}")" ] || apt-get -qq update >&2
    "${query[@]}" | head -n 1
}

# Runs the rest of the script once at a time for this name; a second caller waits for the first.
lock() {
    mkdir -p "$cache"
    exec 9>"$cache/$1.lock"
    flock 9
}
