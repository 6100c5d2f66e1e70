package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completionScripts ask the program for the words that may follow, so that they need no
// change when commands do.
var completionScripts = map[string]string{
	"bash": `_parley() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        # Bash 3.2, as on macOS, replaces only what follows "=", but has the whole word in COMP_WORDS.
        [[ $2 == *=* ]] || line=${line#--*=}
        COMPREPLY+=("$line")
    done < <("${COMP_WORDS[0]}" complete-words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _parley parley
`,
	"zsh": `#compdef parley
_parley() {
    local -a found
    found=(${(f)"$("${words[1]}" complete-words -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    if (( $#found )); then compadd -a found; else _files; fi
}
# zsh runs a file of its directories of completions as the function itself.
if [[ ${funcstack[1]} == _parley ]]; then _parley "$@"; else compdef _parley parley; fi
`,
	"fish": `complete -c parley -a '(parley complete-words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
}

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

// Run prints the script.
func (c completionCommand) Run(s *streams) error {
	_, err := fmt.Fprint(s.out, completionScripts[c.Shell])
	return err
}

type completeWordsCommand struct {
	Words []string `arg:"" optional:"" help:"Words of the command line after the program, the last one incomplete."`
}

// Run prints the words that may stand at the end of the command line, one per line.
func (c completeWordsCommand) Run(s *streams, k *kong.Context) error {
	for _, word := range completions(k.Model.Node, c.Words) {
		if _, err := fmt.Fprintln(s.out, word); err != nil {
			return err
		}
	}
	return nil
}

// completions returns the commands, flags or values that begin with the last word. The value of a flag may follow "=":
// Bash 4 passes "--flag", "=" and the value as three words, and Bash 3.2 and other shells pass one.
func completions(node *kong.Node, words []string) []string {
	last := ""
	if len(words) > 0 {
		last, words = words[len(words)-1], words[:len(words)-1]
	}
	var value *kong.Flag // whose value comes next
	for _, word := range words {
		if value != nil {
			if word != "=" {
				value = nil
			}
			continue
		}
		node = commandOf(node, word)
		if name, isFlag := strings.CutPrefix(word, "--"); isFlag {
			value = flagWithValue(node, name)
		} else if child := childOf(node, word); child != nil {
			node = child
		}
	}
	before := "" // what the last word has before the value of a flag
	if value == nil {
		node = commandOf(node, last)
		if flag, text, ok := strings.Cut(last, "="); ok {
			if value = flagWithValue(node, strings.TrimPrefix(flag, "--")); value != nil {
				before, last = flag+"=", text
			}
		}
	} else if last == "=" {
		last = ""
	}
	var all []string
	switch {
	case value != nil:
		all = enumOf(value.Value)
	case strings.HasPrefix(last, "-"):
		for _, group := range node.AllFlags(true) {
			for _, flag := range group {
				all = append(all, "--"+flag.Name)
			}
		}
	default:
		for _, child := range node.Children {
			if !child.Hidden {
				all = append(all, child.Name)
			}
		}
		for _, arg := range node.Positional {
			all = append(all, enumOf(arg)...)
		}
	}
	all = slices.DeleteFunc(all, func(word string) bool { return !strings.HasPrefix(word, last) })
	slices.Sort(all)
	all = slices.Compact(all)
	for i := range all {
		all[i] = before + all[i]
	}
	return all
}

// commandOf returns the command to which a word belongs: a flag in place of a command is one of the default command.
func commandOf(node *kong.Node, word string) *kong.Node {
	if strings.HasPrefix(word, "-") && node.DefaultCmd != nil {
		return node.DefaultCmd
	}
	return node
}

// flagWithValue returns the flag with a name if the next word is its value, or nil.
func flagWithValue(node *kong.Node, name string) *kong.Flag {
	for _, group := range node.AllFlags(false) {
		for _, flag := range group {
			if flag.Name == name && !flag.IsBool() {
				return flag
			}
		}
	}
	return nil
}

func childOf(node *kong.Node, name string) *kong.Node {
	i := slices.IndexFunc(node.Children, func(child *kong.Node) bool { return child.Name == name })
	if i < 0 {
		return nil
	}
	return node.Children[i]
}

// enumOf returns the possible values of a flag or an argument, or none if it has no list.
func enumOf(v *kong.Value) []string {
	return slices.DeleteFunc(strings.Split(v.Enum, ","), func(value string) bool { return value == "" })
}
