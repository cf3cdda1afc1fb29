/** Each asks hirebridge for the words that may follow, and falls back to files where there are none. */
export const scripts = {
  bash: `_hirebridge() {
  local IFS=$'\\n'
  COMPREPLY=($(hirebridge completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _hirebridge hirebridge
`,
  zsh: `#compdef hirebridge
_hirebridge() {
  local -a found
  found=(\${(f)"$(hirebridge completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#found} )); then compadd -a found; else _files; fi
}
compdef _hirebridge hirebridge
`,
  fish: `function __hirebridge
    set -l words (commandline -opc)
    set -l found (hirebridge completion fish -- $words[2..] (commandline -ct) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c hirebridge -f -a '(__hirebridge)'
`,
} as const;
