# What scripts/release/docker.trial.ts puts before the commands of the Dockerfile, in namespaces of its own. Of an engine it has:
# layers, copies of the context, users, volumes, and what is taken from a container. REPOSITORY is the clone.
set -euo pipefail
ip link set lo up
mount -t tmpfs none /mnt
mkdir /mnt/bin /mnt/volumes

# A layer NAME over another one.
layer() {
  mkdir --parents "/mnt/$1/up" "/mnt/$1/work" "/mnt/$1/root"
  if [ "$2" = / ]; then
    mount -t overlay overlay -o "lowerdir=/,upperdir=/mnt/$1/up,workdir=/mnt/$1/work" "/mnt/$1/root"
    sed --in-place '/^kith:/d' "/mnt/$1/root"/etc/{passwd,group,shadow,gshadow}
    rm -rf "/mnt/$1/root"/{src,app,release,data,blobs}
  else
    mount --bind "$2" "/mnt/$1/root"
  fi
  mount --rbind /dev "/mnt/$1/root/dev"
  mount --rbind /proc "/mnt/$1/root/proc"
  mount -t tmpfs none "/mnt/$1/root/tmp"
}

# Files of the clone, without what the engine is told to leave out and what builds leave behind.
context() {
  local to=$1
  shift
  local left=(--exclude=packages/web/dist)
  mapfile -t -O 1 left < <(sed --quiet -e '/^[*!]$/d' -e '/^!/d' -e '/^\*$/d' -e 's#^\*\*/##' -e 's#^#--exclude=#p' \
    "$REPOSITORY/deploy/Dockerfile.dockerignore")
  tar --directory "$REPOSITORY" "${left[@]}" --create "$@" | tar --directory "$to" --extract --no-same-owner
}

# npm's, which are those of the clone.
packages() { mkdir --parents "$1/node_modules" && mount --bind "$REPOSITORY/node_modules" "$1/node_modules"; }

# As NAME USER FOLDER NAME=VALUE… COMMAND…
as() {
  local at="/mnt/$1/root" user=$2 folder=$3 ids
  shift 3
  ids=$(chroot "$at" id -u "$user" 2>/dev/null):$(chroot "$at" id -g "$user" 2>/dev/null || echo 0)
  [ "$ids" != :0 ] || ids="$user:0"
  chroot --userspec="$ids" "$at" env -i HOME=/ sh -c 'cd "$0" && exec env "$@"' "$folder" "$@"
}
