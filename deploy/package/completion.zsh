#compdef tensorbraid
# Completion of `tensorbraid` for zsh. It asks the program for its commands and options, so it fits each version.

# Prints the commands and options that may follow the words. Words that are no commands are skipped.
_tensorbraid_words() {
  local program=$1 word help
  local -a path_words
  shift
  help=$("$program" --help 2> /dev/null)
  for word in "$@"; do
    if [[ $word != -* ]] && _tensorbraid_commands "$help" | grep -qx -- "$word"; then
      path_words+=("$word")
      help=$("$program" "${path_words[@]}" --help 2> /dev/null)
    fi
  done
  _tensorbraid_commands "$help"
  print -r -- "$help" | sed -nE 's/^  (-[^ ]+).*/\1/p' | tr ',' '\n'
}
_tensorbraid_commands() { print -r -- "$1" | sed -nE '/^Subcommands:/,/^$/s/^  ([a-z][a-z_-]*).*/\1/p' }

_tensorbraid() {
  local -a before found
  before=("${(@)words[2,CURRENT-1]}")
  if (( ! ${before[(Ie)--]} )); then
    found=("${(@f)$(_tensorbraid_words "$words[1]" "${before[@]}")}")
    compadd -a found && return
  fi
  _files  # also the arguments of another program, after "--"
}

_tensorbraid "$@"
