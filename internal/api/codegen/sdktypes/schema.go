package main

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3" // because the members of a description have an order
)

// description is the part of an OpenAPI description that the types come from.
type description struct {
	Paths      operations
	Webhooks   operations
	Components struct{ Schemas map[string]*schema }
}

// operations are the operations of a description in its order.
type operations []operation

type operation struct {
	ID          string `yaml:"operationId"`
	Summary     string
	RequestBody struct{ Content content } `yaml:"requestBody"`
	Responses   map[string]struct {
		Description string
		Headers     map[string]any
		Content     content
	}
}

// content has a body's schema for each media type.
type content map[string]struct{ Schema *schema }

func (c content) json() *schema { return c["application/json"].Schema }

// schema is the part of a JSON schema that the types come from.
type schema struct {
	Ref           string `yaml:"$ref"`
	Type          typeNames
	Format        string
	Description   string
	Enum          []any
	Required      []string
	Properties    properties
	Items         *schema
	Additional    additional `yaml:"additionalProperties"`
	OneOf         []*schema  `yaml:"oneOf"`
	AllOf         []*schema  `yaml:"allOf"`
	Discriminator any
}

// properties are the properties of an object in the order of the description.
type properties []struct {
	name   string
	schema *schema
}

// typeNames are the types that a schema allows. One type may be written without a list.
type typeNames []string

// additional is the schema of the members that an object has beside its properties. It is
// nil if the description says only whether there may be any.
type additional struct{ *schema }

func (o *operations) UnmarshalYAML(node *yaml.Node) error {
	for path := range members(node) {
		for method := range members(path.value) {
			if method.value.Kind != yaml.MappingNode {
				continue
			}
			var decoded operation
			if err := method.value.Decode(&decoded); err != nil {
				return err
			}
			*o = append(*o, decoded)
		}
	}
	return nil
}

func (p *properties) UnmarshalYAML(node *yaml.Node) error {
	for m := range members(node) {
		decoded := new(schema)
		if err := m.value.Decode(decoded); err != nil {
			return err
		}
		*p = append(*p, struct {
			name   string
			schema *schema
		}{m.name, decoded})
	}
	return nil
}

func (t *typeNames) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*t = typeNames{node.Value}
		return nil
	}
	return node.Decode((*[]string)(t))
}

func (a *additional) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return nil
	}
	return node.Decode(&a.schema)
}

type member struct {
	name  string
	value *yaml.Node
}

// members returns the members of a mapping in the order of the file.
func members(node *yaml.Node) func(yield func(member) bool) {
	return func(yield func(member) bool) {
		for i := 0; i+1 < len(node.Content); i += 2 {
			if !yield(member{node.Content[i].Value, node.Content[i+1]}) {
				return
			}
		}
	}
}

// lookUp returns the schema that a reference names, and its name.
func (d *description) lookUp(ref string) (string, *schema, error) {
	name, isSchema := strings.CutPrefix(ref, "#/components/schemas/")
	target := d.Components.Schemas[name]
	if !isSchema || target == nil {
		return "", nil, fmt.Errorf("%s does not exist", ref)
	}
	return name, target, nil
}
