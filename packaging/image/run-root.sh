#!/bin/sh
# Runs a command of hirebridge in the folder that build-root.sh made, as the image runs it: user 65532, nothing writable
# but /data and /tmp, and no privilege to be gained. run-root.sh FOLDER COMMAND...; needs root, and no container engine.
set -eu
root=$(realpath "$1")
shift
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/data HIREBRIDGE_DATA=/data \
  HIREBRIDGE_TENANTS=/etc/hirebridge/tenants LOG_FORMAT=json MALLOC_ARENA_MAX=2 ${HIREBRIDGE_ENV:-} \
  unshare --mount --pid --fork --kill-child sh -eu -c '
  root=$1
  shift
  mount --bind "$root" "$root"
  mount --bind -o remount,ro,bind "$root"
  mount -t proc proc "$root/proc"
  mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
  mount -t tmpfs -o mode=0700,uid=65532,gid=65532 tmpfs "$root/data"
  mount --rbind /dev "$root/dev"
  exec setpriv --no-new-privs /usr/sbin/chroot --userspec=65532:65532 --groups= "$root" \
    /usr/local/bin/node /app/node_modules/hirebridge/bin/hirebridge.mjs "$@"
' sh "$root" "$@"
