// Command tojson writes an OpenAPI description in YAML as JSON, so that a server
// sends it without reading YAML. The members keep their order.
//
//	go run parley/internal/api/codegen/tojson openapi.yaml openapi.json
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"gopkg.in/yaml.v3" // because people read and edit the description as YAML
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: tojson FROM TO")
		os.Exit(2)
	}
	if err := convert(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "tojson:", err)
		os.Exit(1)
	}
}

func convert(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := writeJSON(&b, document.Content[0]); err != nil {
		return err
	}
	return os.WriteFile(to, b.Bytes(), 0o644)
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
