package client

import (
	"fmt"
	"net/url"
	"reflect"
	"unicode/utf8"
)

// checkRoomID returns ErrInvalidArgument for a text that is the ID of no room. Without an ID, a
// request could mean something else.
func checkRoomID(roomID string) error {
	if roomID == "" {
		return fmt.Errorf("%w: RoomID must not be empty", ErrInvalidArgument)
	}
	return checkUTF8("RoomID", roomID)
}

// roomPathSegment returns the ID of a room as one segment of a path. The errors are those of checkRoomID, and
// ErrInvalidArgument for the two segments that servers and proxies resolve.
func roomPathSegment(roomID string) (string, error) {
	if roomID == "." || roomID == ".." {
		return "", fmt.Errorf("%w: RoomID must not be %s", ErrInvalidArgument, roomID)
	}
	return url.PathEscape(roomID), checkRoomID(roomID)
}

// checkTexts returns ErrInvalidArgument for a text in a value that is not UTF-8. encoding/json would
// replace its bytes without an error, so that the server would store another text. The error names the
// field as the caller wrote it, after the name of the value.
func checkTexts(name string, value reflect.Value) error {
	switch value.Kind() {
	case reflect.String:
		return checkUTF8(name, value.String())
	case reflect.Pointer:
		if !value.IsNil() {
			return checkTexts(name, value.Elem())
		}
	case reflect.Slice:
		for i := range value.Len() {
			if err := checkTexts(fmt.Sprintf("%s[%d]", name, i), value.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for field, member := range value.Fields() {
			if !field.IsExported() {
				continue
			}
			if err := checkTexts(memberName(name, field), member); err != nil {
				return err
			}
		}
	}
	return nil
}

// memberName returns the name of a field in a struct with a name. An embedded struct has no name of its own.
func memberName(name string, field reflect.StructField) string {
	switch {
	case field.Anonymous:
		return name
	case name == "":
		return field.Name
	}
	return name + "." + field.Name
}

func checkUTF8(name, text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("%w: %s must be UTF-8", ErrInvalidArgument, name)
	}
	return nil
}
