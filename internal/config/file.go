package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxFileSize is the maximum size of a configuration file, in bytes.
const maxFileSize = 1 << 20

// readFile returns the settings of a YAML file by flag. Errors name the file.
func readFile(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the configuration file cannot be opened: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("the configuration file cannot be read: %w", err)
	}
	if len(data) > maxFileSize {
		return nil, fmt.Errorf("the configuration file %s is larger than 1 MiB", path)
	}
	values, err := parseFile(data)
	if err != nil {
		return nil, fmt.Errorf("the configuration file %s: %w", path, err)
	}
	return values, nil
}

// parseFile returns the settings of a YAML document by flag. The document is one
// flat mapping, or empty. Errors for unknown keys, duplicate keys and values of a
// wrong type name the key and the line. They never repeat a text value, because it
// may be a password.
func parseFile(data []byte) (map[string]string, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return map[string]string{}, nil
		}
		return nil, err
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("contains more than one YAML document")
	}
	root := document.Content[0]
	if root.ShortTag() == "!!null" {
		return map[string]string{}, nil // a file with only comments
	}
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: must be a mapping of settings, name: value", root.Line)
	}
	return parseMapping(root)
}

// parseMapping returns the settings of a mapping by flag.
func parseMapping(root *yaml.Node) (map[string]string, error) {
	known := map[string]setting{}
	for _, s := range settings() {
		if s.flag != configFlag {
			known[s.key] = s
		}
	}
	values := map[string]string{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		s, ok := known[key.Value]
		if !ok || key.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: unknown setting %q%s", key.Line, key.Value, suggestKey(key.Value, known))
		}
		if _, repeated := values[s.flag]; repeated {
			return nil, fmt.Errorf("line %d: duplicate setting %s", key.Line, s.key)
		}
		parsed, err := parseNode(s.valueType, value)
		if err != nil {
			return nil, fmt.Errorf("line %d: %s %w", value.Line, s.key, err)
		}
		values[s.flag] = parsed
	}
	return values, nil
}

// parseNode returns a value of the file in the form that kong parses. The error
// continues a sentence that begins with the key.
func parseNode(k valueType, node *yaml.Node) (string, error) {
	tag := node.ShortTag()
	switch {
	case k == typeList && node.Kind == yaml.SequenceNode:
		return parseList(node)
	case node.Kind != yaml.ScalarNode:
		return "", wrongType(k)
	case k == typeText && tag == "!!str", k == typeList && tag == "!!str":
		return node.Value, nil
	case k == typeBoolean && tag == "!!bool", k == typeNumber && tag == "!!int":
		return k.normalize(node.Value)
	case k == typeDuration && tag == "!!int" && node.Value == "0": // the one duration that needs no unit
		return node.Value, nil
	case k == typeDuration && tag == "!!str", k == typeDate && (tag == "!!str" || tag == "!!timestamp"):
		return k.normalize(node.Value)
	}
	return "", wrongType(k)
}

// parseList returns the items of a list, separated by commas.
func parseList(node *yaml.Node) (string, error) {
	var items []string
	for _, item := range node.Content {
		if item.Kind != yaml.ScalarNode || item.ShortTag() != "!!str" {
			return "", wrongType(typeList)
		}
		items = append(items, item.Value)
	}
	return strings.Join(items, ","), nil
}

func wrongType(k valueType) error {
	switch k {
	case typeNumber:
		return errors.New("must be a whole number")
	case typeBoolean:
		return errors.New("must be true or false")
	case typeDuration:
		return errors.New("must be a duration with its unit, such as 90s, 5m or 1d")
	case typeDate:
		return errors.New("must be a date such as 2027-01-31, or a time such as 2027-01-31T09:30:00Z")
	case typeList:
		return errors.New("must be a list of strings, or one string")
	default:
		return errors.New("must be a string, in quotes if YAML would parse it as another type")
	}
}
