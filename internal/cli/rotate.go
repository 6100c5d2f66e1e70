package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"parley/internal/api/manage"
	"parley/internal/config"
	"parley/internal/key"
)

// rotationFlags are the flags of a rotation.
type rotationFlags struct {
	irreversible
	Overlap config.Duration `default:"24h" help:"Time for which the old credential keeps working, 0 to 7d; 0 ends it at once."`
	Force   bool            `help:"Rotation also during an overlap, which revokes the overlap credential."`
}

func (r rotationFlags) toRequest() (manage.Rotation, error) {
	overlap := r.Overlap.Std()
	if overlap < 0 || overlap > key.MaxOverlap {
		return manage.Rotation{}, usageError{fmt.Errorf("--overlap must be between 0 and 7d, not %s", r.Overlap)}
	}
	if overlap%time.Second != 0 {
		return manage.Rotation{}, usageError{fmt.Errorf("--overlap must be whole seconds, not %s", overlap)}
	}
	seconds := int(overlap / time.Second)
	return manage.Rotation{Overlap: &seconds, Force: &r.Force}, nil
}

// proceed asks before a rotation that ends a credential at once. overlapEnd returns when the overlap of the last
// rotation ends; nil if there is none.
func (r rotationFlags) proceed(
	s *streams, asJSON bool, projectID, name string, overlapEnd func() (*manage.Time, error),
) (bool, error) {
	return r.proceedIf(r.Overlap == 0 || r.Force, s, asJSON, func() (string, error) {
		end, err := overlapEnd()
		if err != nil {
			return "", err
		}
		if end != nil && !r.Force {
			return "", fmt.Errorf("the overlap of the last rotation ends at %s: wait until then, revoke it, or add --force",
				formatTime(end))
		}
		effect := fmt.Sprintf("create a new %s for project %s", name, projectID)
		if r.Overlap == 0 {
			effect += ", so that the current credential stops working at once"
		} else {
			effect += fmt.Sprintf(", and let the current credential work for %s more", r.Overlap)
		}
		if end != nil {
			effect += "; a credential that is in its overlap stops working at once"
		}
		return effect, nil
	})
}

// oldCredentialNote returns a sentence about how long the old credential works.
func (r rotationFlags) oldCredentialNote(name string, ends time.Time) string {
	if r.Overlap == 0 {
		return "The old " + name + " no longer works.\n"
	}
	return "The old " + name + " works until " + formatDeadline(ends) + ".\n"
}

type projectRotateSecret struct {
	manager
	rotationFlags
	ID string `arg:"" refers:"project" help:"ID or unique name of the project."`
}

// Run rotates the project secret.
func (c projectRotateSecret) Run(ctx context.Context, s *streams) error {
	q, err := c.toRequest()
	if err != nil {
		return err
	}
	if ok, err := c.proceed(s, c.JSON, c.ID, "project secret", func() (*manage.Time, error) {
		return secretOverlapEnd(ctx, c.manager, c.ID)
	}); !ok {
		return err
	}
	made, err := callManagement[manage.RotatedSecret](ctx, c.manager, "POST",
		apiPath("/projects/%s/rotate-secret", c.ID), q)
	if err != nil || c.JSON {
		return s.printResult(made, err)
	}
	fmt.Fprintf(s.out, "Created a new project secret for project %s.\n\n", made.ProjectId)
	if err := printFields(s.out, "  project secret", made.ProjectSecret); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "\nIt is not shown again: save it now.\n%s",
		c.oldCredentialNote("project secret", made.OverlapEndsAt.Time))
	return err
}

// secretOverlapEnd returns when the previous secret of a project stops working; nil if only the current one works.
func secretOverlapEnd(ctx context.Context, m manager, projectID string) (*manage.Time, error) {
	p, err := callManagement[manage.Project](ctx, m, "GET", apiPath("/projects/%s", projectID), nil)
	return p.SecretOverlapEndsAt, err
}

type projectRevoke struct {
	manager
	irreversible
	ID string `arg:"" refers:"project" help:"ID or unique name of the project."`
}

// Run ends the overlap of project secrets.
func (c projectRevoke) Run(ctx context.Context, s *streams) error {
	if ok, err := c.proceed(s, c.JSON, func() (string, error) {
		end, err := secretOverlapEnd(ctx, c.manager, c.ID)
		if err == nil && end == nil {
			err = errors.New("there is no overlap of project secrets: only the current one works")
		}
		return fmt.Sprintf("end the overlap of project secrets of project %s, so that the previous secret stops working",
			c.ID), err
	}); !ok {
		return err
	}
	p, err := callManagement[manage.Project](ctx, c.manager, "POST",
		apiPath("/projects/%s/revoke-secret-overlap", c.ID), nil)
	if err != nil || c.JSON {
		return s.printResult(p, err)
	}
	_, err = fmt.Fprintf(s.out, "The previous project secret of project %s %s no longer works; the current one does.\n",
		p.ProjectId, quoteName(p.Name))
	return err
}

type keyCommands struct {
	List          keyList   `cmd:"" help:"List the live API keys of a project."`
	Rotate        keyRotate `cmd:"" help:"Rotate an API key and its Gateway secret."`
	RevokeOverlap keyRevoke `cmd:"" help:"End the overlap of API keys now."`
}

type keyList struct {
	lister
	ID string `arg:"" name:"project_id" refers:"project" help:"ID or unique name of the project."`
}

