package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/internal/api/manage"
	"parley/internal/config"
	"parley/internal/operator"
)

// linkCommand are the flags of a command that prints a sign-in link.
type linkCommand struct {
	manager
	For config.Duration `default:"12h" placeholder:"DURATION" help:"Time from now after which the session ends, at most 7d. Default: ${default}."`
}

// create creates a link and prints it. If the role of the token does not allow the link, the error is notAllowed, or
// that of the server if notAllowed is nil.
func (c linkCommand) create(ctx context.Context, s *streams, q manage.NewSignInLink, notAllowed error) error {
	if q.UserId == nil {
		if c.For <= 0 || c.For.Std() > operator.MaxLinkLifetime {
			return usageError{errors.New("--for must be more than 0 and at most 7d")}
		}
		q.ExpiresAt = new(time.Now().Add(c.For.Std()).UTC().Format(time.RFC3339))
	}
	link, err := callManagement[manage.NewSignInLinkWithURL](ctx, c.manager, "POST", "/sign-in-links", q)
	if notAllowed != nil && isRefusal(err, manage.ErrorCodeRoleNotAllowed) {
		return notAllowed
	}
	if err != nil || c.JSON {
		return s.printResult(link, err)
	}
	fmt.Fprintf(s.out, "%s\n\nThe link works once, until %s", link.Url, formatTime(&link.OpenBy))
	if link.ExpiresAt != nil {
		fmt.Fprintf(s.out, ", and the session ends at %s", formatTime(link.ExpiresAt))
	}
	_, err = fmt.Fprintf(s.out, ".\nparley session revoke %s ends both at once.\n", link.SessionId)
	return err
}

type consoleCommand struct {
	linkCommand
	Role string `enum:"owner,operator,auditor" default:"owner" help:"Role in the console: owner, operator or auditor. Default: ${default}."`
	Name string `default:"command line" help:"Name that tells who uses the link, 1 to 255 characters. Default: ${default}."`
}

// Run prints a link that signs in to the console.
func (c consoleCommand) Run(ctx context.Context, s *streams) error {
	if err := c.applyQuickstart(); err != nil {
		return err
	}
	// With another role, an operator may create links for customers, which does not help here.
	return c.create(ctx, s, manage.NewSignInLink{Name: &c.Name, Role: new(manage.TokenRole(c.Role))},
		fmt.Errorf("only a token with the role owner can create this link: open %s/console and sign in with the token, "+
			"whose role you have there", strings.TrimRight(c.URL, "/")))
}

type portalCommand struct {
	linkCommand
	Project []string `arg:"" name:"project-id" refers:"project" help:"IDs or unique names of the projects that the customer may see, 1 to 100."`
	Name    string   `default:"customer" help:"Name that tells who uses the link, 1 to 255 characters. Default: ${default}."`
}

// Run prints a link for a customer.
func (c portalCommand) Run(ctx context.Context, s *streams) error {
	return c.create(ctx, s, manage.NewSignInLink{Name: &c.Name, ProjectIds: &c.Project,
		Role: new(manage.TokenRole(operator.Integrator))}, nil)
}

type sessionCommands struct {
	List   sessionList   `cmd:"" help:"List sessions of the console and links that were not opened."`
	Revoke sessionRevoke `cmd:"" help:"Revoke a session or a sign-in link."`
}

type sessionList struct{ lister }

// Run lists the sessions.
func (c sessionList) Run(ctx context.Context, s *streams) error {
	all, err := fetchSessions(ctx, c.manager)
	if err != nil || c.structured() {
		return printItems(s, c.lister, all, err)
	}
	var rows [][]string
	for _, n := range all {
		role := ""
		if n.Role != nil {
			role = string(*n.Role)
		}
		rows = append(rows, []string{n.SessionId, string(n.State), string(n.Kind), n.Name, role, formatTime(&n.CreatedAt),
			formatTime(n.LastUsedAt), formatTime(&n.ExpiresAt), formatTime(n.EndedAt)})
	}
	return printTable(s.out,
		[]string{"SESSION", "STATE", "KIND", "NAME", "ROLE", "CREATED", "LAST USED", "EXPIRES", "ENDED"}, rows)
}

func fetchSessions(ctx context.Context, m manager) ([]manage.Session, error) {
	return fetchPages(ctx, m, "/sessions", queryOf(nil), 0,
		func(p manage.SessionList) ([]manage.Session, *string) { return p.Sessions, p.NextCursor })
}

type sessionRevoke struct {
	manager
	irreversible
	ID string `arg:"" help:"ID of the session."`
}

// Run ends the session.
func (c sessionRevoke) Run(ctx context.Context, s *streams) error {
	if ok, err := c.proceed(s, c.JSON, func() (string, error) {
		all, err := fetchSessions(ctx, c.manager)
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(all, func(n manage.Session) bool { return n.SessionId == c.ID })
		if i < 0 {
			return "", errors.New("there is no such session: parley session list shows all sessions")
		}
		return fmt.Sprintf("end session %s of %s", c.ID, quoteName(all[i].Name)), nil
	}); !ok {
		return err
	}
	n, err := callManagement[manage.Session](ctx, c.manager, "POST", apiPath("/sessions/%s/revoke", c.ID), nil)
	if err != nil || c.JSON {
		return s.printResult(n, err)
	}
	_, err = fmt.Fprintf(s.out, "The session %s of %s ended at %s.\n", n.SessionId, quoteName(n.Name),
		formatTime(n.EndedAt))
	return err
}

