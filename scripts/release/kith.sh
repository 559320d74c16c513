#!/bin/sh
# bin/kith of a release: runs it on the Node.js that came with it, or on the machine's. Links are followed to the release itself,
# so that a program that runs never finds another release behind one of them.
root=$(dirname "$(dirname "$(readlink -f "$0")")")
program="$root/packages/server/bin/kith.js"
why='there is none for this machine'
for node in "$root"/node_modules/node-*/bin/node; do
  [ -f "$node" ] || continue
  why=$("$node" --version 2>&1 >/dev/null) && exec "$node" "$program" "$@"
done
isNew='process.exit(parseInt(process.versions.node, 10) < 24 ? 1 : 0)'
node -e "$isNew" 2>/dev/null && exec node "$program" "$@"
cat >&2 <<END
Kith finds no Node.js to run on. The one that it comes with does not run here: $why
This machine has $(node --version 2>/dev/null || echo none).
Install what is missing, mostly libatomic (libatomic1 on Debian and Ubuntu), or Node.js 24 or newer,
as on systems with musl (Alpine: apk add nodejs).
END
exit 1
