#!/bin/sh
# /usr/local/bin/kith: a command of Kith as its user and with its settings. Paths in its options are absolute.
[ "$(id -un)" = kith ] || exec sudo --user=kith -- "$0" "$@"
cd /etc/kith && exec /opt/kith/current/bin/kith "$@"
