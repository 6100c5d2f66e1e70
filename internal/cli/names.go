package cli

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"parley/internal/api/manage"
	"parley/internal/validate"
)

// named is an object that a command accepts by its ID or its unique name.
type named struct{ id, name string }

// listNamed has a function for each kind of object that a field tag such as refers:"project"
// names. The function lists the objects of this kind, at least those with the given name, in a project or, without an
// ID, in all.
var listNamed = map[string]func(ctx context.Context, m manager, name, projectID string) ([]named, error){
	"organization": func(ctx context.Context, m manager, name, _ string) (all []named, err error) {
		organizations, err := fetchOrganizations(ctx, m, name)
		for _, o := range organizations {
			all = append(all, named{o.OrganizationId, o.Name})
		}
		return all, err
	},
	"project": func(ctx context.Context, m manager, name, _ string) (all []named, err error) {
		projects, err := fetchProjects(ctx, m, "", name)
		for _, p := range projects {
			all = append(all, named{p.ProjectId, p.Name})
		}
		return all, err
	},
	"room": func(ctx context.Context, m manager, name, projectID string) ([]named, error) {
		// A client_room_id may be a UUID, too. An ID has a room of this ID before all others.
		if id, ok := validate.ParseUUID(name); ok {
			_, err := callManagement[manage.Room](ctx, m, "GET", apiPath("/rooms/%s", id), nil)
			if !isRefusal(err, manage.ErrorCodeRoomNotFound) {
				return []named{{id, name}}, err
			}
		}
		rooms, err := fetchRoomsNamed(ctx, m, name, projectID)
		var all []named
		for _, r := range rooms {
			all = append(all, named{r.RoomId, r.ClientRoomId})
		}
		return all, err
	},
	"token": func(ctx context.Context, m manager, _, _ string) (all []named, err error) {
		list, err := callManagement[manage.TokenList](ctx, m, "GET", "/tokens", nil)
		for _, t := range list.Tokens {
			if t.RevokedAt == nil {
				all = append(all, named{t.TokenId, t.Name})
			}
		}
		return all, err
	},
	"user": func(ctx context.Context, m manager, _, _ string) (all []named, err error) { // by the email address
		users, err := fetchUsers(ctx, m)
		for _, u := range users {
			all = append(all, named{u.UserId, u.Email})
		}
		return all, err
	},
}

// refuseEmptyValues returns an error if a value that chooses what a command changes or shows was given and is empty, as
// with an unset variable of a script. The command would be about all projects, for example, instead of one.
func refuseEmptyValues(parsed *kong.Context) error {
	if _, manages := parsed.Selected().Target.Interface().(interface{ server() manager }); !manages {
		return nil
	}
	for _, p := range parsed.Path {
		var value *kong.Value
		switch {
		case p.Positional != nil:
			value = p.Positional
		case p.Flag != nil && choosesObjects(p.Flag):
			value = p.Flag.Value
		default:
			continue
		}
		if isEmptyText(value.Target) {
			// Without the brackets and the dots of an optional or a repeated argument.
			return usageError{fmt.Errorf("%s must not be empty", strings.Trim(value.ShortSummary(), "[]. "))}
		}
	}
	return nil
}

// choosesObjects reports whether a flag names an object, a time or another value that objects must have. Without a
// value, --url and --token have the one of quickstart.json, and a search for a text finds everything. Some flags with a
// list of values have "" in it.
func choosesObjects(f *kong.Flag) bool {
	return f.PlaceHolder != "" && f.PlaceHolder != "TEXT" && f.Name != "url" && f.Name != "token" &&
		!strings.HasPrefix(f.Enum, ",")
}

// isEmptyText reports whether a value is an empty text, an empty list, or a list that contains an empty text.
func isEmptyText(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return v.Len() == 0
	case reflect.Slice:
		if v.Len() == 0 {
			return true
		}
		for i := range v.Len() {
			if isEmptyText(v.Index(i)) {
				return true
			}
		}
	}
	return false
}

// resolveNames replaces names by IDs in the fields of a command that have the tag refers. These
// fields are texts or lists of texts. It keeps an unknown name, so that the error of the server
// says that there is no such object.
func resolveNames(ctx context.Context, command reflect.Value) error {
	if c, ok := command.Interface().(interface{ server() manager }); ok {
		return resolveFields(ctx, c.server(), command)
	}
	return nil
}

// server returns the manager itself, from a command that embeds it.
func (m manager) server() manager { return m }

func resolveFields(ctx context.Context, m manager, fields reflect.Value) error {
	for field, value := range fields.Fields() {
		if field.Anonymous {
			if err := resolveFields(ctx, m, value); err != nil {
				return err
			}
		}
		kind := field.Tag.Get("refers")
		if kind == "" {
			continue
		}
		texts := []reflect.Value{value}
		if value.Kind() == reflect.Slice {
			texts = nil
			for i := range value.Len() {
				texts = append(texts, value.Index(i))
			}
		}
		for _, text := range texts {
			projectID := ""
			if project := fields.FieldByName("Project"); kind == "room" && project.IsValid() {
				projectID = project.String() // resolved before, because it comes first
			}
			id, err := resolveName(ctx, m, kind, text.String(), projectID)
			if err != nil {
				return err
			}
			text.SetString(id)
		}
	}
	return nil
}

// resolveName returns the ID of the object with a name. If several objects have the name, it
// returns an error that lists their IDs.
func resolveName(ctx context.Context, m manager, kind, text, projectID string) (string, error) {
	id, isID := validate.ParseUUID(text)
	if isID && kind != "room" {
		return id, nil
	}
	if text == "" || secretPath.MatchString("/"+text) {
		return text, nil
	}
	all, err := listNamed[kind](ctx, m, text, projectID)
	if err != nil {
		return "", err
	}
	wanted := text
	if kind == "user" {
		wanted = strings.ToLower(text) // as the server stores email addresses
	}
	var ids []string
	for _, n := range all {
		if n.name == wanted {
			ids = append(ids, n.id)
		}
	}
	switch len(ids) {
	case 0:
		return id, nil
	case 1:
		return ids[0], nil
	}
	attribute := "name"
	if kind == "room" {
		attribute = "client_room_id"
	}
	return "", fmt.Errorf("%d %ss have the %s %s: give one of the IDs %s", len(ids), kind, attribute, quoteName(text),
		strings.Join(ids, ", "))
}
