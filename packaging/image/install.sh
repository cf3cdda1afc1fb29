#!/bin/sh
# Installs the packed hirebridge into a folder of an image and leaves out what never runs there.
# install.sh TARBALL ROOT KIND: ROOT/app gets the program and its SBOM, ROOT/usr/local/bin/node the Node that comes with
# it, each for amd64 or arm64, like this machine.
set -eu
case $3 in
amd64) machine=x86_64-unknown-linux-gnu cpu=x64 ;;
arm64) machine=aarch64-unknown-linux-gnu cpu=arm64 ;;
*) echo "install.sh: no Node and no Temporal core for $3" >&2 && exit 1 ;;
esac
tarball=$(realpath "$1")
root=$(realpath "$2")
app=$root/app
mkdir -p "$app" "$root/usr/local/bin" "$root/data"
cd "$app"
echo '{ "name": "hirebridge-image", "version": "0.0.0", "private": true }' >package.json
npm install --os=linux --cpu="$cpu" --libc=glibc --omit=dev --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error "$tarball"
# An address as git's scp form has it is no URI, which CycloneDX asks for.
npm sbom --omit=dev --sbom-format=cyclonedx --sbom-type=application |
  sed 's|"git@\([^:"]*\):|"ssh://git@\1/|' >sbom.cdx.json

node=node-linux-$cpu
cp "node_modules/$node/bin/node" "$root/usr/local/bin/node"
# Once is enough, and the launcher needs no other where Node is new enough.
rm -rf "node_modules/$node"
find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 ! -name "$machine" -exec rm -rf {} +
rm -rf node_modules/@temporalio/core-bridge/sdk-core node_modules/.package-lock.json package-lock.json
find node_modules \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.cts' -o -name '*.d.mts' \) -type f -delete
ln -sf ../../../app/node_modules/hirebridge/bin/hirebridge.mjs "$root/usr/local/bin/hirebridge"