type userCommands struct {
	Create userCreate `cmd:"" help:"Add a user of the console."`
	List   userList   `cmd:"" help:"List users of the console."`
	Change userChange `cmd:"" help:"Change the name, the role or the projects of a user."`
	Link   userLink   `cmd:"" help:"Print a link that signs a user in once."`
	Delete userDelete `cmd:"" help:"Delete a user, and end their sessions."`
}

type userCreate struct {
	manager
	Email   string   `arg:"" help:"Email address. With OpenID Connect, the one at the provider."`
	Role    string   `required:"" enum:"owner,operator,auditor,integrator" help:"Role of the user: owner, operator, auditor or integrator."`
	Name    string   `help:"Name, at most 255 characters. Default: the email address."`
	Project []string `placeholder:"ID" refers:"project" help:"ID or unique name of a project of an integrator; repeat it for several."`
}

// Run adds the user.
func (c userCreate) Run(ctx context.Context, s *streams) error {
	if err := checkRoleProjects(c.Role, c.Project); err != nil {
		return err
	}
	q := manage.NewUser{Email: c.Email, Role: manage.TokenRole(c.Role), Name: optionalString(c.Name)}
	if len(c.Project) > 0 {
		q.ProjectIds = &c.Project
	}
	u, err := callManagement[manage.User](ctx, c.manager, "POST", "/users", q)
	if err != nil || c.JSON {
		return s.printResult(u, err)
	}
	_, err = fmt.Fprintf(s.out, "Created user %s %s with the role %s.\n", u.UserId, quoteName(u.Name), u.Role)
	return err
}

type userList struct{ lister }

// Run lists the users.
func (c userList) Run(ctx context.Context, s *streams) error {
	all, err := fetchUsers(ctx, c.manager)
	if err != nil || c.structured() {
		return printItems(s, c.lister, all, err)
	}
	var rows [][]string
	for _, u := range all {
		rows = append(rows, []string{u.UserId, u.Email, u.Name, string(u.Role), strings.Join(u.ProjectIds, " "),
			formatTime(&u.CreatedAt), formatTime(u.LastSignInAt)})
	}
	return printTable(s.out, []string{"USER", "EMAIL", "NAME", "ROLE", "PROJECTS", "CREATED", "LAST SIGN-IN"}, rows)
}

func fetchUsers(ctx context.Context, m manager) ([]manage.User, error) {
	return fetchPages(ctx, m, "/users", queryOf(nil), 0,
		func(p manage.UserList) ([]manage.User, *string) { return p.Users, p.NextCursor })
}

type userChange struct {
	manager
	ID      string   `arg:"" refers:"user" help:"ID or email address of the user."`
	Role    string   `enum:",owner,operator,auditor,integrator" default:"" help:"New role: owner, operator, auditor or integrator."`
	Name    string   `help:"New name, at most 255 characters."`
	Project []string `placeholder:"ID" refers:"project" help:"ID or unique name of a project of an integrator; repeat it for several. They replace the old ones."`
}

// Run changes the user.
func (c userChange) Run(ctx context.Context, s *streams) error {
	q := manage.UserChanges{Name: optionalString(c.Name)}
	if c.Role != "" {
		q.Role = new(manage.TokenRole(c.Role))
	}
	if len(c.Project) > 0 {
		q.ProjectIds = &c.Project
	}
	if q == (manage.UserChanges{}) {
		return usageError{errors.New("at least one of --role, --name and --project is required")}
	}
	u, err := callManagement[manage.User](ctx, c.manager, "PATCH", apiPath("/users/%s", c.ID), q)
	if err != nil || c.JSON {
		return s.printResult(u, err)
	}
	fmt.Fprintf(s.out, "Changed user %s. New values:\n", u.UserId)
	return printFields(s.out, "  email", u.Email, "  name", u.Name, "  role", string(u.Role),
		"  projects", strings.Join(u.ProjectIds, " "))
}

type userLink struct {
	manager
	ID string `arg:"" refers:"user" help:"ID or email address of the user."`
}

// Run prints a link that signs the user in.
func (c userLink) Run(ctx context.Context, s *streams) error {
	return linkCommand{manager: c.manager}.create(ctx, s, manage.NewSignInLink{UserId: &c.ID},
		errors.New("only a token with the role owner can create a link for a user: ask an owner for the link, or for a "+
			"token that they create with parley token create --role owner"))
}

type userDelete struct {
	manager
	irreversible
	ID string `arg:"" refers:"user" help:"ID or email address of the user."`
}

// Run deletes the user.
func (c userDelete) Run(ctx context.Context, s *streams) error {
	if ok, err := c.proceed(s, c.JSON, func() (string, error) {
		users, err := fetchUsers(ctx, c.manager)
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(users, func(u manage.User) bool { return u.UserId == c.ID })
		if i < 0 {
			return "", errors.New("there is no such user: parley user list shows all users")
		}
		return fmt.Sprintf("delete user %s %s and end their sessions", c.ID, users[i].Email), nil
	}); !ok {
		return err
	}
	u, err := callManagement[manage.User](ctx, c.manager, "DELETE", apiPath("/users/%s", c.ID), nil)
	if err != nil || c.JSON {
		return s.printResult(u, err)
	}
	_, err = fmt.Fprintf(s.out, "Deleted user %s %s. Their sessions have ended.\n", u.UserId, quoteName(u.Name))
	return err
}
