# Completion of `tensorbraid` for bash. It asks the program for its commands and options, so it fits each version.

# Prints the commands and options that may follow the words. Words that are no commands are skipped.
_tensorbraid_words() {
  local program=$1 path=() word help
  shift
  help=$("$program" --help 2> /dev/null)
  for word in "$@"; do
    if [[ $word != -* ]] && _tensorbraid_commands "$help" | grep -qx -- "$word"; then
      path+=("$word")
      help=$("$program" "${path[@]}" --help 2> /dev/null)
    fi
  done
  _tensorbraid_commands "$help"
  sed -nE 's/^  (-[^ ]+).*/\1/p' <<< "$help" | tr ',' '\n'
}
_tensorbraid_commands() { sed -nE '/^Subcommands:/,/^$/s/^  ([a-z][a-z_-]*).*/\1/p' <<< "$1"; }

_tensorbraid() {
  local word=${COMP_WORDS[COMP_CWORD]} words=("${COMP_WORDS[@]:1:COMP_CWORD-1}") each
  for each in "${words[@]}"; do
    [[ $each != -- ]] || return  # what follows is another program; files are completed
  done
  # Files are completed if no word begins so (complete -o default).
  mapfile -t COMPREPLY < <(compgen -W "$(_tensorbraid_words "$1" "${words[@]}")" -- "$word")
}

complete -o default -F _tensorbraid tensorbraid
