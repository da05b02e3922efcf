# For tests that need a root of Debian 12; to be sourced. Sets:
#   archive  the address of the Debian archive that this system uses
#   base     a tar file of a minimal root, which is kept for the next time
# Tests that source this run one after the other, since they share the tar file and the files of scripts/make_package.
# REQUIRES: $source is the root of the repository, $work a temporary folder, and debootstrap is installed.
archive=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Codename: bookworm')
archive=${archive%%$'\n'*}
base=$source/build/engines/package/base.tar
mkdir -p "$(dirname "$base")"
exec {only_one}< "$(dirname "$base")"
flock "$only_one"  # until the test ends
if [[ ! -e $base ]]; then
  debootstrap --variant=minbase bookworm "$work/base" "$archive" > "$work/log" 2>&1 || { tail "$work/log" >&2; exit 1; }
  tar -C "$work/base" -cf "$base.new" .
  rm -rf "$work/base"
  mv "$base.new" "$base"
fi
