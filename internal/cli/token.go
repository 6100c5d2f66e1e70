package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"parley/internal/api/manage"
	"parley/internal/config"
	"parley/internal/instance"
	"parley/internal/operator"
	"parley/internal/quickstart"
)

type tokenCommands struct {
	Create tokenCreate `cmd:"" help:"Create a management token."`
	List   tokenList   `cmd:"" help:"List management tokens."`
	Revoke tokenRevoke `cmd:"" help:"Revoke a management token."`
}

type tokenCreate struct {
	config.Storage
	endpoint
	Name    string           `required:"" help:"Name that tells what the token is for, 1 to 255 characters."`
	Role    string           `enum:"owner,operator,auditor,integrator" default:"owner" help:"Role of the token: owner, operator, auditor or integrator. Default: owner."`
	Project []string         `placeholder:"ID" help:"ID or unique name of a project of an integrator; repeat it for several."`
	Expires *config.Duration `placeholder:"DURATION" help:"Time after which the token expires, such as 30d. Default: never."`
	Local   bool             `help:"Create the token in the database itself, with the master key, without a server or another token."`
}

func (c tokenCreate) whyIneffective(flag *kong.Flag) string {
	switch flag.Name {
	case "url", "token":
		if c.Local {
			return "with --local, which creates the token in the database itself: leave out one of them"
		}
	case "database-url", "master-key-file":
		if !c.Local {
			return "without --local, because the server creates the token: add --local, or leave it out"
		}
	}
	return ""
}

// Run creates the token and prints it.
func (c tokenCreate) Run(ctx context.Context, s *streams) error {
	t, err := c.create(ctx)
	if err != nil || c.JSON {
		return s.printResult(t, err)
	}
	fmt.Fprintf(s.out, "Created management token %s %s with the role %s.\n", t.TokenId, quoteName(t.Name), t.Role)
	if t.ExpiresAt != nil {
		fmt.Fprintf(s.out, "It expires at %s.\n", formatTime(t.ExpiresAt))
	}
	fmt.Fprintln(s.out)
	if err := printFields(s.out, "  token", t.Token); err != nil {
		return err
	}
	_, err = fmt.Fprint(s.out, "\nIt is not shown again: save it now.\n")
	return err
}

func (c tokenCreate) create(ctx context.Context) (manage.NewTokenWithSecret, error) {
	if err := checkRoleProjects(c.Role, c.Project); err != nil {
		return manage.NewTokenWithSecret{}, err
	}
	var expiresAt time.Time
	if c.Expires != nil {
		if *c.Expires <= 0 {
			return manage.NewTokenWithSecret{}, usageError{errors.New("--expires must be more than 0")}
		}
		expiresAt = time.Now().Add(c.Expires.Std())
	}
	if !c.Local {
		m := manager{DataDir: c.DataDir, endpoint: c.endpoint}
		q := manage.NewToken{Name: c.Name, Role: new(manage.TokenRole(c.Role))}
		var ids []string
		for _, project := range c.Project {
			id, err := resolveName(ctx, m, "project", project, "")
			if err != nil {
				return manage.NewTokenWithSecret{}, err
			}
			ids = append(ids, id)
		}
		if len(ids) > 0 {
			q.ProjectIds = &ids
		}
		if !expiresAt.IsZero() {
			q.ExpiresAt = new(expiresAt.UTC().Format(time.RFC3339))
		}
		return callManagement[manage.NewTokenWithSecret](ctx, m, "POST", "/tokens", q)
	}
	if err := instance.MakeFilesPrivate(c.DataDir, nil); err != nil {
		return manage.NewTokenWithSecret{}, err
	}
	t, secret, err := instance.CreateLocalToken(ctx, c.Storage, operator.NewToken{
		Name: c.Name, Role: operator.Role(c.Role), ProjectIDs: c.Project, ExpiresAt: expiresAt})
	if err != nil {
		return manage.NewTokenWithSecret{}, err
	}
	out := manage.NewTokenWithSecret{
		TokenId:    t.ID,
		Name:       t.Name,
		Role:       manage.TokenRole(t.Role),
		ProjectIds: append([]string{}, t.ProjectIDs...),
		CreatedAt:  manage.NewTime(t.CreatedAt),
		Token:      secret.Reveal(),
	}
	if !expiresAt.IsZero() {
		out.ExpiresAt = new(manage.NewTime(expiresAt))
	}
	return out, nil
}

// checkRoleProjects returns an error if a role needs projects and has none, or the other way round.
func checkRoleProjects(role string, projects []string) error {
	switch integrator := role == string(operator.Integrator); {
	case integrator && len(projects) == 0:
		return usageError{errors.New("--project is required with --role integrator")}
	case !integrator && len(projects) > 0:
		return usageError{errors.New("--project is only for --role integrator")}
	}
	return nil
}

type tokenList struct{ lister }

// Run lists the tokens.
func (c tokenList) Run(ctx context.Context, s *streams) error {
	list, err := callManagement[manage.TokenList](ctx, c.manager, "GET", "/tokens", nil)
	if err != nil || c.structured() {
		return printItems(s, c.lister, list.Tokens, err)
	}
	var rows [][]string
	for _, t := range list.Tokens {
		note := ""
		if t.InUse {
			note = "used for this command"
		}
		rows = append(rows, []string{t.TokenId, t.Name, string(t.Role), formatTime(&t.CreatedAt), formatTime(t.LastUsedAt),
			formatTime(t.ExpiresAt), formatTime(t.RevokedAt), note})
	}
	return printTable(s.out, []string{"TOKEN", "NAME", "ROLE", "CREATED", "LAST USED", "EXPIRES", "REVOKED", "NOTE"}, rows)
}

type tokenRevoke struct {
	manager
	irreversible
	ID string `arg:"" refers:"token" help:"ID or unique name of the token."`
}

// Run revokes the token.
func (c tokenRevoke) Run(ctx context.Context, s *streams) error {
	if ok, err := c.proceed(s, c.JSON, func() (string, error) {
		list, err := callManagement[manage.TokenList](ctx, c.manager, "GET", "/tokens", nil)
		if isRefusal(err, manage.ErrorCodeRoleNotAllowed) {
			return "revoke management token " + c.ID, nil // a token may revoke itself
		}
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(list.Tokens, func(t manage.Token) bool { return t.TokenId == c.ID })
		if i < 0 {
			return "", errors.New("there is no such token: parley token list shows all tokens")
		}
		effect := fmt.Sprintf("revoke management token %s %s", c.ID, quoteName(list.Tokens[i].Name))
		if list.Tokens[i].InUse {
			effect += ", which this command uses"
		}
		return effect, nil
	}); !ok {
		return err
	}
	t, err := callManagement[manage.Token](ctx, c.manager, "POST", apiPath("/tokens/%s/revoke", c.ID), nil)
	if err != nil || c.JSON {
		return s.printResult(t, err)
	}
	fmt.Fprintf(s.out, "Management token %s %s was revoked at %s.\n",
		t.TokenId, quoteName(t.Name), formatTime(t.RevokedAt))
	if t.InUse {
		fmt.Fprintf(s.out, "This command used it, so the next command needs another token.\n"+
			"If it was the last owner's token, the next start of the server creates a new one in %s.\n", quickstart.FileName)
	}
	return nil
}
