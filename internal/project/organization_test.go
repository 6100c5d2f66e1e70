package project

import (
	"strings"
	"testing"

	"parley/internal/fault"
)

func TestOrganizationChanges(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	for _, tc := range []struct {
		name    string
		billing Billing
		changes OrganizationChanges
		want    string // the sentence; empty when the change is right
	}{
		{"nothing", Plan, OrganizationChanges{}, ""},
		{"a plan", Plan, OrganizationChanges{Plan: text("gold_2-b")}, ""},
		{"the default plan again", Plan, OrganizationChanges{Plan: text("")}, ""},
		{"a price", Payg, OrganizationChanges{Currency: text("EUR"), UnitPrice: text("0.004")}, ""},
		{"a whole price", Payg, OrganizationChanges{Currency: text("JPY"), UnitPrice: text("2")}, ""},
		{"no price any more", Payg, OrganizationChanges{Currency: text(""), UnitPrice: text("")}, ""},
		{"capitals in a plan", Plan, OrganizationChanges{Plan: text("Gold")}, "plan must be 1 to 64 lower-case letters, digits, - and _"},
		{"a long plan", Plan, OrganizationChanges{Plan: text(strings.Repeat("x", 65))}, "plan must be 1 to 64 lower-case letters, digits, - and _"},
		{"a currency in words", Payg, OrganizationChanges{Currency: text("euro")}, "currency must be three capital letters of ISO 4217, such as EUR"},
		{"a comma", Payg, OrganizationChanges{Currency: text("EUR"), UnitPrice: text("0,004")}, "unit_price must be a decimal such as 0.004, with at most 12 digits on either side of the point"},
		{"a negative price", Payg, OrganizationChanges{Currency: text("EUR"), UnitPrice: text("-1")}, "unit_price must be a decimal such as 0.004, with at most 12 digits on either side of the point"},
		{"an exponent", Payg, OrganizationChanges{Currency: text("EUR"), UnitPrice: text("1e-3")}, "unit_price must be a decimal such as 0.004, with at most 12 digits on either side of the point"},
		{"a point alone", Payg, OrganizationChanges{Currency: text("EUR"), UnitPrice: text("1.")}, "unit_price must be a decimal such as 0.004, with at most 12 digits on either side of the point"},
		{"a price without a currency", Payg, OrganizationChanges{UnitPrice: text("1")}, "unit_price needs a currency"},
		{"a price for a plan", Plan, OrganizationChanges{Currency: text("EUR"), UnitPrice: text("1")}, `currency and unit_price are only for organizations with billing "payg"`},
	} {
		o := Organization{Billing: tc.billing}
		err := tc.changes.apply(&o)
		if tc.want == "" && err != nil || tc.want != "" && (!fault.Is(err, fault.Invalid) || err.Error() != tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}
