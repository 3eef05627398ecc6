# sh node.sh FILE [WORDS]: runs a file of this plugin with the first Node on the PATH that is new enough (22.16).
# One Node alone is taken unasked: the files say themselves when it is too old, and asking costs a process per event.
# A hook reads this file into its own shell (one process less), with $haversack_sh as its path.
here=${haversack_sh:-$0}
here=${here%/*}
[ -f "$here/$1" ] || exit 0

found=
several=
IFS=:
set -f
for folder in $PATH; do
  if [ -x "${folder:-.}/node" ]; then
    [ -z "$found" ] || several=1
    found=${found:-${folder:-.}/node}
  fi
done

if [ -n "$several" ]; then
  found=
  for folder in $PATH; do
    node=${folder:-.}/node
    [ -x "$node" ] || continue
    version=$("$node" --version 2>/dev/null)
    version=${version#v}
    major=${version%%.*}
    minor=${version#*.}
    minor=${minor%%.*}
    case "$major$minor" in '' | *[!0-9]*) continue ;; esac
    if [ "$major" -gt 22 ] || { [ "$major" -eq 22 ] && [ "$minor" -ge 16 ]; }; then
      found=$node
      break
    fi
  done
fi
unset IFS
set +f

if [ -z "$found" ]; then
  # A hook is silent; a person or the client that starts the server is told.
  [ "$1" = hook.cjs ] && exit 0
  echo "haversack: needs Node 22.16 or newer on the PATH" >&2
  exit 1
fi
file=$here/$1
shift
exec "$found" "$file" "$@"
