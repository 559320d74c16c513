#!/bin/bash
# systemctl of the machine of the guides (guide-machine.sh): starts, reloads and stops services as their units and drop-ins say.
set -euo pipefail

texts() {
  local unit
  for unit in "/etc/systemd/system/$1.service" "/lib/systemd/system/$1.service"; do
    [ ! -e "$unit" ] || break
  done
  cat "$unit"
  cat "/etc/systemd/system/$1.service.d/"*.conf 2>/dev/null || true
}
all() { texts "$1" | sed --quiet "s/^$2=//p"; }
last() { all "$1" "$2" | tail --lines 1; }
at() { echo "/mnt/services/$1"; }

stop() {
  local pid
  [ -e "$(at "$1").pid" ] || return 0
  pid=$(cat "$(at "$1").pid")
  kill "$pid" 2>/dev/null || true
  while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
  rm "$(at "$1").pid"
}

start() {
  local user as=() set bounding=-all given cache
  if [ "$(last "$1" Type)" = forking ]; then
    bash -c "$(last "$1" ExecStart)"
    cp "$(last "$1" PIDFile)" "$(at "$1").pid"
    return
  fi
  user=$(last "$1" User)
  cache="/mnt/cache/$1"
  install -d -o "$user" "$cache"
  as=(--reuid "$user" --regid "$(last "$1" Group)" --init-groups)
  for set in $(last "$1" AmbientCapabilities); do
    set=${set#CAP_}
    as+=("--inh-caps=+${set,,}" "--ambient-caps=+${set,,}")
  done
  if texts "$1" | grep --quiet '^CapabilityBoundingSet='; then
    for set in $(all "$1" CapabilityBoundingSet); do
      set=${set#CAP_}
      bounding+=",+${set,,}"
    done
    as+=("--bounding-set=$bounding")
  fi
  [ "$(last "$1" NoNewPrivileges)" != yes ] || as+=(--no-new-privs)
  mapfile -t given < <(all "$1" Environment | sed "s#%C/$1#$cache#")
  cd "/$(last "$1" WorkingDirectory)"
  : >"$(at "$1").out"
  setpriv "${as[@]}" env -i PATH=/usr/bin:/bin HOME="$(getent passwd "$user" | cut --delimiter : --fields 6)" "${given[@]}" $(last "$1" ExecStart) \
    >"$(at "$1").out" 2>>/mnt/journal </dev/null &
  echo $! >"$(at "$1").pid"
  until isReady "$1" $!; do
    kill -0 $! || { tail /mnt/journal; exit 1; }
    sleep 0.1
  done
}

# The server says so; of others it is taken for the time at which they listen.
isReady() {
  if [ "$1" = kith ]; then grep --quiet ready "$(at "$1").out"
  else ss --no-header --tcp --listening --processes | grep --quiet "pid=$2,"
  fi
}

case "$1 ${2:-}" in
  'daemon-reload ') ;;
  'enable --now') stop "$3" && start "$3" ;;
  'enable '*) texts "$2" >/dev/null ;;
  'stop '*) stop "$2" ;;
  'start '* | 'restart '*) stop "$2" && start "$2" ;;
  'reload '*) MAINPID=$(cat "$(at "$2").pid") bash -c "$(last "$2" ExecReload)" ;;
  *) echo "systemctl $* is not known here" >&2 && exit 1 ;;
esac
