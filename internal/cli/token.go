package cli

import (
	"context"
	"fmt"

	"parley/internal/api/manage"
	"parley/internal/app"
	"parley/internal/config"
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
	Name  string `required:"" help:"Name that tells what the token is for, 1 to 255 characters."`
	Local bool   `help:"Create the token in the database itself, with the master key, without a server or another token."`
}

// Run creates the token and prints it.
func (c tokenCreate) Run(ctx context.Context, s *streams) error {
	t, err := c.create(ctx)
	if err != nil || c.JSON {
		return s.printResult(t, err)
	}
	fmt.Fprintf(s.out, "Created management token %s %s.\n\n", t.TokenId, quoteName(t.Name))
	if err := printFields(s.out, "  token", t.Token); err != nil {
		return err
	}
	_, err = fmt.Fprint(s.out, "\nIt is not shown again: save it now.\n")
	return err
}

func (c tokenCreate) create(ctx context.Context) (manage.NewTokenWithSecret, error) {
	if !c.Local {
		m := manager{DataDir: c.DataDir, endpoint: c.endpoint}
		return callManagement[manage.NewTokenWithSecret](ctx, m, "POST", "/tokens", manage.NewToken{Name: c.Name})
	}
	if err := app.MakeFilesPrivate(c.DataDir, nil); err != nil {
		return manage.NewTokenWithSecret{}, err
	}
	t, secret, err := app.CreateLocalToken(ctx, c.Storage, c.Name)
	if err != nil {
		return manage.NewTokenWithSecret{}, err
	}
	return manage.NewTokenWithSecret{TokenId: t.ID, Name: t.Name, CreatedAt: t.CreatedAt, Token: secret.Reveal()}, nil
}

type tokenList struct{ manager }

// Run lists the tokens.
func (c tokenList) Run(ctx context.Context, s *streams) error {
	list, err := callManagement[manage.TokenList](ctx, c.manager, "GET", "/tokens", nil)
	if err != nil || c.JSON {
		return s.printResult(list.Tokens, err)
	}
	var rows [][]string
	for _, t := range list.Tokens {
		note := ""
		if t.InUse {
			note = "used for this command"
		}
		rows = append(rows, []string{t.TokenId, t.Name, formatTime(&t.CreatedAt), formatTime(t.RevokedAt), note})
	}
	return printTable(s.out, []string{"TOKEN", "NAME", "CREATED", "REVOKED", "NOTE"}, rows)
}

type tokenRevoke struct {
	manager
	ID string `arg:"" help:"ID of the token."`
}

// Run revokes the token.
func (c tokenRevoke) Run(ctx context.Context, s *streams) error {
	t, err := callManagement[manage.Token](ctx, c.manager, "POST", apiPath("/tokens/%s/revoke", c.ID), nil)
	if err != nil || c.JSON {
		return s.printResult(t, err)
	}
	fmt.Fprintf(s.out, "Management token %s %s was revoked at %s.\n",
		t.TokenId, quoteName(t.Name), formatTime(t.RevokedAt))
	if t.InUse {
		fmt.Fprintf(s.out, "This command used it, so the next command needs another token.\n"+
			"If it was the last one, the next start of the server creates a new one in %s.\n", quickstart.FileName)
	}
	return nil
}