// Run lists the live API keys.
func (c keyList) Run(ctx context.Context, s *streams) error {
	list, err := fetchKeys(ctx, c.manager, c.ID)
	if err != nil || c.structured() {
		return printItems(s, c.lister, list.Keys, err)
	}
	if err := showKeys(s, list.Keys); err != nil {
		return err
	}
	return showSecretCallers(s, list)
}

// fetchKeys reads the live API keys of a project, and the recent callers with its secrets.
func fetchKeys(ctx context.Context, m manager, projectID string) (list manage.KeyList, err error) {
	keys, err := fetchPages(ctx, m, apiPath("/projects/%s/keys", projectID), url.Values{}, 0,
		func(p manage.KeyList) ([]manage.Key, *string) {
			list = p // each page has the callers with the secrets
			return p.Keys, p.NextCursor
		})
	list.Keys, list.NextCursor = keys, nil
	return list, err
}

// keyOverlapEnd returns when the previous API key of a project stops working; nil if only the current one works.
func keyOverlapEnd(ctx context.Context, m manager, projectID string) (*manage.Time, error) {
	list, err := fetchKeys(ctx, m, projectID)
	for _, k := range list.Keys {
		if k.OverlapEndsAt != nil {
			return k.OverlapEndsAt, err
		}
	}
	return nil, err
}

func showKeys(s *streams, keys []manage.Key) error {
	var rows [][]string
	for _, k := range keys {
		rows = append(rows, []string{k.ApiKey, string(k.Status), formatTime(&k.CreatedAt), formatTime(k.OverlapEndsAt),
			formatTime(k.LastUsedAt), formatCaller(k.LastUsedBy)})
	}
	err := printTable(s.out, []string{"API KEY", "STATUS", "CREATED", "WORKS UNTIL", "LAST USED", "BY"}, rows)
	if err != nil {
		return err
	}
	return showCallers(s, keys)
}

// showCallers prints the recent callers with each key, if there are any.
func showCallers(s *streams, keys []manage.Key) error {
	var rows [][]string
	for _, k := range keys {
		if k.RecentCallers == nil {
			continue
		}
		for _, by := range *k.RecentCallers {
			rows = append(rows, []string{k.ApiKey, string(k.Status), by.Address, by.UserAgent, formatTime(&by.At)})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintln(s.out)
	return printTable(s.out, []string{"API KEY", "STATUS", "USED BY", "USER AGENT", "LAST"}, rows)
}

// showSecretCallers prints the recent callers with the current and the old project secret, if there are any.
func showSecretCallers(s *streams, list manage.KeyList) error {
	var rows [][]string
	for _, secret := range []struct {
		name    string
		callers *[]manage.KeyCaller
	}{{"current", list.SecretCallers}, {"old", list.OldSecretCallers}} {
		if secret.callers == nil {
			continue
		}
		for _, by := range *secret.callers {
			rows = append(rows, []string{secret.name, by.Address, by.UserAgent, formatTime(&by.At)})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintln(s.out)
	return printTable(s.out, []string{"PROJECT SECRET", "USED BY", "USER AGENT", "LAST"}, rows)
}

// formatCaller returns the address and the user agent of a caller.
func formatCaller(by *manage.KeyCaller) string {
	if by == nil {
		return ""
	}
	return strings.TrimSpace(by.Address + " " + by.UserAgent)
}

type keyRotate struct {
	manager
	rotationFlags
	ID string `arg:"" name:"project_id" refers:"project" help:"ID or unique name of the project."`
}

// Run rotates the API key.
func (c keyRotate) Run(ctx context.Context, s *streams) error {
	q, err := c.toRequest()
	if err != nil {
		return err
	}
	if ok, err := c.proceed(s, c.JSON, c.ID, "API key and Gateway secret", func() (*manage.Time, error) {
		return keyOverlapEnd(ctx, c.manager, c.ID)
	}); !ok {
		return err
	}
	made, err := callManagement[manage.RotatedKey](ctx, c.manager, "POST", apiPath("/projects/%s/keys/rotate", c.ID), q)
	if err != nil || c.JSON {
		return s.printResult(made, err)
	}
	fmt.Fprintf(s.out, "Created a new API key and Gateway secret for project %s.\n\n", made.ProjectId)
	if err := printFields(s.out, "  API key", made.ApiKey, "  Gateway secret", made.GatewaySecret); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "\nThey are not shown again: save them now.\n%s",
		c.oldCredentialNote("pair", made.OverlapEndsAt.Time))
	return err
}

type keyRevoke struct {
	manager
	irreversible
	ID string `arg:"" name:"project_id" refers:"project" help:"ID or unique name of the project."`
}

// Run ends the overlap of API keys.
func (c keyRevoke) Run(ctx context.Context, s *streams) error {
	if ok, err := c.proceed(s, c.JSON, func() (string, error) {
		end, err := keyOverlapEnd(ctx, c.manager, c.ID)
		if err == nil && end == nil {
			err = errors.New("there is no overlap of API keys: only the current one works")
		}
		return fmt.Sprintf("end the overlap of API keys of project %s, so that the previous key stops working", c.ID), err
	}); !ok {
		return err
	}
	list, err := callManagement[manage.KeyList](ctx, c.manager, "POST",
		apiPath("/projects/%s/keys/revoke-overlap", c.ID), nil)
	if err != nil || c.JSON {
		return s.printResult(list.Keys, err)
	}
	fmt.Fprintf(s.out, "The previous API key of project %s no longer works. Live keys:\n\n", c.ID)
	return showKeys(s, list.Keys)
}
