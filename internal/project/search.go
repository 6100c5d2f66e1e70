package project

import (
	"context"
	"slices"
	"strings"

	"parley/internal/validate"
)

// This file contains the search for organizations and projects by a part of their name. No
// index finds a part of a name, so a search reads names and compares them.

const (
	// scannedNames is the number of names that one query of a search reads.
	scannedNames = 1000
	// maxScannedNames is the largest number of names that a search reads for one page.
	maxScannedNames = 20_000
)

// Name is the name of an organization or of a project.
type Name struct{ ID, Name string }

// SearchOrganizations returns the organizations whose name contains a text, in upper or lower
// case, the oldest first. If the text is an ID, it returns only that organization. The list begins
// after the ID after and contains at most limit organizations, or all if limit is 0. If the search
// stopped at maxScannedNames, it goes on after the ID next, which is empty otherwise, also after a
// full page. Errors: Invalid.
func (s *Service) SearchOrganizations(ctx context.Context, text, after string, limit int) (
	found []Organization, next string, err error,
) {
	if err := CheckSearch(text); err != nil {
		return nil, "", err
	}
	if found, err = s.store.OrganizationsByID(ctx, []string{strings.ToLower(text)}); err != nil || len(found) > 0 {
		return slices.DeleteFunc(found, func(o Organization) bool { return o.ID <= after }), "", err
	}
	ids, next, err := search(ctx, text, after, limit, s.store.OrganizationNames)
	if err != nil {
		return nil, "", err
	}
	found, err = s.store.OrganizationsByID(ctx, ids)
	return found, next, err
}

// SearchProjects searches the projects that a query selects, as SearchOrganizations does. Errors:
// Invalid, and NotFound if there is no such organization.
func (s *Service) SearchProjects(ctx context.Context, text string, q ListQuery) (
	found []Project, next string, err error,
) {
	if err := CheckSearch(text); err != nil {
		return nil, "", err
	}
	if err := s.checkListed(ctx, q); err != nil {
		return nil, "", err
	}
	if found, err = s.store.ProjectsByID(ctx, []string{strings.ToLower(text)}); err != nil || len(found) > 0 {
		return slices.DeleteFunc(found, func(p Project) bool {
			return p.ID <= q.After || q.OrganizationID != "" && p.OrganizationID != q.OrganizationID
		}), "", err
	}
	names := func(ctx context.Context, after string, limit int) ([]Name, error) {
		return s.store.ProjectNames(ctx, ListQuery{OrganizationID: q.OrganizationID, After: after, Limit: limit})
	}
	ids, next, err := search(ctx, text, q.After, q.Limit, names)
	if err != nil {
		return nil, "", err
	}
	found, err = s.store.ProjectsByID(ctx, ids)
	return found, next, err
}

// ProjectsByID returns the projects with some IDs, the oldest first. It leaves out IDs of no
// project.
func (s *Service) ProjectsByID(ctx context.Context, ids []string) ([]Project, error) {
	return s.store.ProjectsByID(ctx, ids)
}

// Matches reports whether a search with a text finds the name.
func (n Name) Matches(text string) bool {
	return strings.Contains(strings.ToLower(n.Name), strings.ToLower(text)) || strings.EqualFold(n.ID, text)
}

// CheckSearch returns Invalid for a text that no search takes.
func CheckSearch(text string) error {
	return validate.Text("search", text, 1, validate.MaxText, false)
}

// search returns the IDs of the names that contain a text. If it has read maxScannedNames names
// and found fewer than limit, next is the ID of the last one.
func search(
	ctx context.Context, text, after string, limit int,
	names func(ctx context.Context, after string, limit int) ([]Name, error),
) (ids []string, next string, err error) {
	for scanned := 0; ; scanned += scannedNames {
		if limit > 0 && scanned >= maxScannedNames {
			return ids, after, nil
		}
		batch, err := names(ctx, after, scannedNames)
		if err != nil {
			return nil, "", err
		}
		for _, n := range batch {
			if !n.Matches(text) {
				continue
			}
			if ids = append(ids, n.ID); len(ids) == limit {
				return ids, "", nil
			}
		}
		if len(batch) < scannedNames {
			return ids, "", nil
		}
		after = batch[len(batch)-1].ID
	}
}
