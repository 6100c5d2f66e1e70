package v5

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"

	"gopkg.in/yaml.v3" // because people read and edit the description as YAML
)

// description is the OpenAPI description of this version in YAML.
//
//go:embed openapi.yaml
var description []byte

// descriptionJSON returns the description in JSON. The members keep the order of
// the YAML.
func descriptionJSON() ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(description, &document); err != nil {
		return nil, fmt.Errorf("parse the description of version 5: %w", err)
	}
	var b bytes.Buffer
	err := writeJSON(&b, document.Content[0])
	return b.Bytes(), err
}

func writeJSON(b *bytes.Buffer, node *yaml.Node) error {
	opening, closing, step := byte('['), byte(']'), 1
	switch node.Kind {
	case yaml.ScalarNode:
		return writeScalar(b, node)
	case yaml.MappingNode:
		opening, closing, step = '{', '}', 2
	}
	b.WriteByte(opening)
	for i := 0; i < len(node.Content); i += step {
		if i > 0 {
			b.WriteByte(',')
		}
		if step == 2 {
			name, err := json.Marshal(node.Content[i].Value)
			if err != nil {
				return err
			}
			b.Write(append(name, ':'))
		}
		if err := writeJSON(b, node.Content[i+step-1]); err != nil {
			return err
		}
	}
	b.WriteByte(closing)
	return nil
}

func writeScalar(b *bytes.Buffer, node *yaml.Node) error {
	var v any
	if err := node.Decode(&v); err != nil {
		return err
	}
	text, err := json.Marshal(v)
	b.Write(text)
	return err
}
