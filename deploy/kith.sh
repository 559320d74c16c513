#!/bin/sh
# /usr/local/bin/kith: a command of Kith as its user and with its settings. Paths in its options are absolute.
cd /etc/kith && exec sudo --user=kith /opt/kith/node_modules/.bin/node /opt/kith/packages/server/bin/kith.js "$@"
