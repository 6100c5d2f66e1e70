package project_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"parley/internal/audit"
	"parley/internal/event"
	"parley/internal/project"
	"parley/internal/store/storetest"
)

// settingExamples are valid values of settings that not every value is valid for.
var settingExamples = map[string]any{
	"DefaultLogoutURL":  "https://example.org/bye",
	"DefaultWebhookURL": "https://example.org/hook",
	"WebhookEvents":     []event.Type{event.RoomEnded},
	"EmbedOrigins":      []string{"https://example.org"},
	"BrandName":         "Acme",
	"BrandColor":        "#1f5f8b",
}

// TestAudit_RecordsEverySetting changes one setting after another. Each change leaves
// an entry with exactly one value, so a setting that auditFields lacks fails the test.
func TestAudit_RecordsEverySetting(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	d := newFixture(db)
	p := d.createProject(t)
	ctx := audit.WithOrigin(context.Background(), audit.Origin{Kind: audit.KindService})
	n := 0
	var change func(path []int, v reflect.Value)
	change = func(path []int, v reflect.Value) {
		for i := range v.NumField() {
			field, path := v.Type().Field(i), append(path[:len(path):len(path)], i)
			if field.Type.Kind() == reflect.Struct {
				change(path, v.Field(i))
				continue
			}
			n++
			_, err := d.Edit(ctx, p.ID, project.Edit{Settings: func(s *project.Settings) error {
				f := reflect.ValueOf(s).Elem().FieldByIndex(path)
				switch example, ok := settingExamples[field.Name]; {
				case ok:
					f.Set(reflect.ValueOf(example))
				case f.Kind() == reflect.Bool:
					f.SetBool(true)
				case f.Kind() == reflect.Int:
					f.SetInt(7)
				default:
					seven := 7
					f.Set(reflect.ValueOf(&seven))
				}
				return nil
			}})
			entries, listErr := db.AuditEntriesAfter(ctx, int64(n-1), 2)
			if err != nil || listErr != nil || len(entries) != 1 || entries[0].Action != audit.ProjectChanged ||
				strings.Count(entries[0].Before, `":`) != 1 || strings.Count(entries[0].After, `":`) != 1 {
				t.Fatalf("%s: got the entries %+v, %v, %v, want one with one value", field.Name, entries, err, listErr)
			}
		}
	}
	change(nil, reflect.ValueOf(project.Settings{}))
	if n < 20 {
		t.Errorf("got %d settings, want at least 20", n)
	}
}

// The client of a project sets its status. The event of the project records that, and
// not the audit log.
func TestAudit_IgnoresClients(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	d := newFixture(db)
	p := d.createProject(t)
	if err := d.SetStatus(context.Background(), p.ID, project.Inactive); err != nil {
		t.Fatal(err)
	}
	if entries, err := db.AuditEntriesAfter(context.Background(), 0, 1); err != nil || len(entries) != 0 {
		t.Errorf("got the entries %s, %v, want none", fmt.Sprint(entries), err)
	}
}
