# Functions for benchmarks that build Debian packages. Sourced after common.sh. $keep is the folder for sources.
keep=${SUITES_FOLDER:-$BENCH_BUILD/suites}
mkdir -p "$keep"
keep=$(cd "$keep" && pwd)

# apt with the sources of the packages that this machine's lists name; the machine's configuration stays as it is.
private_apt() {
	apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$keep/apt/parts" \
		-o Dir::State::Lists="$keep/apt/lists" -o Dir::Cache="$keep/apt/cache" -o APT::Sandbox::User=root "$@"
}

# fetch PACKAGE: unpacks its source in $keep/PACKAGE/source, with Debian's patches.
fetch() {
	[ ! -d "$keep/$1/source" ] || return 0
	if [ ! -d "$keep/apt/parts" ]; then
		mkdir -p "$keep/apt/lists/partial" "$keep/apt/cache/archives/partial" "$keep/apt/new"
		for list in /etc/apt/sources.list.d/*.sources; do
			sed 's/^Types:.*/Types: deb-src/' "$list" > "$keep/apt/new/$(basename "$list")" || return 1
		done
		mv "$keep/apt/new" "$keep/apt/parts"
		private_apt update || return 1
	fi
	mkdir -p "$keep/$1"
	(cd "$keep/$1" && private_apt source --download-only "$1" && dpkg-source --no-check -x ./*.dsc source)
}
