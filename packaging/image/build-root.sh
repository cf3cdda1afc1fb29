#!/bin/sh
# The image's file system, for the Dockerfile and without any container engine or registry: what Node needs of Debian's
# packages, a shell for `up` and `demo`, and the program. build-root.sh TARBALL FOLDER [amd64|arm64]: for this machine's
# kind or the other; nothing of the image runs meanwhile. Needs mmdebstrap, npm and root.
set -eu
here=$(dirname "$(realpath "$0")")
kind=${3:-$(dpkg --print-architecture)}
mmdebstrap --quiet --mode=chrootless --architecture="$kind" --variant=extract --dpkgopt='path-exclude=/usr/share/doc/*' \
  --include=base-files,netbase,tzdata,ca-certificates,libc6,libstdc++6,libgcc-s1,dash,coreutils bookworm "$2"
# Come along with other packages, and install what nobody asked for.
rm -rf "$2"/usr/bin/dpkg* "$2"/usr/sbin/dpkg-* "$2"/usr/bin/debconf* "$2/usr/share/dpkg" "$2/usr/share/debconf" \
  "$2/etc/apt" "$2/etc/dpkg"
ln -sf dash "$2/bin/sh"
# ca-certificates is unpacked only, so its bundle is made here.
mkdir -p "$2/etc/ssl/certs"
cat "$2"/usr/share/ca-certificates/mozilla/*.crt >"$2/etc/ssl/certs/ca-certificates.crt"
echo 'hirebridge:x:65532:65532::/data:/usr/sbin/nologin' >>"$2/etc/passwd"
"$here/install.sh" "$1" "$2" "$kind"
chown 65532:65532 "$2/data"
echo "$(du -sm --exclude=proc --exclude=sys "$2" | cut -f1) MB unpacked, $(grep -c '"bom-ref"' "$2/app/sbom.cdx.json") parts in the SBOM"
