package v5

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"

	"gopkg.in/yaml.v3" // the description is written in YAML, to be read by people
)

//go:embed openapi.yaml
var description []byte

// Description returns the description of this version as it is written, in
// YAML.
func Description() []byte { return bytes.Clone(description) }

// descriptionJSON returns it in JSON, its members in the order they are
// written.
func descriptionJSON() ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(description, &document); err != nil {
		return nil, fmt.Errorf("the description of version 5: %w", err)
	}
	var b bytes.Buffer
	err := writeJSON(&b, document.Content[0])
	return b.Bytes(), err
}

func writeJSON(b *bytes.Buffer, n *yaml.Node) error {
	open, close, step := byte('['), byte(']'), 1
	switch n.Kind {
	case yaml.ScalarNode:
		return writeScalar(b, n)
	case yaml.MappingNode:
		open, close, step = '{', '}', 2
	}
	b.WriteByte(open)
	for i := 0; i < len(n.Content); i += step {
		if i > 0 {
			b.WriteByte(',')
		}
		if step == 2 {
			name, err := json.Marshal(n.Content[i].Value)
			if err != nil {
				return err
			}
			b.Write(append(name, ':'))
		}
		if err := writeJSON(b, n.Content[i+step-1]); err != nil {
			return err
		}
	}
	b.WriteByte(close)
	return nil
}

func writeScalar(b *bytes.Buffer, n *yaml.Node) error {
	var v any
	if err := n.Decode(&v); err != nil {
		return err
	}
	text, err := json.Marshal(v)
	b.Write(text)
	return err
}
