package project

import (
	"context"
	"strings"

	"parley/internal/audit"
	"parley/internal/fault"
)

// maxPriceDigits is the maximum number of digits of a unit price on each side of
// its decimal point.
const maxPriceDigits = 12

// OrganizationChanges is a change of an organization by the operator. Fields that
// are nil stay as they are.
type OrganizationChanges struct {
	Name      *string // 1 to 255 characters
	Plan      *string // name of a plan; empty for the plan named default
	Currency  *string // ISO 4217 code
	UnitPrice *string // price of a participant minute, such as "0.004"; empty for none
}

// SetOrganization changes an organization and returns it.
func (s *Service) SetOrganization(ctx context.Context, id string, changes OrganizationChanges) (Organization, error) {
	var projects []string
	o, err := s.updateOrganization(ctx, id, audit.OrganizationChanged,
		func(ctx context.Context, o *Organization) (err error) {
			if err := changes.apply(o); err != nil {
				return err
			}
			projects, err = s.store.ProjectIDs(ctx, id)
			return err
		})
	s.invalidateAfter(err, projects...)
	if err != nil {
		return Organization{}, err
	}
	return o, nil
}

// updateOrganization applies a change to an organization and returns it.
func (s *Service) updateOrganization(ctx context.Context, id string, action audit.Action,
	change func(ctx context.Context, o *Organization) error,
) (o Organization, err error) {
	err = s.store.Write(ctx, func(ctx context.Context) (err error) {
		if err := s.store.LockOrganization(ctx, id); err != nil {
			return err
		}
		if o, err = s.store.Organization(ctx, id); err != nil {
			return err
		}
		before := o
		if err := change(ctx, &o); err != nil {
			return err
		}
		if err := s.store.UpdateOrganization(ctx, o); err != nil {
			return err
		}
		return audit.Record(ctx, s.store, s.now(), audit.Change{Action: action, Subject: id,
			Before: before.auditFields(), After: o.auditFields()})
	})
	return o, err
}

func (c OrganizationChanges) apply(o *Organization) error {
	for _, f := range []struct {
		field, value *string
		check        func(string) error
	}{
		{&o.Name, c.Name, checkName},
		{&o.Plan, c.Plan, checkPlan},
		{&o.Currency, c.Currency, checkCurrency},
		{&o.UnitPrice, c.UnitPrice, checkPrice},
	} {
		if f.value == nil {
			continue
		}
		if err := f.check(*f.value); err != nil {
			return err
		}
		*f.field = *f.value
	}
	if (o.Currency != "" || o.UnitPrice != "") && o.Billing != Payg {
		return fault.Invalidf("currency and unit_price are only for organizations with billing %q", Payg)
	}
	if o.UnitPrice != "" && o.Currency == "" {
		return fault.Invalidf("unit_price needs a currency")
	}
	return nil
}

// ValidPlanName reports whether name is a valid name of a plan: 1 to 64 lower-case
// letters, digits, "-" and "_".
func ValidPlanName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

func checkPlan(name string) error {
	if name != "" && !ValidPlanName(name) {
		return fault.Invalidf("plan must be 1 to 64 lower-case letters, digits, - and _")
	}
	return nil
}

func checkCurrency(code string) error {
	if code != "" && (len(code) != 3 || strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "") {
		return fault.Invalidf("currency must be three capital letters of ISO 4217, such as EUR")
	}
	return nil
}

func checkPrice(price string) error {
	whole, fraction, point := strings.Cut(price, ".")
	if price != "" && (!isDigits(whole) || point && !isDigits(fraction)) {
		return fault.Invalidf("unit_price must be a decimal such as 0.004, "+
			"with at most %d digits on either side of the point", maxPriceDigits)
	}
	return nil
}

func isDigits(s string) bool {
	return s != "" && len(s) <= maxPriceDigits && strings.Trim(s, "0123456789") == ""
}
