#!/bin/bash
# Runs steps of the guides on what looks like a fresh machine, in mount and network namespaces of its own: nothing of it is seen
# or left outside. Usage: unshare --mount --net guide-machine.sh REPOSITORY STEPS [HOME], where STEPS has one script a file, by name:
# `*.root.sh` is run by root, others by an ordinary user who may use sudo. HOME is what that user has; without it the repository is
# installed in the form of a release.
set -euo pipefail
repository=$1 steps=$2 home=${3:-}

ip link set lo up
mount -t tmpfs none /mnt
cp -a "$steps" /mnt/steps
cp -a /etc /mnt/etc
# A machine on which kith was installed before is fresh too.
sed --in-place '/^\(kith\|admin\):/d' /mnt/etc/{passwd,group,shadow,gshadow}
rm -rf /mnt/etc/kith /mnt/etc/systemd/system/kith* /mnt/etc/sudoers.d/admin
mount --bind /mnt/etc /etc
mkdir /mnt/dpkg
mount --bind /var/lib/dpkg /mnt/dpkg
mount -t tmpfs none /var/lib
mkdir /var/lib/dpkg
mount --bind /mnt/dpkg /var/lib/dpkg
mount -t tmpfs none /var/backups
mount -t tmpfs none /usr/local/bin
mount -t tmpfs none /opt
mkdir -p /mnt/bin /mnt/home /mnt/upper /mnt/work

if [ -n "$home" ]; then
  cp -a "$home/." /mnt/home
else
  # What is written there stays in memory.
  release=/opt/kith/releases/kith-0.0.0-linux-x64
  mkdir -p "$release"
  mount -t overlay overlay -o "lowerdir=$repository,upperdir=/mnt/upper,workdir=/mnt/work" "$release"
  mkdir "$release/bin"
  install -m 755 "$release/scripts/release/kith.sh" "$release/bin/kith"
  ln --symbolic "releases/${release##*/}" /opt/kith/current
fi

# Nothing runs systemd, and there is no network: services are started as their units say, and packages have to be there.
install -m 755 "${0%/*}/guide-systemctl.sh" /mnt/bin/systemctl
cat >/mnt/bin/apt <<'END'
#!/bin/sh
[ "$1 $2" = 'install --yes' ] && shift 2 && exec dpkg --status "$@" >/dev/null
END
chmod 755 /mnt/bin/* /mnt/home
mkdir /mnt/services
mount -t tmpfs none /run
path=/mnt/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
useradd --home-dir /mnt/home --shell /bin/bash admin
chown -R admin /mnt/home
printf 'Defaults secure_path="%s"\nadmin ALL=(ALL) NOPASSWD: ALL\n' "$path" >/etc/sudoers.d/admin
export PATH=$path
trap 'for each in /mnt/services/*.pid; do [ ! -e "$each" ] || systemctl stop "$(basename "$each" .pid)"; done' EXIT

for step in /mnt/steps/*.sh; do
  echo "== ${step##*/} after $SECONDS s"
  cd /mnt/home
  run=(env -i PATH="$path" HOME=/mnt/home bash -euo pipefail "$step")
  [[ $step == *.root.sh ]] || run=(setpriv --reuid admin --regid admin --init-groups "${run[@]}")
  "${run[@]}" </dev/null 2>&1 || { echo "failed in ${step##*/} ($?)"; tail /mnt/journal; exit 1; }
done
echo '== all steps are done'
