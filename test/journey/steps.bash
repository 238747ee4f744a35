# Words of the journeys. A journey sources this, installs the package and becomes a person.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
output=$(mktemp)
chmod 666 "$output"

# note WORDS…: what happens next, for the reader of the transcript.
note() { printf '\n# %s\n' "$*"; }

# shown STATUS PROMPT COMMAND…: runs it, shows its output, and expects that exit status.
shown() {
  local wanted=$1 prompt=$2 status=0
  shift 2
  printf '%s' "$prompt"
  local word
  for word in "$@"; do
    case $word in
      *[!a-zA-Z0-9_./=:@+-]* | "") printf " '%s'" "${word//\'/\'\\\'\'}" ;;
      *) printf ' %s' "$word" ;;
    esac
  done
  printf '\n'
  "${run[@]}" "$@" >"$output" 2>&1 </dev/null || status=$?
  cat "$output"
  if [ "$status" -ne "$wanted" ]; then
    echo "!!! status $status, expected $wanted"
    exit 1
  fi
}

# person_has NAME=VALUE…: the environment of the new user.
# shellcheck disable=SC2120  # journeys give them
person_has() { person=(runuser -u ada -- env HOME=/home/ada USER=ada XDG_RUNTIME_DIR= PATH=/usr/local/bin:/usr/bin:/bin "$@"); }
person_has
# step COMMAND…, as root; as_person COMMAND…, as the new user.
step() { run=(env) && shown 0 "root#" "$@"; }
as_person() { run=("${person[@]}") && shown 0 "ada$" "$@"; }
# person_fails STATUS COMMAND…: a command that ends with this status.
person_fails() {
  local wanted=$1
  shift
  run=("${person[@]}")
  shown "$wanted" "ada$" "$@"
}

# expect WORDS: they are in the output of the last command.
expect() {
  grep -qF -- "$1" "$output" || { echo "!!! there is no: $1"; exit 1; }
}
# expect_not WORDS: they are not.
expect_not() {
  ! grep -qF -- "$1" "$output" || { echo "!!! there is: $1"; exit 1; }
}

# install_package: as the person reads it in the README; quiet, because apt says much.
install_package() {
  note "a bare Debian $(. /etc/os-release && echo "$VERSION_ID"): the package is installed with one command"
  printf 'root# apt install ./mcpbx_*.deb\n'
  apt-get update -qq
  cd /journey
  if ! apt-get install -y -q ./mcpbx_*.deb >"$output" 2>&1; then cat "$output"; exit 1; fi
  grep -E '^(The following|  |Setting up mcpbx)' "$output" || true
  cd /
  useradd -m -s /bin/bash ada 2>/dev/null || { echo "ada:x:1000:1000::/home/ada:/bin/bash" >>/etc/passwd; mkdir /home/ada; chown 1000:1000 /home/ada; }
}
